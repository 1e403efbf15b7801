import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import type { StreamViewType } from '@aws-sdk/client-dynamodb';
import type { ShardIteratorType } from '@aws-sdk/client-dynamodb-streams';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key, rejection } from './helpers.js';
import { streamsApi } from './streams-api.js';

const HOUR = 60 * 60 * 1000;
let local: LocalDynamoDB;
let client: DynamoDBClient;
let api: ReturnType<typeof streamsApi>;
let now = Date.now();

beforeAll(async () => {
  local = await createLocalDynamoDB({ clock: () => now });
  client = new DynamoDBClient({ ...local.clientConfig });
  api = streamsApi(local);
});
afterAll(() => local.close());

async function streaming(view: StreamViewType = 'NEW_AND_OLD_IMAGES'): Promise<{ table: string; arn: string }> {
  const table = await createTable(client, { StreamSpecification: { StreamEnabled: true, StreamViewType: view } });
  return { table, arn: await arnOf(table) };
}
async function arnOf(table: string): Promise<string> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  return Table!.LatestStreamArn!;
}
const put = (TableName: string, pk: string, n: number): Promise<unknown> =>
  client.send(new PutItemCommand({ TableName, Item: { ...key(pk), n: { N: String(n) } } }));
const valueOf = ({ dynamodb }: { dynamodb: { NewImage?: object } }): unknown =>
  (dynamodb.NewImage as { n?: { N: string } } | undefined)?.n?.N;

describe('records', () => {
  test('tell inserts, changes and removals with both images', async () => {
    const { table, arn } = await streaming();
    await put(table, 'a', 1);
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: key('a'),
        UpdateExpression: 'SET n = :n',
        ExpressionAttributeValues: { ':n': { N: '2' } },
      }),
    );
    await client.send(new DeleteItemCommand({ TableName: table, Key: key('a') }));
    const item = (n: number): object => ({ ...key('a'), n: { N: String(n) } });
    const records = await api.all(arn);
    expect(records.map(({ eventName, dynamodb }) => [eventName, dynamodb.OldImage, dynamodb.NewImage])).toEqual([
      ['INSERT', undefined, item(1)],
      ['MODIFY', item(1), item(2)],
      ['REMOVE', item(2), undefined],
    ]);
    expect(records[0]).toMatchObject({
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      dynamodb: {
        Keys: key('a'),
        ApproximateCreationDateTime: new Date(Math.floor(now / 1000) * 1000),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
    });
    expect(records[0]!.dynamodb.SizeBytes).toBe(6 + 6 + 3);
    const ids = records.map(({ eventID }) => eventID);
    expect(new Set(ids).size).toBe(3);
    expect((await api.all(arn)).map(({ eventID }) => eventID)).toEqual(ids);
    expect(records[0]!.userIdentity).toBeUndefined();
  });

  test.each<[StreamViewType, boolean, boolean]>([
    ['KEYS_ONLY', false, false],
    ['NEW_IMAGE', false, true],
    ['OLD_IMAGE', true, false],
  ])('%s shows its images only', async (view, old, fresh) => {
    const { table, arn } = await streaming(view);
    await put(table, 'a', 1);
    await put(table, 'a', 2);
    const { dynamodb } = (await api.all(arn))[1]!;
    expect([dynamodb.OldImage !== undefined, dynamodb.NewImage !== undefined]).toEqual([old, fresh]);
    expect(dynamodb.Keys).toEqual(key('a'));
  });

  test('a write that changes nothing leaves none', async () => {
    const { table, arn } = await streaming();
    await put(table, 'a', 1);
    await put(table, 'a', 1);
    await client.send(new DeleteItemCommand({ TableName: table, Key: key('nobody') }));
    await rejection(
      client.send(
        new PutItemCommand({ TableName: table, Item: key('a'), ConditionExpression: 'attribute_not_exists(pk)' }),
      ),
    );
    expect(await api.all(arn)).toHaveLength(1);
  });

  test('transactions and batches leave one for each item, cancelled transactions none', async () => {
    const { table, arn } = await streaming();
    const Put = (pk: string, extra: object = {}): object => ({ Put: { TableName: table, Item: key(pk), ...extra } });
    const transact = (items: object[]): Promise<unknown> =>
      client.send(new TransactWriteItemsCommand({ TransactItems: items }));
    await transact([Put('t1'), Put('t2')]);
    await rejection(transact([Put('t3'), Put('t1', { ConditionExpression: 'attribute_not_exists(pk)' })]));
    await client.send(
      new BatchWriteItemCommand({
        RequestItems: { [table]: [{ PutRequest: { Item: key('b1') } }, { DeleteRequest: { Key: key('t1') } }] },
      }),
    );
    const seen = (await api.all(arn)).map(({ eventName, dynamodb }) => `${eventName} ${dynamodb.Keys['pk']?.S}`);
    expect(seen.sort()).toEqual(['INSERT b1', 'INSERT t1', 'INSERT t2', 'REMOVE t1']);
  });

  test('of one item keep the order of its writes under concurrency', async () => {
    const { table, arn } = await streaming();
    await Promise.all(Array.from({ length: 200 }, (_, i) => put(table, `p${i % 5}`, i)));
    const last = new Map<string, unknown>();
    const { Responses } = { Responses: await api.all(arn) };
    expect(Responses).toHaveLength(200);
    for (const record of Responses) {
      const pk = record.dynamodb.Keys['pk']!.S!;
      expect((record.dynamodb.OldImage as { n?: { N: string } } | undefined)?.n?.N).toBe(last.get(pk));
      last.set(pk, valueOf(record));
    }
  });
});

