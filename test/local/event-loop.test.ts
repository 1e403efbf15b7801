import { DynamoDBClient, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key, read } from './helpers.js';

let local: LocalDynamoDB;
let client: DynamoDBClient;
let table: string;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  client = new DynamoDBClient({ ...local.clientConfig });
  table = await createTable(client);
});
afterEach(() => vi.useRealTimers());
afterAll(() => local.close());

const put = (...pks: string[]): Promise<unknown> =>
  client.send(
    new TransactWriteItemsCommand({ TransactItems: pks.map((pk) => ({ Put: { TableName: table, Item: key(pk) } })) }),
  );

describe('a caller in a loop', () => {
  test('leaves room for timers', async () => {
    let rang = false;
    setTimeout(() => (rang = true), 1);
    while (!rang) await read(client, table, 'a');
  });

  test('sees a transaction that commits meanwhile', async () => {
    const committed = put('b', 'c');
    while (!(await read(client, table, 'b'))) continue;
    expect(await read(client, table, 'c')).toBeDefined();
    await committed;
  });
});

test('replaced timers stop nothing', async () => {
  vi.useFakeTimers();
  await put('d', 'e');
  const slow = await createLocalDynamoDB({ transactionMs: 1, faults: () => ({ at: 'after', delayMs: 1 }) });
  const other = new DynamoDBClient({ ...slow.clientConfig });
  await other.send(new PutItemCommand({ TableName: table, Item: key('a') })).catch(() => undefined);
  await slow.close();
  expect(await read(client, table, 'e')).toBeDefined();
});

test('a listener that throws is reported, and the answer stands', async () => {
  const handlers = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const reported = new Promise<Error>((resolve) => process.once('uncaughtException', resolve));
  const stop = local.onRequest(() => {
    throw new Error('from a listener');
  });
  try {
    await client.send(new PutItemCommand({ TableName: table, Item: key('f') }));
    stop();
    expect((await reported).message).toBe('from a listener');
    expect(await read(client, table, 'f')).toBeDefined();
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const handler of handlers) process.on('uncaughtException', handler);
  }
});
