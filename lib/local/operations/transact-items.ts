import { validationError } from '../engine/api-error.js';
import type { FieldType, FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import type { Body, TableDescription, WireItem } from '../engine/types.js';
import { RETURN_CONSUMED_CAPACITY, TABLE_NAME } from './fields.js';
import { RETURN_ON_FAILURE } from './item-writes.js';
import type { WriteRequest } from './item-writes.js';

/** The kinds of step of a TransactWriteItems, with the operation whose checks they share. */
export const KINDS = {
  ConditionCheck: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
} as const;
export type Kind = keyof typeof KINDS;

/** One step of a transaction, checked, with the place of its item. */
export interface Step {
  kind: Kind;
  data: Body & WriteRequest;
  table: TableDescription;
  /** Absent when the key does not fit the table: `invalid` then says why. */
  key: string | undefined;
  invalid: Error | undefined;
}

const STEP_FIELDS: Record<Kind, readonly string[]> = {
  ConditionCheck: ['TableName', 'Key', 'ConditionExpression'],
  Put: ['TableName', 'Item', 'ConditionExpression'],
  Update: ['TableName', 'Key', 'UpdateExpression', 'ConditionExpression'],
  Delete: ['TableName', 'Key', 'ConditionExpression'],
};
const REQUIRED: Record<Kind, string | undefined> = {
  ConditionCheck: 'ConditionExpression',
  Put: undefined,
  Update: 'UpdateExpression',
  Delete: undefined,
};

/** The request's shape, as dynalite's checks take it. */
export function transactWriteTypes(engine: Engine): FieldTypes {
  const children: FieldTypes = {};
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const known = engine.dynalite.validation(KINDS[kind]).types;
    const fields: FieldTypes = { ...RETURN_ON_FAILURE };
    for (const name of [...STEP_FIELDS[kind], 'ExpressionAttributeNames', 'ExpressionAttributeValues']) {
      const type = known[name]!;
      fields[name] = name === REQUIRED[kind] ? { ...(type as FieldType), notNull: true } : type;
    }
    children[kind] = { type: `FieldStruct<${kind}>`, children: fields };
  }
  return {
    ReturnConsumedCapacity: RETURN_CONSUMED_CAPACITY,
    ReturnItemCollectionMetrics: { type: 'String', enum: ['SIZE', 'NONE'] },
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    TransactItems: {
      type: 'List',
      notNull: true,
      lengthGreaterThanOrEqual: 1,
      lengthLessThanOrEqual: 100,
      children: { type: 'ValueStruct<TransactWriteItem>', children },
    },
  };
}

export const TRANSACT_GET_TYPES: FieldTypes = {
  ReturnConsumedCapacity: RETURN_CONSUMED_CAPACITY,
  TransactItems: {
    type: 'List',
    notNull: true,
    lengthGreaterThanOrEqual: 1,
    lengthLessThanOrEqual: 100,
    children: {
      type: 'ValueStruct<TransactGetItem>',
      children: {
        Get: {
          type: 'FieldStruct<Get>',
          notNull: true,
          children: {
            TableName: TABLE_NAME,
            Key: { type: 'Map<AttributeValue>', notNull: true, children: 'AttrStruct<ValueStruct>' },
            ProjectionExpression: { type: 'String' },
            ExpressionAttributeNames: { type: 'Map<java.lang.String>', children: 'String' },
          },
        },
      },
    },
  },
};

/** Finds the items of all steps, before any is run; throws for what refuses the whole request. */
export function locateSteps(engine: Engine, entries: readonly Body[]): Step[] {
  const { db } = engine.dynalite;
  const checked = entries.map((entry) => {
    const kinds = Object.keys(entry) as Kind[];
    const kind = kinds[0];
    if (kinds.length !== 1 || kind === undefined) {
      throw validationError('TransactItems can only contain one of Check, Put, Update or Delete');
    }
    const data = entry[kind] as Body & WriteRequest;
    const message = engine.refusal(KINDS[kind], data);
    if (message) throw validationError(message);
    return { kind, data };
  });
  const seen = new Set<string>();
  return checked.map(({ kind, data }) => {
    const table = engine.table(data.TableName);
    const item = (kind === 'Put' ? data['Item'] : data['Key']) as WireItem;
    const invalid = (kind === 'Put' ? db.validateItem(item, table) : db.validateKey(item, table)) ?? undefined;
    if (invalid) return { kind, data, table, key: undefined, invalid };
    const key = db.createKey(item, table);
    const name = `${data.TableName}/${key}`;
    if (seen.has(name)) throw validationError('Transaction request cannot include multiple operations on one item');
    seen.add(name);
    return { kind, data, table, key, invalid: undefined };
  });
}
