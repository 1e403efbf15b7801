import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key } from './helpers.js';
import { rawCall } from './raw.js';

let local: LocalDynamoDB;
let call: ReturnType<typeof rawCall>;
let table: string;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  call = rawCall(local);
  const index = (IndexName: string, hash: string, range: string | undefined, ProjectionType: 'ALL' | 'KEYS_ONLY') => ({
    IndexName,
    KeySchema: [
      { AttributeName: hash, KeyType: 'HASH' as const },
      ...(range ? [{ AttributeName: range, KeyType: 'RANGE' as const }] : []),
    ],
    Projection: { ProjectionType },
  });
  table = await createTable(new DynamoDBClient({ ...local.clientConfig }), {
    AttributeDefinitions: ['pk', 'sk', 'g', 'l'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [index('global', 'g', undefined, 'KEYS_ONLY')],
    LocalSecondaryIndexes: [index('local', 'pk', 'l', 'ALL')],
  });
});
afterAll(() => local.close());

const text = (bytes: number): object => ({ d: { S: 'x'.repeat(bytes) } });
const g = (value: string): object => ({ g: { S: value } });
const consumed = async (operation: string, input: object): Promise<unknown> =>
  (await call(operation, { TableName: table, ReturnConsumedCapacity: 'INDEXES', ...input }))['ConsumedCapacity'];
const put = (item: object, extra: object = {}): Promise<unknown> =>
  consumed('PutItem', { Item: { ...key('w'), ...item }, ...extra });
const units = (Table: number, more: object = {}): object => {
  const all = Object.values(more) as Record<string, { CapacityUnits: number }>[];
  const indexes = all
    .flatMap((group) => Object.values(group))
    .reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return { TableName: table, CapacityUnits: Table + indexes, Table: { CapacityUnits: Table }, ...more };
};
const global = (CapacityUnits: number): object => ({ GlobalSecondaryIndexes: { global: { CapacityUnits } } });

describe('writes', () => {
  test('cost by the larger item, at least one', async () => {
    expect(await put({})).toEqual(units(1));
    expect(await put(text(2500))).toEqual(units(3));
    expect(await put({})).toEqual(units(3));
    expect(await consumed('DeleteItem', { Key: key('nothing') })).toEqual(units(1));
  });

  test('cost in an index for an entry that comes, changes, moves or goes', async () => {
    expect(await put(g('1'))).toEqual(units(1, global(1)));
    // Only keys are projected: another attribute leaves the entry as it is.
    expect(await put({ ...g('1'), other: { S: 'y' } })).toEqual(units(1));
    expect(await put(g('2'))).toEqual(units(1, global(2)));
    expect(await put({})).toEqual(units(1, global(1)));
    const both = { LocalSecondaryIndexes: { local: { CapacityUnits: 2 } } };
    expect(await put({ l: { S: 'l' }, ...text(1500) })).toEqual(units(2, both));
    expect(await consumed('DeleteItem', { Key: key('w') })).toEqual(units(2, both));
  });

  test('TOTAL leaves the parts out, NONE and nothing all', async () => {
    expect(await put(g('1'), { ReturnConsumedCapacity: 'TOTAL' })).toEqual({ TableName: table, CapacityUnits: 2 });
    expect(await put({}, { ReturnConsumedCapacity: 'NONE' })).toBeUndefined();
    expect(await put({}, { ReturnConsumedCapacity: undefined })).toBeUndefined();
  });

  test('in batches add up', async () => {
    const requests = [{ PutRequest: { Item: { ...key('b1'), ...g('b') } } }, { DeleteRequest: { Key: key('b2') } }];
    expect(await consumed('BatchWriteItem', { TableName: undefined, RequestItems: { [table]: requests } })).toEqual([
      units(2, global(1)),
    ]);
  });

  test('in transactions cost twice, in their indexes once', async () => {
    const TransactItems = [
      { Put: { TableName: table, Item: { ...key('t1'), ...g('t') } } },
      { ConditionCheck: { TableName: table, Key: key('t2'), ConditionExpression: 'attribute_not_exists(pk)' } },
    ];
    expect(await consumed('TransactWriteItems', { TransactItems })).toEqual([
      {
        TableName: table,
        CapacityUnits: 5,
        WriteCapacityUnits: 5,
        Table: { CapacityUnits: 4, WriteCapacityUnits: 4 },
        GlobalSecondaryIndexes: { global: { CapacityUnits: 1, WriteCapacityUnits: 1 } },
      },
    ]);
  });

  test('that fail cost too, as the log tells', async () => {
    await put({ ...key('f'), ...text(2500) });
    const logged: number[] = [];
    const stop = local.onRequest(({ writeUnits }) => logged.push(writeUnits));
    const ConditionExpression = 'attribute_not_exists(pk)';
    await put({ ...key('f') }, { ConditionExpression });
    await call('TransactWriteItems', {
      TransactItems: [
        { Put: { TableName: table, Item: key('f2') } },
        { Put: { TableName: table, Item: key('f'), ConditionExpression } },
      ],
    });
    stop();
    expect(logged).toEqual([3, 8]);
  });
});

describe('reads', () => {
  beforeAll(async () => {
    for (const sk of ['1', '2', '3']) {
      await call('PutItem', {
        TableName: table,
        Item: { ...key('r', sk), ...g('r'), l: { S: sk }, ...text(3000) },
      });
    }
  });

  test('cost by 4 KB, half when eventually consistent', async () => {
    const get = (extra: object): Promise<unknown> => consumed('GetItem', { Key: key('r', '1'), ...extra });
    expect(await get({})).toEqual(units(0.5));
    expect(await get({ ConsistentRead: true })).toEqual(units(1));
    expect(await get({ Key: key('nobody') })).toEqual(units(0.5));
    const Keys = [key('r', '1'), key('r', '2')];
    expect(
      await consumed('BatchGetItem', {
        TableName: undefined,
        RequestItems: { [table]: { Keys, ConsistentRead: true } },
      }),
    ).toEqual([units(2)]);
    expect(
      await consumed('TransactGetItems', { TransactItems: [{ Get: { TableName: table, Key: key('r', '1') } }] }),
    ).toMatchObject([{ CapacityUnits: 2, ReadCapacityUnits: 2 }]);
  });

  test('of pages cost by what was read, not by what was kept', async () => {
    const query = (extra: object): Promise<unknown> =>
      consumed('Query', {
        KeyConditionExpression: 'pk = :r',
        ExpressionAttributeValues: { ':r': { S: 'r' } },
        ConsistentRead: true,
        ...extra,
      });
    expect(await query({})).toEqual(units(3));
    expect(await query({ Limit: 1 })).toEqual(units(1));
    expect(await query({ FilterExpression: 'sk2 = :r', ProjectionExpression: 'sk' })).toEqual(units(3));
    expect(await query({ IndexName: 'local' })).toEqual(
      units(0, { LocalSecondaryIndexes: { local: { CapacityUnits: 3 } } }),
    );
    expect(await query({ IndexName: 'global', KeyConditionExpression: 'g = :r', ConsistentRead: false })).toEqual(
      units(0, global(0.5)),
    );
  });
});
