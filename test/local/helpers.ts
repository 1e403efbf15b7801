import { CreateTableCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { uniqueTableName } from '../support/dynamodb.js';

/** Creates a table with the string keys `pk` and `sk`, waits for it and returns its name. */
export async function createTable(
  client: DynamoDBClient,
  extra: Partial<CreateTableCommandInput> = {},
): Promise<string> {
  const TableName = extra.TableName ?? uniqueTableName('local');
  await client.send(
    new CreateTableCommand({
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      ...extra,
      TableName,
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName });
  return TableName;
}

export function key(pk: string, sk = '-'): Record<string, AttributeValue> {
  return { pk: { S: pk }, sk: { S: sk } };
}

export async function read(
  client: DynamoDBClient,
  TableName: string,
  pk: string,
  sk = '-',
): Promise<Record<string, AttributeValue> | undefined> {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: key(pk, sk), ConsistentRead: true }));
  return Item;
}

/** The error of a promise that must be rejected. */
export async function rejection<T extends Error = Error>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error('Expected a rejection');
}
