import { CreateTableCommand, ScanCommand, waitUntilTableExists, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { onTestFinished } from 'vitest';
import { table, type AttributeMap, type Table } from '../../lib/commands/index.js';
import type { LocalDynamoDBOptions } from '../../lib/local/index.js';
import type { LocalRequest } from '../../lib/local/request-log.js';
import { testDynamoDB, uniqueTableName } from '../support/dynamodb.js';

/** A table of a test's own, gone when the test has finished. */
export interface TestTable {
  readonly table: Table;
  readonly client: DynamoDBClient;
  /** What was asked of the embedded DynamoDB since the table was made; empty on another one. */
  readonly requests: LocalRequest[];
  /** The stored items, of one entity or of all. */
  readonly items: (type?: string) => Promise<AttributeMap[]>;
}

export async function testTable(options: LocalDynamoDBOptions = {}): Promise<TestTable> {
  const db = await testDynamoDB(options);
  const { client, local } = db;
  onTestFinished(() => db.close());
  const name = uniqueTableName('safewrites');
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName: name });
  const requests: LocalRequest[] = [];
  local?.onRequest((request) => requests.push(request));
  return {
    table: table({ name, client }),
    client,
    requests,
    async items(type) {
      const count = requests.length;
      const { Items = [] } = await client.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
      // Looking at the table is not what is counted.
      requests.length = count;
      return Items.filter((item) => type === undefined || item['_type']?.S === type);
    },
  };
}
