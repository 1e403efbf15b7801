import { PutItemCommand, TransactGetItemsCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type { Get, TransactionCanceledException, TransactGetItemsCommandOutput } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedded, testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, rejection } from './helpers.js';

let db: TestDynamoDB;
let table: string;

beforeAll(async () => {
  db = await testDynamoDB();
  table = await createTable(db.client);
});
afterAll(() => db.close());

const transactGet = (gets: Partial<Get>[]): Promise<TransactGetItemsCommandOutput> =>
  db.client.send(
    new TransactGetItemsCommand({
      TransactItems: gets.map((get) => ({ Get: { TableName: table, Key: key('?'), ...get } })),
      ReturnConsumedCapacity: 'TOTAL',
    }),
  );

describe('TransactGetItems', () => {
  test('reads in order, with projections, missing items as empty answers', async () => {
    await db.client.send(new PutItemCommand({ TableName: table, Item: { ...key('a'), n: { N: '1' }, m: { N: '2' } } }));
    const { Responses, ConsumedCapacity } = await transactGet([
      { Key: key('missing') },
      { Key: key('a'), ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': 'n' } },
    ]);
    expect(Responses).toEqual([{}, { Item: { n: { N: '1' } } }]);
    expect(ConsumedCapacity).toEqual([{ TableName: table, CapacityUnits: 4, ReadCapacityUnits: 4 }]);
  });

  test('refuses one item twice, an empty list, and more than 100', async () => {
    const twice = await rejection(transactGet([{ Key: key('a') }, { Key: key('a') }]));
    expect([twice.name, twice.message]).toEqual([
      'ValidationException',
      'Transaction request cannot include multiple operations on one item',
    ]);
    expect((await rejection(transactGet([]))).name).toBe('ValidationException');
    const many = Array.from({ length: 101 }, (_, i) => ({ Key: key(String(i)) }));
    expect((await rejection(transactGet(many))).name).toBe('ValidationException');
    expect((await transactGet(many.slice(1))).Responses).toHaveLength(100);
  });

  test.runIf(embedded)('is cancelled when it meets a transaction in flight', async () => {
    const [, met] = await Promise.allSettled([
      db.client.send(
        new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: table, Item: key('busy') } }] }),
      ),
      transactGet([{ Key: key('a') }, { Key: key('busy') }]),
    ]);
    const error = (met as PromiseRejectedResult).reason as TransactionCanceledException;
    expect(error.name).toBe('TransactionCanceledException');
    expect(error.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
    ]);
  });
});
