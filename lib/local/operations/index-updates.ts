import { serviceError, validationError } from '../engine/api-error.js';
import type { Engine } from '../engine/engine.js';
import { entryKey } from '../engine/index-entries.js';
import { projected } from '../engine/index-units.js';
import { clearSpace, indexSpace, itemSpace } from '../engine/store.js';
import type { StoreOp } from '../engine/store.js';
import type { IndexDescription, TableDescription, Throughput, WireItem } from '../engine/types.js';
import { changedThroughput } from './throughput.js';

export interface IndexUpdate {
  Create?: IndexDescription;
  Update?: { IndexName: string; ProvisionedThroughput: Throughput };
  Delete?: { IndexName: string };
}

/** Creates, changes or deletes one global index; changes the description, gives the changes of the data. */
export function applyIndexUpdate(
  engine: Engine,
  table: TableDescription,
  definitions: TableDescription['AttributeDefinitions'],
  { Create, Update, Delete }: IndexUpdate,
): StoreOp[] {
  const indexes = (table.GlobalSecondaryIndexes ??= []);
  const find = (name: string): IndexDescription => {
    const index = indexes.find(({ IndexName }) => IndexName === name);
    if (!index) {
      throw serviceError('ResourceNotFoundException', 'Requested resource not found');
    }
    return index;
  };
  if (Create) return createIndex(engine, table, definitions, Create);
  if (Update) {
    const index = find(Update.IndexName);
    const { ProvisionedThroughput } = Update;
    index.ProvisionedThroughput = changedThroughput(
      index.ProvisionedThroughput,
      ProvisionedThroughput,
      engine.clock() / 1000,
      `index ${Update.IndexName}`,
    );
  }
  if (!Delete) return [];
  indexes.splice(indexes.indexOf(find(Delete.IndexName)), 1);
  if (indexes.length === 0) delete table.GlobalSecondaryIndexes;
  return clearSpace(engine.store, indexSpace('Global', table.TableName, Delete.IndexName));
}

/** Adds an index and fills it from the items that are there. */
function createIndex(
  engine: Engine,
  table: TableDescription,
  definitions: TableDescription['AttributeDefinitions'],
  wanted: IndexDescription,
): StoreOp[] {
  const indexes = (table.GlobalSecondaryIndexes ??= []);
  if ([...indexes, ...(table.LocalSecondaryIndexes ?? [])].some(({ IndexName }) => IndexName === wanted.IndexName)) {
    throw validationError(`One or more parameter values were invalid: Duplicate index name: ${wanted.IndexName}`);
  }
  for (const definition of definitions) {
    if (!table.AttributeDefinitions.some(({ AttributeName }) => AttributeName === definition.AttributeName)) {
      table.AttributeDefinitions.push(definition);
    }
  }
  const defined = table.AttributeDefinitions.map(({ AttributeName }) => AttributeName);
  const keys = wanted.KeySchema.map(({ AttributeName }) => AttributeName);
  if (keys.some((key) => !defined.includes(key))) {
    throw validationError(
      'One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. ' +
        `Keys: [${keys.join(', ')}], AttributeDefinitions: [${defined.join(', ')}]`,
    );
  }
  const index: IndexDescription = {
    ...wanted,
    IndexArn: `${table.TableArn}/index/${wanted.IndexName}`,
    IndexSizeBytes: 0,
    ItemCount: 0,
    IndexStatus: 'ACTIVE',
    ProvisionedThroughput: {
      NumberOfDecreasesToday: 0,
      ...(wanted.ProvisionedThroughput ?? { ReadCapacityUnits: 0, WriteCapacityUnits: 0 }),
    },
  };
  indexes.push(index);
  return fillIndex(engine, table, index);
}

function fillIndex(engine: Engine, table: TableDescription, index: IndexDescription): StoreOp[] {
  const space = indexSpace('Global', table.TableName, index.IndexName);
  const ops: StoreOp[] = [];
  for (const [, item] of engine.store.space<WireItem>(itemSpace(table.TableName)).entries()) {
    const entry = projected(item, index, table);
    if (entry) ops.push({ space, key: entryKey(engine.dynalite.db, entry, table, index), value: entry });
  }
  return ops;
}