describe('shards', () => {
  test('take records by partition key, in order, and split and close', async () => {
    const { table, arn } = await streaming();
    for (let i = 0; i < 40; i += 1) await put(table, `p${i % 20}`, i);
    const before = (await api.describe(arn)).Shards;
    expect(before).toHaveLength(4);
    await local.splitShards(table);
    for (let i = 40; i < 80; i += 1) await put(table, `p${i % 20}`, i);

    const { Shards } = await api.describe(arn);
    expect(Shards).toHaveLength(12);
    const home = new Map<string, Set<string>>();
    let total = 0;
    for (const { ShardId, ParentShardId, SequenceNumberRange } of Shards) {
      const page = await api.records(await api.iterator(arn, ShardId));
      total += page.Records.length;
      expect(page.NextShardIterator === undefined).toBe(SequenceNumberRange.EndingSequenceNumber !== undefined);
      expect(before.some((shard) => shard.ShardId === (ParentShardId ?? ShardId))).toBe(true);
      const values = page.Records.map((record) => Number(valueOf(record)));
      expect(values).toEqual([...values].sort((a, b) => a - b));
      for (const { dynamodb } of page.Records) {
        const pk = dynamodb.Keys['pk']!.S!;
        home.set(pk, (home.get(pk) ?? new Set()).add(ShardId));
        expect(dynamodb.SequenceNumber >= SequenceNumberRange.StartingSequenceNumber).toBe(true);
        if (SequenceNumberRange.EndingSequenceNumber) {
          expect(dynamodb.SequenceNumber <= SequenceNumberRange.EndingSequenceNumber).toBe(true);
        }
      }
    }
    expect(total).toBe(80);
    // Every partition key has one shard before the split and one, a child of it, after.
    for (const shards of home.values()) {
      const [parent, child] = [...shards];
      expect(shards.size).toBe(2);
      expect(Shards.find(({ ShardId }) => ShardId === child)?.ParentShardId).toBe(parent);
    }
    expect(new Set([...home.values()].map((shards) => [...shards][0])).size).toBeGreaterThan(1);
  });

  test('get a successor after four hours', async () => {
    const { table, arn } = await streaming();
    await put(table, 'a', 1);
    now += 4 * HOUR;
    await put(table, 'a', 2);
    const { Shards } = await api.describe(arn);
    expect(Shards.filter(({ ParentShardId }) => ParentShardId)).toHaveLength(4);
    expect((await api.all(arn)).map(valueOf)).toEqual(['1', '2']);
  });
});

describe('iterators', () => {
  test('start at the horizon, the end, a record or behind one', async () => {
    const { table, arn } = await streaming();
    for (let i = 0; i < 5; i += 1) await put(table, 'a', i);
    const records = await api.all(arn);
    const { Shards } = await api.describe(arn);
    const counts = await Promise.all(
      Shards.map(async ({ ShardId }) => (await api.records(await api.iterator(arn, ShardId))).Records.length),
    );
    const { ShardId } = Shards[counts.indexOf(5)]!;
    const number = records[2]!.dynamodb.SequenceNumber;
    const from = async (type: ShardIteratorType, at?: string): Promise<unknown[]> =>
      (await api.records(await api.iterator(arn, ShardId, type, at))).Records.map(valueOf);
    expect(await from('TRIM_HORIZON')).toEqual(['0', '1', '2', '3', '4']);
    expect(await from('AT_SEQUENCE_NUMBER', number)).toEqual(['2', '3', '4']);
    expect(await from('AFTER_SEQUENCE_NUMBER', number)).toEqual(['3', '4']);
    const latest = await api.iterator(arn, ShardId, 'LATEST');
    await put(table, 'a', 5);
    expect((await api.records(latest)).Records.map(valueOf)).toEqual(['5']);
  });

  test('page by limit and by 1 MB', async () => {
    const { table, arn } = await streaming('NEW_IMAGE');
    const big = (n: number): Promise<unknown> =>
      client.send(
        new PutItemCommand({
          TableName: table,
          Item: { ...key('a'), n: { N: String(n) }, b: { S: 'x'.repeat(300_000) } },
        }),
      );
    for (let i = 0; i < 5; i += 1) await big(i);
    const seen: string[][] = [];
    for (const { ShardId } of (await api.describe(arn)).Shards) {
      let next = await api.iterator(arn, ShardId);
      for (;;) {
        const page = await api.records(next);
        if (page.Records.length === 0) break;
        seen.push(page.Records.map((record) => String(valueOf(record))));
        next = page.NextShardIterator!;
      }
    }
    expect(seen).toEqual([
      ['0', '1', '2'],
      ['3', '4'],
    ]);
    const { Shards } = await api.describe(arn);
    const limited = await Promise.all(
      Shards.map(async ({ ShardId }) => (await api.records(await api.iterator(arn, ShardId), 2)).Records.length),
    );
    expect(limited.sort()).toEqual([0, 0, 0, 2]);
  });

  test('expire after 15 minutes; unknown streams, shards and texts are refused', async () => {
    const { arn } = await streaming();
    const { ShardId } = (await api.describe(arn)).Shards[0]!;
    const old = await api.iterator(arn, ShardId);
    now += 15 * 60_000;
    await api.records(old);
    now += 1;
    expect((await rejection(api.records(old))).name).toBe('ExpiredIteratorException');
    expect((await rejection(api.records('x|1|y'))).name).toBe('ValidationException');
    expect((await rejection(api.describe(`${arn}x`))).name).toBe('ResourceNotFoundException');
    expect((await rejection(api.iterator(arn, `${ShardId.slice(0, -1)}x`))).name).toBe('ResourceNotFoundException');
  });
});

