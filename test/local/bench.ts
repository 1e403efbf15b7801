/** Figures for docs/local.md: `npx tsx --expose-gc test/local/bench.ts`. */
import { DynamoDBClient, PutItemCommand, QueryCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDBOptions } from '../../lib/local/index.js';
import { createTable, key } from './helpers.js';

const COUNT = 4000;
const streamed = { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' as const } };

async function rate(count: number, width: number, send: (i: number) => Promise<unknown>): Promise<string> {
  let next = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return `${Math.round((count / (performance.now() - started)) * 1000)}/s`;
}

async function measure(name: string, options: LocalDynamoDBOptions, http: boolean): Promise<void> {
  const local = await createLocalDynamoDB(options);
  const { region, credentials } = local.clientConfig;
  const client = new DynamoDBClient(
    http ? { region, credentials, endpoint: (await local.listen()).endpoint } : { ...local.clientConfig },
  );
  const table = await createTable(client, streamed);
  const put = (i: number): Promise<unknown> =>
    client.send(
      new PutItemCommand({ TableName: table, Item: { ...key(`p${i}`), n: { N: String(i) }, s: { S: 'some text' } } }),
    );
  const transact = (i: number): Promise<unknown> =>
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          {
            Put: {
              TableName: table,
              Item: { ...key(`t${i}`), n: { N: '1' } },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
          {
            Update: {
              TableName: table,
              Key: key(`u${i}`),
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            },
          },
        ],
      }),
    );
  await rate(500, 1, (i) => put(i + 1_000_000));
  await rate(500, 1, (i) => transact(i + 1_000_000));
  console.log(name);
  console.log('  puts, one after another', await rate(COUNT, 1, put));
  console.log('  puts, 20 at once', await rate(COUNT, 20, (i) => put(i + 2_000_000)));
  console.log('  transactions of 2, one after another', await rate(COUNT, 1, transact));
  console.log('  transactions of 2, 20 at once', await rate(COUNT, 20, (i) => transact(i + 2_000_000)));
  const query = (): Promise<unknown> =>
    client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'p1' } },
      }),
    );
  console.log('  queries of 1 item, one after another', await rate(COUNT, 1, query));
  client.destroy();
  await local.close();
}

/** Heap per item and per stream record, of items of about 100 bytes, sent without the SDK. */
async function memory(): Promise<void> {
  const gc = globalThis.gc;
  if (!gc) return;
  const items = 50_000;
  const heap = (): number => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  for (const withStream of [false, true]) {
    const local = await createLocalDynamoDB();
    const client = new DynamoDBClient({ ...local.clientConfig });
    const table = await createTable(client, withStream ? streamed : {});
    const before = heap();
    for (let i = 0; i < items; i += 1) {
      await local.requestHandler.handle({
        headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' },
        body: JSON.stringify({
          TableName: table,
          Item: { ...key(`item-${i}`), n: { N: String(i) }, text: { S: 'x'.repeat(70) } },
        }),
      });
    }
    const each = Math.round((heap() - before) / items);
    console.log(`memory: ${each} bytes an item of 100 bytes${withStream ? ', with its stream record' : ''}`);
    await local.close();
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
await measure('in process, in memory', {}, false);
await measure('in process, dataDir', { dataDir }, false);
await measure('over HTTP, in memory', {}, true);
await memory();
await rm(dataDir, { recursive: true });
