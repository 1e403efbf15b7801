import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key } from './helpers.js';

let local: LocalDynamoDB;
let client: DynamoDBClient;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  client = new DynamoDBClient({ ...local.clientConfig });
});
afterAll(() => local.close());

const byState = (Projection: GlobalSecondaryIndex['Projection']): GlobalSecondaryIndex => ({
  IndexName: 'byState',
  KeySchema: [{ AttributeName: 'state', KeyType: 'HASH' }],
  Projection,
});
const indexed = (Projection: GlobalSecondaryIndex['Projection'] = { ProjectionType: 'ALL' }): Promise<string> =>
  createTable(client, {
    AttributeDefinitions: ['pk', 'sk', 'state'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [byState(Projection)],
  });
const put = (TableName: string, pk: string, item: Record<string, AttributeValue>): Promise<unknown> =>
  client.send(new PutItemCommand({ TableName, Item: { ...key(pk), ...item } }));
const update = (TableName: string, pk: string, name: string, value: AttributeValue): Promise<unknown> =>
  client.send(
    new UpdateItemCommand({
      TableName,
      Key: key(pk),
      UpdateExpression: 'SET #n = :v',
      ExpressionAttributeNames: { '#n': name },
      ExpressionAttributeValues: { ':v': value },
    }),
  );
const entries = async (TableName: string): Promise<Record<string, AttributeValue>[]> =>
  (await client.send(new ScanCommand({ TableName, IndexName: 'byState' }))).Items!;

/** The partition keys under one index key, page by page. */
async function pages(TableName: string, state: string, Limit: number, ScanIndexForward: boolean): Promise<string[]> {
  const found: string[] = [];
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'byState',
        KeyConditionExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'state' },
        ExpressionAttributeValues: { ':s': { S: state } },
        ExclusiveStartKey,
        Limit,
        ScanIndexForward,
      }),
    );
    found.push(...page.Items!.map(({ pk }) => pk!.S!));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}

