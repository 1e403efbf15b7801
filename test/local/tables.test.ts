import {
  BatchWriteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  QueryCommand,
  TagResourceCommand,
  TransactWriteItemsCommand,
  UntagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import type { UpdateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key, read, rejection } from './helpers.js';

let local: LocalDynamoDB;
let client: DynamoDBClient;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  client = new DynamoDBClient({ ...local.clientConfig });
});
afterAll(() => local.close());

const update = (TableName: string, input: Partial<UpdateTableCommandInput>): Promise<unknown> =>
  client.send(new UpdateTableCommand({ TableName, ...input }));

describe('UpdateTable', () => {
  test('adds an index filled with what is there, keeps it up, and deletes it', async () => {
    const table = await createTable(client);
    const put = (pk: string, owner: object): Promise<unknown> =>
      client.send(new PutItemCommand({ TableName: table, Item: { ...key(pk), ...owner } }));
    await put('a', { owner: { S: 'ann' } });
    await put('b', { owner: { N: '1' } });
    await put('c', {});
    await update(table, {
      AttributeDefinitions: [{ AttributeName: 'owner', AttributeType: 'S' }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'byOwner',
            KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        },
      ],
    });
    await put('d', { owner: { S: 'ann' } });
    const owned = async (): Promise<unknown> => {
      const { Items } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'byOwner',
          KeyConditionExpression: '#o = :o',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': { S: 'ann' } },
        }),
      );
      return Items?.map((item) => item['pk']?.S).sort();
    };
    expect(await owned()).toEqual(['a', 'd']);
    const described = await client.send(new DescribeTableCommand({ TableName: table }));
    expect(described.Table?.GlobalSecondaryIndexes?.[0]).toMatchObject({ IndexName: 'byOwner', IndexStatus: 'ACTIVE' });
    await update(table, { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byOwner' } }] });
    expect((await rejection(owned())).name).toBe('ValidationException');
    const after = await client.send(new DescribeTableCommand({ TableName: table }));
    expect(after.Table?.AttributeDefinitions).toHaveLength(2);
  });

  test('protects a table from deletion until told otherwise', async () => {
    const table = await createTable(client, { DeletionProtectionEnabled: true });
    const remove = (): Promise<unknown> => client.send(new DeleteTableCommand({ TableName: table }));
    expect((await rejection(remove())).name).toBe('ValidationException');
    await update(table, { DeletionProtectionEnabled: false });
    await remove();
    expect((await client.send(new ListTablesCommand({}))).TableNames).not.toContain(table);
  });
});

test('a table is made once', async () => {
  const TableName = await createTable(client);
  const error = await rejection(createTable(client, { TableName }));
  expect([error.name, error.message]).toEqual(['ResourceInUseException', `Table already exists: ${TableName}`]);
});

test('a table made again under its name is empty', async () => {
  const table = await createTable(client);
  await client.send(new PutItemCommand({ TableName: table, Item: key('old') }));
  await client.send(new DeleteTableCommand({ TableName: table }));
  await createTable(client, { TableName: table });
  expect(await read(client, table, 'old')).toBeUndefined();
});

test('tags and the setting of backups are kept', async () => {
  const table = await createTable(client, { Tags: [{ Key: 'team', Value: 'a' }] });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const ResourceArn = Table!.TableArn!;
  await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: 'stage', Value: 'test' }] }));
  await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ['team'] }));
  const { Tags } = await client.send(new ListTagsOfResourceCommand({ ResourceArn }));
  expect(Tags).toEqual([{ Key: 'stage', Value: 'test' }]);
  const recovery = async (): Promise<unknown> => {
    const { ContinuousBackupsDescription: description } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName: table }),
    );
    return description?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  };
  expect(await recovery()).toBe('DISABLED');
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName: table, PointInTimeRecoverySpecification }));
  expect(await recovery()).toBe('ENABLED');
});

test('a batch leaves unprocessed what a transaction holds', async () => {
  const table = await createTable(client);
  const put = (pk: string): object => ({ PutRequest: { Item: { ...key(pk), by: { S: 'batch' } } } });
  const [, batch] = await Promise.all([
    client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: table, Item: key('held') } }] })),
    client.send(new BatchWriteItemCommand({ RequestItems: { [table]: [put('held'), put('free')] } })),
  ]);
  expect(batch.UnprocessedItems).toEqual({ [table]: [put('held')] });
  expect((await read(client, table, 'held'))?.['by']).toBeUndefined();
  expect((await read(client, table, 'free'))?.['by']).toEqual({ S: 'batch' });
});
