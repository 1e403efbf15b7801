import {
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Store } from '../../lib/local/engine/store.js';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key, read, rejection } from './helpers.js';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** Runs against a DynamoDB that is opened for it and closed after it, as a restarted process would. */
async function opened<T>(use: (client: DynamoDBClient) => Promise<T>): Promise<T> {
  const local = await createLocalDynamoDB({ dataDir });
  try {
    return await use(new DynamoDBClient({ ...local.clientConfig }));
  } finally {
    await local.close();
  }
}

describe('dataDir', () => {
  test('keeps tables, items, indexes, settings and tokens over a restart', async () => {
    const transaction = (table: string): TransactWriteItemsCommand =>
      new TransactWriteItemsCommand({
        ClientRequestToken: 'kept-token',
        TransactItems: [
          {
            Update: {
              TableName: table,
              Key: key('counter'),
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            },
          },
        ],
      });
    const table = await opened(async (client) => {
      const name = await createTable(client, {
        AttributeDefinitions: ['pk', 'sk', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        GlobalSecondaryIndexes: [
          {
            IndexName: 'byOwner',
            KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      });
      await client.send(new PutItemCommand({ TableName: name, Item: { ...key('ü'), owner: { S: 'ann' } } }));
      await client.send(
        new UpdateTimeToLiveCommand({
          TableName: name,
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
        }),
      );
      await client.send(transaction(name));
      return name;
    });
    await opened(async (client) => {
      expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([table]);
      expect(await read(client, table, 'ü')).toEqual({ ...key('ü'), owner: { S: 'ann' } });
      const { Count } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'byOwner',
          KeyConditionExpression: '#o = :o',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': { S: 'ann' } },
        }),
      );
      expect(Count).toBe(1);
      const ttl = await client.send(new DescribeTimeToLiveCommand({ TableName: table }));
      expect(ttl.TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
      await client.send(transaction(table));
      expect((await read(client, table, 'counter'))?.['n']).toEqual({ N: '1' });
    });
  });

  test('answers a refusal too only when what it tells of is on disk', async () => {
    await opened(async (client) => {
      const table = await createTable(client);
      let written = (): void => undefined;
      const disk = new Promise<void>((resolve) => (written = resolve));
      const slow = vi.spyOn(Store.prototype, 'durable').mockReturnValue(disk);
      const put = (): Promise<unknown> =>
        client.send(
          new PutItemCommand({ TableName: table, Item: key('a'), ConditionExpression: 'attribute_not_exists(pk)' }),
        );
      const answers: string[] = [];
      const first = put().then(() => answers.push('put'));
      const second = rejection(put()).then(({ name }) => answers.push(name));
      while (slow.mock.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
      expect(answers).toEqual([]);
      written();
      await Promise.all([first, second]);
      expect(answers.sort()).toEqual(['ConditionalCheckFailedException', 'put']);
      slow.mockRestore();
    });
  });

  test('in use by another, says so', async () => {
    await opened(async () => {
      const error = await rejection(createLocalDynamoDB({ dataDir }));
      expect(error.message).toContain('choose another dataDir');
    });
  });
});