describe('an index', () => {
  // Keys whose hashes begin with the same 24 bits, which is all by which dynalite would tell their entries apart.
  const alike = ['p2660', 'p5288'];

  test('keeps items apart whose keys hash alike', async () => {
    const table = await indexed();
    for (const pk of alike) await put(table, pk, { state: { S: 'open' } });
    for (const forward of [true, false]) expect((await pages(table, 'open', 1, forward)).sort()).toEqual(alike);
    await update(table, alike[0]!, 'state', { S: 'closed' });
    expect(await pages(table, 'open', 1, true)).toEqual([alike[1]]);
    await client.send(new DeleteItemCommand({ TableName: table, Key: key(alike[1]!) }));
    expect((await entries(table)).map(({ pk }) => pk?.S)).toEqual([alike[0]]);
  });

  test('made later keeps them apart too', async () => {
    const table = await createTable(client);
    for (const pk of alike) await put(table, pk, { state: { S: 'open' } });
    await client.send(
      new UpdateTableCommand({
        TableName: table,
        AttributeDefinitions: [{ AttributeName: 'state', AttributeType: 'S' }],
        GlobalSecondaryIndexUpdates: [{ Create: byState({ ProjectionType: 'ALL' }) }],
      }),
    );
    expect((await pages(table, 'open', 1, true)).sort()).toEqual(alike);
  });

  test('holds thousands of items under one key, once each, in pages either way', async () => {
    const table = await indexed({ ProjectionType: 'KEYS_ONLY' });
    const all = Array.from({ length: 6000 }, (_, i) => `p${i}`);
    for (let i = 0; i < all.length; i += 25) {
      const writes = all.slice(i, i + 25).map((pk) => ({ PutRequest: { Item: { ...key(pk), state: { S: 'open' } } } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: writes } }));
    }
    const forward = await pages(table, 'open', 700, true);
    expect([...forward].sort()).toEqual([...all].sort());
    expect(await pages(table, 'open', 700, false)).toEqual(forward.reverse());
  });

  test('that includes an attribute holds items without it', async () => {
    const table = await indexed({ ProjectionType: 'INCLUDE', NonKeyAttributes: ['note'] });
    await put(table, 'a', { state: { S: 'open' } });
    await update(table, 'b', 'state', { S: 'open' });
    expect(await pages(table, 'open', 1, true)).toHaveLength(2);
    expect(await entries(table)).toContainEqual({ ...key('a'), state: { S: 'open' } });
    await update(table, 'a', 'note', { S: 'n' });
    expect(await entries(table)).toContainEqual({ ...key('a'), state: { S: 'open' }, note: { S: 'n' } });
  });

  test('leaves out an item with an older value of another type, which stays writable', async () => {
    const table = await createTable(client);
    await put(table, 'a', { state: { N: '5' } });
    await put(table, 'b', { state: { N: '5' } });
    await client.send(
      new UpdateTableCommand({
        TableName: table,
        AttributeDefinitions: [{ AttributeName: 'state', AttributeType: 'S' }],
        GlobalSecondaryIndexUpdates: [{ Create: byState({ ProjectionType: 'ALL' }) }],
      }),
    );
    expect(await entries(table)).toEqual([]);
    await update(table, 'a', 'note', { S: 'n' });
    expect(await entries(table)).toEqual([]);
    await update(table, 'a', 'state', { S: 'open' });
    expect(await pages(table, 'open', 1, true)).toEqual(['a']);
    await client.send(new DeleteItemCommand({ TableName: table, Key: key('b') }));
  });

  test('of the local kind tells its metrics also of a batch that deletes what is not there', async () => {
    const TableName = await createTable(client, {
      AttributeDefinitions: ['pk', 'sk', 'state'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      LocalSecondaryIndexes: [
        {
          IndexName: 'byState',
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'state', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    });
    const { ItemCollectionMetrics } = await client.send(
      new BatchWriteItemCommand({
        RequestItems: {
          [TableName]: [{ DeleteRequest: { Key: key('none') } }, { PutRequest: { Item: key('some') } }],
        },
        ReturnItemCollectionMetrics: 'SIZE',
      }),
    );
    expect(ItemCollectionMetrics?.[TableName]?.map(({ ItemCollectionKey }) => ItemCollectionKey)).toEqual([
      { pk: { S: 'some' } },
    ]);
  });

  test('gives whole items of one moment, whatever is written while a page is read', async () => {
    const TableName = await createTable(client, {
      AttributeDefinitions: ['pk', 'sk', 'state'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      LocalSecondaryIndexes: [
        {
          IndexName: 'byState',
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'state', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
    const send = (operation: string, input: object): Promise<{ response: { statusCode: number; body: Uint8Array } }> =>
      local.requestHandler.handle({
        headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
        body: JSON.stringify(input),
      });
    const Item = (sk: string, n: number): object => ({ ...key('p', sk), state: { S: sk }, n: { N: String(n) } });
    const all = ['a', 'b', 'c'];
    const write = (n: number): object => ({
      RequestItems: { [TableName]: all.map((sk) => ({ PutRequest: { Item: Item(sk, n) } })) },
    });
    const erase = { RequestItems: { [TableName]: all.map((sk) => ({ DeleteRequest: { Key: key('p', sk) } })) } };
    // The other write arrives ever later in the reading of the page.
    for (let later = 0; later < 12; later += 1) {
      for (const [n, change] of [write(2), erase].entries()) {
        await send('BatchWriteItem', write(1));
        const page = send('Query', {
          TableName,
          IndexName: 'byState',
          Select: 'ALL_ATTRIBUTES',
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
        });
        for (let i = 0; i < later; i += 1) await Promise.resolve();
        await send('BatchWriteItem', change);
        const { statusCode, body } = (await page).response;
        const { Items } = JSON.parse(Buffer.from(body).toString()) as { Items: object[] };
        const before = all.map((sk) => Item(sk, 1));
        const after = n === 0 ? all.map((sk) => Item(sk, 2)) : [];
        expect(statusCode).toBe(200);
        expect([before, after]).toContainEqual(Items);
      }
    }
  });
});
