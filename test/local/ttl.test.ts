import {
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key, read } from './helpers.js';
import { streamsApi } from './streams-api.js';

const start = 1_800_000_000;
let seconds = start;
let local: LocalDynamoDB | undefined;
let client: DynamoDBClient;
let table: string;

beforeEach(async () => {
  await local?.close();
  seconds = start;
  local = await createLocalDynamoDB({ clock: () => seconds * 1000 });
  client = new DynamoDBClient({ ...local.clientConfig });
  table = await createTable(client, {
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: table,
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    }),
  );
});
afterAll(() => local?.close());

const put = (pk: string, expires: AttributeValue): Promise<unknown> =>
  client.send(new PutItemCommand({ TableName: table, Item: { ...key(pk), expires } }));
const at = (time: number): AttributeValue => ({ N: String(time) });

describe('time to live', () => {
  test('leaves an expired item readable and updatable until the sweep', async () => {
    await put('a', at(start + 10));
    await put('b', at(start + 10));
    expect(await local!.sweep()).toBe(0);
    seconds += 10;
    expect(await read(client, table, 'a')).toBeDefined();
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: key('b'),
        UpdateExpression: 'SET expires = :later',
        ExpressionAttributeValues: { ':later': at(start + 20) },
      }),
    );
    expect(await local!.sweep()).toBe(1);
    expect(await read(client, table, 'a')).toBeUndefined();
    expect(await read(client, table, 'b')).toBeDefined();
  });

  test('ignores what is no number, absent, or more than five years past', async () => {
    const fiveYears = 5 * 365 * 24 * 60 * 60;
    await put('text', { S: String(start) });
    await put('old', at(start - fiveYears));
    await put('millis', at(start * 1000));
    await put('other', { L: [at(start)] });
    await client.send(new PutItemCommand({ TableName: table, Item: key('none') }));
    await put('just', at(start - fiveYears + 1));
    expect(await local!.sweep()).toBe(1);
    expect(await read(client, table, 'just')).toBeUndefined();
    for (const pk of ['text', 'old', 'millis', 'other', 'none']) expect(await read(client, table, pk)).toBeDefined();
  });

  test('its removals say in the stream who made them', async () => {
    await put('a', at(start + 1));
    seconds += 1;
    await local!.sweep();
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
    const removal = (await streamsApi(local!).all(Table!.LatestStreamArn!)).at(-1);
    expect(removal).toMatchObject({
      eventName: 'REMOVE',
      userIdentity: { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' },
      dynamodb: { OldImage: { expires: at(start + 1) } },
    });
  });

  test('does nothing once it is off', async () => {
    await put('a', at(start - 1));
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: table,
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: false },
      }),
    );
    expect(await local!.sweep()).toBe(0);
  });
});