describe('retention', () => {
  test('takes records after 24 hours and says so to who wants them', async () => {
    const { table, arn } = await streaming();
    await put(table, 'a', 1);
    const first = (await api.all(arn))[0]!.dynamodb.SequenceNumber;
    const { Shards } = await api.describe(arn);
    now += 12 * HOUR;
    await put(table, 'a', 2);
    now += 12 * HOUR - 1;
    expect((await api.all(arn)).map(valueOf)).toEqual(['1', '2']);
    now += 61_000;
    expect((await api.all(arn)).map(valueOf)).toEqual(['2']);
    const errors = await Promise.all(
      Shards.map(({ ShardId }) =>
        api.iterator(arn, ShardId, 'AT_SEQUENCE_NUMBER', first).then(
          () => 'ok',
          (error: Error) => error.name,
        ),
      ),
    );
    expect(errors).toContain('TrimmedDataAccessException');
  });
});

describe('streams', () => {
  test('are listed by table and turned on and off by UpdateTable', async () => {
    const table = await createTable(client);
    const update = (StreamEnabled: boolean, StreamViewType?: StreamViewType): Promise<unknown> =>
      client.send(
        new UpdateTableCommand({
          TableName: table,
          StreamSpecification: { StreamEnabled, ...(StreamViewType ? { StreamViewType } : {}) },
        }),
      );
    await put(table, 'unseen', 0);
    await update(true, 'NEW_IMAGE');
    expect((await rejection(update(true, 'KEYS_ONLY'))).name).toBe('ValidationException');
    const arn = await arnOf(table);
    await put(table, 'a', 1);
    await update(false);
    await put(table, 'a', 2);
    expect((await api.describe(arn)).StreamStatus).toBe('DISABLED');
    expect((await api.all(arn)).map(valueOf)).toEqual(['1']);
    await update(true, 'NEW_IMAGE');
    const second = await arnOf(table);
    expect(second).not.toBe(arn);
    expect(await api.list(table)).toEqual([arn, second].sort());
  });

  test('outlive their table by a day', async () => {
    const { table, arn } = await streaming();
    await put(table, 'a', 1);
    await client.send(new DeleteTableCommand({ TableName: table }));
    expect((await api.describe(arn)).StreamStatus).toBe('DISABLED');
    expect(await api.all(arn)).toHaveLength(1);
    now += 24 * HOUR + 61_000;
    expect((await rejection(api.describe(arn))).name).toBe('ResourceNotFoundException');
  });

  test('with dataDir are kept over a restart, and number on', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
    const open = async (): Promise<[LocalDynamoDB, DynamoDBClient]> => {
      const opened = await createLocalDynamoDB({ dataDir, clock: () => now });
      return [opened, new DynamoDBClient({ ...opened.clientConfig })];
    };
    let [kept, keptClient] = await open();
    const table = await createTable(keptClient, {
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    });
    const write = (n: number): Promise<unknown> =>
      keptClient.send(new PutItemCommand({ TableName: table, Item: { ...key('a'), n: { N: String(n) } } }));
    await write(1);
    await kept.close();
    [kept, keptClient] = await open();
    await write(2);
    const { Table } = await keptClient.send(new DescribeTableCommand({ TableName: table }));
    const records = await streamsApi(kept).all(Table!.LatestStreamArn!);
    expect(records.map(valueOf)).toEqual(['1', '2']);
    expect(records[1]!.dynamodb.SequenceNumber > records[0]!.dynamodb.SequenceNumber).toBe(true);
    await kept.close();
    await rm(dataDir, { recursive: true });
  });
});
