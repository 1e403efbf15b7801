import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { FaultRequest, LocalDynamoDB, LocalFault } from '../../lib/local/index.js';
import { createTable, key, read, rejection } from './helpers.js';

let local: LocalDynamoDB;
let client: DynamoDBClient;
let overHttp: DynamoDBClient;
let table: string;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  client = new DynamoDBClient({ ...local.clientConfig });
  const { region, credentials } = local.clientConfig;
  overHttp = new DynamoDBClient({ region, credentials, endpoint: (await local.listen()).endpoint });
  table = await createTable(client);
});
afterEach(() => local.setFaults(undefined));
afterAll(() => local.close());

/** Lets the first `times` writes go wrong, and tells of each request that the hook has seen. */
function failFirst(times: number, fault: LocalFault): FaultRequest[] {
  const seen: FaultRequest[] = [];
  local.setFaults((request) => {
    if (request.operation === 'GetItem') return undefined;
    seen.push(request);
    return seen.length <= times ? fault : undefined;
  });
  return seen;
}
const increment = (pk: string, by = client): Promise<unknown> =>
  by.send(
    new UpdateItemCommand({
      TableName: table,
      Key: key(pk),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }),
  );
const count = async (pk: string): Promise<string | undefined> => (await read(client, table, pk))?.['n']?.N;

describe('faults', () => {
  test('before the effect: the SDK retries and the write takes place once', async () => {
    const seen = failFirst(1, { at: 'before', error: 'InternalServerError' });
    await increment('before');
    expect(seen.map(({ operation }) => operation)).toEqual(['UpdateItem', 'UpdateItem']);
    expect(seen[0]?.input['TableName']).toBe(table);
    expect(await count('before')).toBe('1');
  });

  test('after the effect: the SDK retries and the write takes place twice', async () => {
    failFirst(1, { at: 'after', error: 'InternalServerError' });
    await increment('after');
    expect(await count('after')).toBe('2');
  });

  test('after a refusal: its answer is lost too', async () => {
    const seen = failFirst(1, { at: 'after', drop: true });
    const refused = client.send(
      new PutItemCommand({ TableName: table, Item: key('none'), ConditionExpression: 'attribute_exists(pk)' }),
    );
    expect((await rejection(refused)).name).toBe('ConditionalCheckFailedException');
    expect(seen).toHaveLength(2);
  });

  test.each([
    ['in process', () => client],
    ['over HTTP', () => overHttp],
  ])('a dropped answer, %s: retried, so that the write takes place twice', async (name, by) => {
    failFirst(1, { at: 'after', drop: true });
    await increment(`drop ${name}`, by());
    expect(await count(`drop ${name}`)).toBe('2');
    failFirst(1, { at: 'before', drop: true });
    await increment(`lost ${name}`, by());
    expect(await count(`lost ${name}`)).toBe('1');
  });

  test('a dropped transaction is made once, by its token', async () => {
    failFirst(1, { at: 'after', drop: true });
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          {
            Update: {
              TableName: table,
              Key: key('token'),
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            },
          },
        ],
      }),
    );
    expect(await count('token')).toBe('1');
  });

  test('conflicts, throttles and errors of any name arrive as DynamoDB sends them', async () => {
    const transact = (): Promise<unknown> =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: [{ Put: { TableName: table, Item: key('x') } }, { Put: { TableName: table, Item: key('y') } }],
        }),
      );
    const put = (): Promise<unknown> => client.send(new PutItemCommand({ TableName: table, Item: key('x') }));
    failFirst(1, { at: 'before', error: 'TransactionConflict' });
    const cancelled = await rejection<TransactionCanceledException>(transact());
    expect(cancelled.CancellationReasons?.map(({ Code }) => Code)).toEqual([
      'TransactionConflict',
      'TransactionConflict',
    ]);
    failFirst(1, { at: 'before', error: 'TransactionConflict' });
    expect((await rejection(put())).name).toBe('TransactionConflictException');
    failFirst(1, { at: 'before', error: 'TransactionThrottled' });
    const refused = await rejection<TransactionCanceledException>(transact());
    expect(refused.CancellationReasons?.map(({ Code }) => Code)).toEqual(['ThrottlingError', 'None']);
    failFirst(1, { at: 'before', error: { type: 'ItemCollectionSizeLimitExceededException', message: 'full' } });
    const named = await rejection(put());
    expect([named.name, named.message]).toEqual(['ItemCollectionSizeLimitExceededException', 'full']);
    expect(await read(client, table, 'x')).toBeUndefined();
    const single = new DynamoDBClient({ ...local.clientConfig, maxAttempts: 1 });
    for (const [error, name] of [
      ['Throttling', 'ThrottlingException'],
      ['TransactionThrottled', 'ThrottlingException'],
      ['ProvisionedThroughputExceeded', 'ProvisionedThroughputExceededException'],
      ['TransactionInProgress', 'TransactionInProgressException'],
    ] as const) {
      failFirst(1, { at: 'before', error });
      expect((await rejection(increment('x', single))).name).toBe(name);
    }
  });

  describe('the reasons of a transaction', () => {
    const names = ['one', 'two', 'three', 'four'];
    const transact = (): Promise<unknown> =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: names.map((pk) => ({
            Put: {
              TableName: table,
              Item: { ...key(pk), n: { N: '1' } },
              ConditionExpression: 'attribute_not_exists(pk)',
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          })),
        }),
      );

    test('are as given, and else what the condition says of the table as it stands', async () => {
      await client.send(new PutItemCommand({ TableName: table, Item: key('two') }));
      await client.send(new PutItemCommand({ TableName: table, Item: key('three') }));
      failFirst(1, { at: 'before', error: { reasons: ['TransactionConflict', undefined, 'None', undefined] } });
      const error = await rejection<TransactionCanceledException>(transact());
      expect(error.message).toContain('[TransactionConflict, ConditionalCheckFailed, None, None]');
      expect(error.CancellationReasons).toEqual([
        { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', Item: key('two') },
        { Code: 'None' },
        { Code: 'None' },
      ]);
      expect(await read(client, table, 'one')).toBeUndefined();
    });

    test('that stop no step let it go on', async () => {
      for (const pk of ['two', 'three']) {
        await client.send(new DeleteItemCommand({ TableName: table, Key: key(pk) }));
      }
      failFirst(1, { at: 'before', error: { reasons: ['None', undefined] } });
      await transact();
      expect(await count('four')).toBe('1');
    });

    test('of a read are as given', async () => {
      local.setFaults(() => ({ at: 'before', error: { reasons: [undefined, 'ThrottlingError'] } }));
      const items = ['a', 'b'].map((pk) => ({ Get: { TableName: table, Key: key(pk) } }));
      const error = await rejection<TransactionCanceledException>(
        client.send(new TransactGetItemsCommand({ TransactItems: items })),
      );
      expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ThrottlingError']);
    });
  });

  test('a delay alone only delays', async () => {
    failFirst(1, { at: 'after', delayMs: 60 });
    const started = performance.now();
    await increment('slow');
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
    expect(await count('slow')).toBe('1');
  });
});
