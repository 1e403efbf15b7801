import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  PutItemCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, read, rejection } from './helpers.js';

let db: TestDynamoDB;
let table: string;

beforeAll(async () => {
  db = await testDynamoDB();
  table = await createTable(db.client);
});
afterAll(() => db.close());

describe('ReturnValuesOnConditionCheckFailure', () => {
  const fails = { ConditionExpression: 'attribute_not_exists(pk)' };
  const commands = {
    PutItem: (extra: object) =>
      db.client.send(new PutItemCommand({ ...fails, TableName: table, Item: key('held'), ...extra })),
    UpdateItem: (extra: object) =>
      db.client.send(
        new UpdateItemCommand({ ...fails, TableName: table, Key: key('held'), UpdateExpression: 'REMOVE n', ...extra }),
      ),
    DeleteItem: (extra: object) =>
      db.client.send(new DeleteItemCommand({ ...fails, TableName: table, Key: key('held'), ...extra })),
  };
  const item = { ...key('held'), n: { N: '5' } };

  beforeAll(() => db.client.send(new PutItemCommand({ TableName: table, Item: item })));

  test.each(Object.entries(commands))('%s answers the item when asked, and only then', async (_name, send) => {
    const asked = await rejection<ConditionalCheckFailedException>(
      send({ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
    );
    expect(asked).toBeInstanceOf(ConditionalCheckFailedException);
    expect(asked.message).toBe('The conditional request failed');
    expect(asked.Item).toEqual(item);
    expect((await rejection<ConditionalCheckFailedException>(send({}))).Item).toBeUndefined();
    expect(await read(db.client, table, 'held')).toEqual(item);
  });

  test('has no item when there is none', async () => {
    const error = await rejection<ConditionalCheckFailedException>(
      db.client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: key('nobody'),
          UpdateExpression: 'SET n = :n',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':n': { N: '1' } },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    expect(error.name).toBe('ConditionalCheckFailedException');
    expect(error.Item).toBeUndefined();
  });
});

describe('tables', () => {
  test('are active after their creation, with their keys and ARN', async () => {
    const { Table } = await db.client.send(new DescribeTableCommand({ TableName: table }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.TableArn).toMatch(new RegExp(`^arn:aws:dynamodb:[a-z0-9-]+:\\d{12}:table/${table}$`));
    expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
  });

  test('unknown ones are not found', async () => {
    const error = await rejection(db.client.send(new DescribeTableCommand({ TableName: 'no-such-table' })));
    expect([error.name, error.message]).toEqual([
      'ResourceNotFoundException',
      'Requested resource not found: Table: no-such-table not found',
    ]);
    const write = await rejection(db.client.send(new PutItemCommand({ TableName: 'no-such-table', Item: key('x') })));
    expect([write.name, write.message]).toEqual(['ResourceNotFoundException', 'Requested resource not found']);
  });

  test('take and describe a time to live', async () => {
    const name = await createTable(db.client);
    const describeTtl = async (): Promise<unknown> =>
      (await db.client.send(new DescribeTimeToLiveCommand({ TableName: name }))).TimeToLiveDescription;
    const update = (Enabled: boolean): Promise<unknown> =>
      db.client.send(
        new UpdateTimeToLiveCommand({
          TableName: name,
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled },
        }),
      );
    expect(await describeTtl()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    await update(true);
    expect(await describeTtl()).toMatchObject({ AttributeName: 'expires' });
    const again = await rejection(update(true));
    expect([again.name, again.message]).toEqual(['ValidationException', 'TimeToLive is already enabled']);
  });
});
