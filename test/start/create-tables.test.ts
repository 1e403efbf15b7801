import { DescribeTimeToLiveCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalDynamoDB, type LocalDynamoDB } from '../../lib/local/index.js';
import { createTables } from '../../lib/local/start/create-tables.js';

const shop = {
  name: 'shop',
  keySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  attributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
  ],
  globalSecondaryIndexes: [],
  streamViewType: undefined,
  timeToLiveAttribute: 'ttl',
} as const;

describe('createTables', () => {
  let local: LocalDynamoDB;
  beforeEach(async () => {
    local = await createLocalDynamoDB();
  });
  afterEach(() => local.close());

  const timeToLive = async () => {
    const client = new DynamoDBClient(local.clientConfig);
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'shop' }));
    return TimeToLiveDescription?.TimeToLiveStatus;
  };

  it('creates what the template says, and leaves it alone the next time', async () => {
    await createTables(local.clientConfig, [shop]);
    await createTables(local.clientConfig, [shop]);
    expect(await timeToLive()).toBe('ENABLED');
  });

  it('turns time to live on where a start before was killed in between', async () => {
    await createTables(local.clientConfig, [shop]);
    const off = { TableName: 'shop', TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: false } };
    await new DynamoDBClient(local.clientConfig).send(new UpdateTimeToLiveCommand(off));
    await createTables(local.clientConfig, [shop]);
    expect(await timeToLive()).toBe('ENABLED');
  });

  it('refuses a table of that name with other keys', async () => {
    const other = {
      ...shop,
      keySchema: shop.keySchema.slice(0, 1),
      attributeDefinitions: shop.attributeDefinitions.slice(0, 1),
    };
    await createTables(local.clientConfig, [other]);
    await expect(createTables(local.clientConfig, [shop])).rejects.toThrow(/other keys/);
  });
});
