import type { AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { StartError } from './start-error.js';
import type { AppTable } from './synthesized-app.js';

/** Creates the app's tables where a data folder does not hold them yet. */
export async function createTables(config: DynamoDBClientConfig, tables: readonly AppTable[]): Promise<void> {
  const client = new DynamoDBClient(config);
  try {
    for (const table of tables) await createTable(client, table);
  } finally {
    client.destroy();
  }
}

async function createTable(client: DynamoDBClient, table: AppTable): Promise<void> {
  const existing = await keysOf(client, table.name);
  if (existing !== undefined) {
    if (existing !== keyText(table.keySchema)) {
      throw new StartError(
        `The data folder holds a table ${table.name} with other keys: name another --data-dir, or delete the old one.`,
      );
    }
    await expire(client, table);
    return;
  }
  await client.send(
    new CreateTableCommand({
      TableName: table.name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: table.keySchema as KeySchemaElement[],
      AttributeDefinitions: table.attributeDefinitions as AttributeDefinition[],
      ...(table.globalSecondaryIndexes.length === 0
        ? {}
        : { GlobalSecondaryIndexes: table.globalSecondaryIndexes as unknown as GlobalSecondaryIndex[] }),
      ...(table.streamViewType === undefined
        ? {}
        : { StreamSpecification: { StreamEnabled: true, StreamViewType: table.streamViewType } }),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 1 }, { TableName: table.name });
  await expire(client, table);
}

/** Turns time to live on where it is off, as after a kill between the table and this. */
async function expire(client: DynamoDBClient, { name, timeToLiveAttribute }: AppTable): Promise<void> {
  if (timeToLiveAttribute === undefined) return;
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  if (TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED') return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true },
    }),
  );
}

async function keysOf(client: DynamoDBClient, name: string): Promise<string | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return keyText(Table?.KeySchema ?? []);
  } catch (error) {
    // By name: this client may be another copy's.
    if ((error as Error).name === ResourceNotFoundException.name) return undefined;
    throw error;
  }
}

const keyText = (schema: readonly { AttributeName?: string | undefined; KeyType?: string | undefined }[]): string =>
  schema.map(({ AttributeName, KeyType }) => `${KeyType}:${AttributeName}`).join(' ');
