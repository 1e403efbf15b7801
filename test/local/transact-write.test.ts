import {
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { TransactWriteItem, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedded, testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, read, rejection } from './helpers.js';

let db: TestDynamoDB;
let first: string;
let second: string;

beforeAll(async () => {
  db = await testDynamoDB();
  first = await createTable(db.client);
  second = await createTable(db.client);
});
afterAll(() => db.close());

const transact = (
  TransactItems: TransactWriteItem[],
  extra: Partial<TransactWriteItemsCommandInput> = {},
): Promise<unknown> => db.client.send(new TransactWriteItemsCommand({ TransactItems, ...extra }));

const put = (pk: string, n: number, extra: object = {}, TableName = first): TransactWriteItem => ({
  Put: { TableName, Item: { ...key(pk), n: { N: String(n) } }, ...extra },
});
const increment = (pk: string, TableName = first): TransactWriteItem => ({
  Update: {
    TableName,
    Key: key(pk),
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  },
});
const absent = { ConditionExpression: 'attribute_not_exists(pk)' };

describe('TransactWriteItems', () => {
  test('writes items of several tables together', async () => {
    await transact([put('multi', 1), increment('multi', second)]);
    expect(await read(db.client, first, 'multi')).toEqual({ ...key('multi'), n: { N: '1' } });
    expect(await read(db.client, second, 'multi')).toEqual({ ...key('multi'), n: { N: '1' } });
  });

  test('writes nothing when one condition fails, and says which with the item', async () => {
    await transact([put('taken', 7)]);
    const error = await rejection<TransactionCanceledException>(
      transact([
        increment('other', second),
        put('taken', 8, { ...absent, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        { ConditionCheck: { TableName: first, Key: key('nobody'), ConditionExpression: 'attribute_exists(pk)' } },
        { Delete: { TableName: first, Key: key('nothing') } },
      ]),
    );
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(error.message).toBe(
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, None]',
    );
    expect(error.CancellationReasons).toEqual([
      { Code: 'None' },
      {
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
        Item: { ...key('taken'), n: { N: '7' } },
      },
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      { Code: 'None' },
    ]);
    expect(await read(db.client, second, 'other')).toBeUndefined();
    expect((await read(db.client, first, 'taken'))?.['n']).toEqual({ N: '7' });
  });

  test('leaves the item out of the reason unless asked', async () => {
    await transact([put('unasked', 1)]);
    const error = await rejection<TransactionCanceledException>(transact([put('unasked', 2, absent)]));
    expect(error.CancellationReasons).toEqual([
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
    ]);
  });

  test('reports an update that cannot be applied as a validation reason', async () => {
    await db.client.send(new PutItemCommand({ TableName: first, Item: { ...key('text'), n: { S: 'x' } } }));
    const error = await rejection<TransactionCanceledException>(transact([increment('fine'), increment('text')]));
    expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ValidationError']);
    expect(await read(db.client, first, 'fine')).toBeUndefined();
  });

  test('refuses two steps on one item, an empty list, and more than 100', async () => {
    const twice = await rejection(transact([put('same', 1), increment('same')]));
    expect([twice.name, twice.message]).toEqual([
      'ValidationException',
      'Transaction request cannot include multiple operations on one item',
    ]);
    expect((await rejection(transact([]))).name).toBe('ValidationException');
    const many = Array.from({ length: 101 }, (_, i) => put(`many${i}`, i));
    expect((await rejection(transact(many))).name).toBe('ValidationException');
    expect(await read(db.client, first, 'many0')).toBeUndefined();
    await transact(many.slice(0, 100));
    expect(await read(db.client, first, 'many99')).toBeDefined();
  });

  test('refuses more than 4 MB', async () => {
    const big = (i: number): TransactWriteItem => ({
      Put: { TableName: first, Item: { ...key(`big${i}`), b: { S: 'x'.repeat(390_000) } } },
    });
    const error = await rejection(transact(Array.from({ length: 11 }, (_, i) => big(i))));
    expect(error.name).toBe('ValidationException');
    expect(await read(db.client, first, 'big0')).toBeUndefined();
  });

  test('refuses an unknown table as a whole', async () => {
    const error = await rejection(transact([put('known', 1), increment('x', 'no-such-table')]));
    expect(error.name).toBe('ResourceNotFoundException');
    expect(await read(db.client, first, 'known')).toBeUndefined();
  });

  test('keeps the indexes with the items', async () => {
    const { QueryCommand } = await import('@aws-sdk/client-dynamodb');
    const TableName = await createTable(db.client, {
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
        { AttributeName: 'owner', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byOwner',
          KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
    const owned = (pk: string, owner: string): TransactWriteItem => ({
      Put: { TableName, Item: { ...key(pk), owner: { S: owner } } },
    });
    await transact([owned('i1', 'ann'), owned('i2', 'ann')]);
    await transact([owned('i1', 'bob'), { Delete: { TableName, Key: key('i2') } }]);
    const of = async (owner: string): Promise<(string | undefined)[]> => {
      const { Items } = await db.client.send(
        new QueryCommand({
          TableName,
          IndexName: 'byOwner',
          KeyConditionExpression: '#o = :o',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': { S: owner } },
        }),
      );
      return (Items ?? []).map((item) => item['pk']?.S);
    };
    await expect.poll(() => of('bob')).toEqual(['i1']);
    expect(await of('ann')).toEqual([]);
  });
});

describe('overlapping writers', () => {
  // On AWS these overlaps are a matter of luck; here requests sent in one turn always meet.
  test.runIf(embedded)('of two transactions on one item the later is cancelled with a conflict', async () => {
    const outcomes = await Promise.allSettled([
      transact([increment('race-a'), increment('race-b')]),
      transact([increment('race-c'), increment('race-b')]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const error = (outcomes[1] as PromiseRejectedResult).reason as TransactionCanceledException;
    expect(error.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
    ]);
    expect((await read(db.client, first, 'race-b'))?.['n']).toEqual({ N: '1' });
    expect(await read(db.client, first, 'race-c')).toBeUndefined();
    await transact([increment('race-c'), increment('race-b')]);
    expect((await read(db.client, first, 'race-b'))?.['n']).toEqual({ N: '2' });
  });

  test.runIf(embedded)('a conflict is reported beside a failed condition', async () => {
    await transact([put('beside', 1)]);
    const [, second] = await Promise.allSettled([
      transact([increment('busy')]),
      transact([increment('busy'), put('beside', 2, absent)]),
    ]);
    const error = (second as PromiseRejectedResult).reason as TransactionCanceledException;
    expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual([
      'TransactionConflict',
      'ConditionalCheckFailed',
    ]);
  });

  test.runIf(embedded)('a plain write that meets a transaction is refused, others queue', async () => {
    const plain = (): Promise<unknown> =>
      db.client.send(
        new UpdateItemCommand({
          TableName: first,
          Key: key('plain'),
          UpdateExpression: 'ADD n :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        }),
      );
    const [transaction, met] = await Promise.allSettled([transact([increment('plain')]), plain()]);
    expect(transaction.status).toBe('fulfilled');
    const error = (met as PromiseRejectedResult).reason as Error;
    expect([error.name, error.message]).toEqual([
      'TransactionConflictException',
      'Transaction is ongoing for the item',
    ]);
    await Promise.all(Array.from({ length: 20 }, plain));
    expect((await read(db.client, first, 'plain'))?.['n']).toEqual({ N: '21' });
  });
});
