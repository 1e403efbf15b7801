import {
  CreateTableCommand,
  GetItemCommand,
  PutItemCommand,
  waitUntilTableExists,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { table, type AttributeMap, type Table } from '../../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../../support/dynamodb.js';

/** A running table with a global index `byStatus` of all attributes, a global one of keys only, and a local one. */
export interface LiveTable {
  readonly client: DynamoDBClient;
  readonly shop: Table;
  /** What is stored under a key. */
  stored(pk: string, sk: string): Promise<AttributeMap | undefined>;
  /** Stores an item as it is. */
  store(item: AttributeMap): Promise<void>;
}

const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const keys = (pk: string, sk?: string) => [
  { AttributeName: pk, KeyType: 'HASH' as const },
  ...(sk === undefined ? [] : [{ AttributeName: sk, KeyType: 'RANGE' as const }]),
];

/** Creates the table. */
export const createShop = async (client: DynamoDBClient): Promise<Table> => {
  const TableName = uniqueTableName('commands');
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keys('pk', 'sk'),
      AttributeDefinitions: ['pk', 'sk', 'byStatuspk', 'byStatussk', 'keyspk', 'localsk'].map(attribute),
      GlobalSecondaryIndexes: [
        { IndexName: 'byStatus', KeySchema: keys('byStatuspk', 'byStatussk'), Projection: { ProjectionType: 'ALL' } },
        { IndexName: 'keys', KeySchema: keys('keyspk'), Projection: { ProjectionType: 'KEYS_ONLY' } },
      ],
      LocalSecondaryIndexes: [
        { IndexName: 'local', KeySchema: keys('pk', 'localsk'), Projection: { ProjectionType: 'ALL' } },
      ],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 2 }, { TableName });
  return table({
    name: TableName,
    client,
    indexes: { byStatus: {}, keys: { sk: false }, local: { pk: 'pk', sk: 'localsk' } },
  });
};

/** A table for the tests of a file. */
export const liveTable = (): LiveTable => {
  let dynamo: TestDynamoDB;
  let shop: Table;
  beforeAll(async () => {
    dynamo = await testDynamoDB();
    shop = await createShop(dynamo.client);
  }, 90_000);
  afterAll(() => dynamo.close());
  return {
    get client() {
      return dynamo.client;
    },
    get shop() {
      return shop;
    },
    async stored(pk, sk) {
      const Key = { pk: { S: pk }, sk: { S: sk } };
      return (await dynamo.client.send(new GetItemCommand({ TableName: shop.name, Key, ConsistentRead: true }))).Item;
    },
    async store(Item) {
      await dynamo.client.send(new PutItemCommand({ TableName: shop.name, Item }));
    },
  };
};
