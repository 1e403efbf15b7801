import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedded, testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, read, rejection } from './helpers.js';

let db: TestDynamoDB;
let table: string;
let now = Date.now();

beforeAll(async () => {
  db = await testDynamoDB({ clock: () => now });
  table = await createTable(db.client);
});
afterAll(() => db.close());

const add = (pk: string, token: string, by = 1, client = db.client): Promise<{ ConsumedCapacity?: unknown }> =>
  client.send(
    new TransactWriteItemsCommand({
      ClientRequestToken: token,
      ReturnConsumedCapacity: 'TOTAL',
      TransactItems: [
        {
          Update: {
            TableName: table,
            Key: key(pk),
            UpdateExpression: 'ADD n :n',
            ExpressionAttributeValues: { ':n': { N: String(by) } },
          },
        },
      ],
    }),
  );
const count = async (pk: string): Promise<string | undefined> => (await read(db.client, table, pk))?.['n']?.N;
const token = (name: string): string => `${name}-${table.slice(-20)}`.slice(0, 36);

describe('ClientRequestToken', () => {
  test('a repeat of a committed transaction changes nothing and costs reads', async () => {
    expect((await add('once', token('a'))).ConsumedCapacity).toEqual([
      { TableName: table, CapacityUnits: 2, WriteCapacityUnits: 2 },
    ]);
    expect((await add('once', token('a'))).ConsumedCapacity).toEqual([
      { TableName: table, CapacityUnits: 2, ReadCapacityUnits: 2 },
    ]);
    expect(await count('once')).toBe('1');
  });

  test('the same token with another request is a mismatch', async () => {
    await add('mismatch', token('b'));
    expect((await rejection(add('mismatch', token('b'), 2))).name).toBe('IdempotentParameterMismatchException');
    expect(await count('mismatch')).toBe('1');
  });

  test.runIf(embedded)('a repeat while the first is in flight is told so', async () => {
    const single = new DynamoDBClient({ ...db.local!.clientConfig, maxAttempts: 1 });
    const [one, two] = await Promise.allSettled([
      add('flight', token('c'), 1, single),
      add('flight', token('c'), 1, single),
    ]);
    expect(one.status).toBe('fulfilled');
    expect(((two as PromiseRejectedResult).reason as Error).name).toBe('TransactionInProgressException');
    expect(await count('flight')).toBe('1');
  });

  test('the SDK, which retries that, ends with one effect and two successes', async () => {
    await Promise.all([add('both', token('d')), add('both', token('d'))]);
    expect(await count('both')).toBe('1');
  });

  test('a cancelled transaction leaves its token free', async () => {
    const send = (condition: string): Promise<unknown> =>
      db.client.send(
        new TransactWriteItemsCommand({
          ClientRequestToken: token('e'),
          TransactItems: [{ Put: { TableName: table, Item: key('free'), ConditionExpression: condition } }],
        }),
      );
    expect((await rejection(send('attribute_exists(pk)'))).name).toBe('TransactionCanceledException');
    await send('attribute_not_exists(pk)');
    expect(await read(db.client, table, 'free')).toBeDefined();
  });

  test.runIf(embedded)('is forgotten after ten minutes', async () => {
    await add('late', token('f'));
    now += 10 * 60 * 1000 - 1;
    await add('late', token('f'));
    expect(await count('late')).toBe('1');
    now += 1;
    await add('late', token('f'));
    expect(await count('late')).toBe('2');
  });
});
