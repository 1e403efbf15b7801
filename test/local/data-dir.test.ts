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
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

  test('in use by another, says so', async () => {
    await opened(async () => {
      const error = await rejection(createLocalDynamoDB({ dataDir }));
      expect(error.message).toContain('choose another dataDir');
    });
  });
});
