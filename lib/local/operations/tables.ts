import { tableNotFound, validationError } from '../engine/api-error.js';
import { BACKUPS, clearSpace, indexSpace, itemSpace, TABLES, tagSpace, TIME_TO_LIVE } from '../engine/store.js';
import type { Engine } from '../engine/engine.js';
import type { Body, IndexDescription, TableDescription } from '../engine/types.js';
import type { Operation } from './operation.js';

interface Named {
  TableName: string;
}

export const describeTable: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & Named>('DescribeTable', request);
  meter.touch(data.TableName);
  const table = engine.findTable(data.TableName);
  if (!table) throw tableNotFound(data.TableName);
  return { Table: { ...table, ItemCount: engine.store.space(itemSpace(table.TableName)).size } };
};

export const listTables: Operation = (engine, request) => {
  const data = engine.validate('ListTables', request);
  return engine.runAsync('ListTables', engine.overlay(), data);
};

export const deleteTable: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & Named>('DeleteTable', request);
  meter.touch(data.TableName);
  const table = engine.findTable(data.TableName);
  if (!table) throw tableNotFound(data.TableName);
  if (table.DeletionProtectionEnabled) {
    throw validationError(
      `Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.`,
    );
  }
  engine.store.apply([
    { space: TABLES, key: table.TableName, value: undefined },
    { space: TIME_TO_LIVE, key: table.TableName, value: undefined },
    { space: BACKUPS, key: table.TableName, value: undefined },
    ...engine.streams.close(table),
    ...clearSpace(engine.store, itemSpace(table.TableName)),
    ...clearSpace(engine.store, tagSpace(table.TableName)),
    ...clearIndexes(engine, table, 'Local', table.LocalSecondaryIndexes),
    ...clearIndexes(engine, table, 'Global', table.GlobalSecondaryIndexes),
  ]);
  const { GlobalSecondaryIndexes: _, ...rest } = table;
  return { TableDescription: { ...rest, TableStatus: 'DELETING' } };
};

function clearIndexes(
  engine: Engine,
  table: TableDescription,
  type: 'Local' | 'Global',
  indexes: readonly IndexDescription[] = [],
): ReturnType<typeof clearSpace> {
  return indexes.flatMap(({ IndexName }) => clearSpace(engine.store, indexSpace(type, table.TableName, IndexName)));
}

interface Resource {
  ResourceArn: string;
}

/** Tags are kept and listed; nothing else depends on them. */
export function tagging(operation: 'TagResource' | 'UntagResource' | 'ListTagsOfResource'): Operation {
  return async (engine, request) => {
    const { ResourceArn } = request;
    if (typeof ResourceArn === 'string' && !ResourceArn.startsWith('arn:')) {
      throw validationError(`Invalid TableArn: Invalid ResourceArn provided as input ${ResourceArn}`);
    }
    const data = engine.validate<Body & Resource>(operation, request);
    const overlay = engine.overlay();
    const answer = await engine.runAsync(operation, overlay, data);
    engine.commit(overlay);
    return answer;
  };
}
