import { DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB, LocalRequest } from '../../lib/local/index.js';
import { createTable, key, read, rejection } from './helpers.js';

let local: LocalDynamoDB;
let inProcess: DynamoDBClient;
let overHttp: DynamoDBClient;
let port: number;
let table: string;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  inProcess = new DynamoDBClient({ ...local.clientConfig });
  const server = await local.listen();
  port = server.port;
  expect(server.endpoint).toBe(`http://127.0.0.1:${port}`);
  const { region, credentials } = local.clientConfig;
  overHttp = new DynamoDBClient({ region, credentials, endpoint: server.endpoint });
  table = await createTable(overHttp);
});
afterAll(async () => {
  overHttp.destroy();
  await local.close();
});

describe('over HTTP', () => {
  test('clients in process and over HTTP see the same data', async () => {
    await overHttp.send(
      new PutItemCommand({ TableName: table, Item: { ...key('ä'), b: { B: Buffer.from([0, 255]) } } }),
    );
    const item = await read(inProcess, table, 'ä');
    expect(item?.['pk']).toEqual({ S: 'ä' });
    expect([...(item?.['b']?.B ?? [])]).toEqual([0, 255]);
    expect(await read(overHttp, table, 'ä')).toEqual(item);
  });

  test('errors arrive with their fields', async () => {
    const error = await rejection<TransactionCanceledException>(
      overHttp.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            {
              Put: {
                TableName: table,
                Item: key('ä'),
                ConditionExpression: 'attribute_not_exists(pk)',
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
        }),
      ),
    );
    expect(error.CancellationReasons?.[0]?.Item?.['pk']).toEqual({ S: 'ä' });
  });

  test('close lets requests under way end', async () => {
    const other = await createLocalDynamoDB({ transactionMs: 100 });
    const { endpoint } = await other.listen();
    const { region, credentials } = other.clientConfig;
    const client = new DynamoDBClient({ region, credentials, endpoint, maxAttempts: 1 });
    const name = await createTable(client);
    const under = client.send(
      new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: name, Item: key('a') } }] }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.close();
    expect((await under).$metadata.httpStatusCode).toBe(200);
    expect(await rejection(read(client, name, 'a'))).toBeInstanceOf(Error);
    client.destroy();
  });

  test('a port in use rejects with a sentence that says what to do', async () => {
    const error = await rejection(local.listen({ port }));
    expect(error.message).toContain(`Port ${port} is in use`);
    expect(error.message).toContain('choose another port');
  });

  test('answers what it does not know as AWS does', async () => {
    const send = (target: string, body: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: { 'x-amz-target': target }, body });
    const unknown = await send('DynamoDB_20120810.Nothing', '{}');
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toEqual({ __type: 'com.amazon.coral.service#UnknownOperationException' });
    const broken = await send('DynamoDB_20120810.GetItem', '{');
    expect(broken.status).toBe(400);
    expect(((await broken.json()) as { __type: string }).__type).toMatch(/#SerializationException$/);
  });
});

describe('in process', () => {
  test('an aborted request rejects without an effect', async () => {
    const abort = new AbortController();
    abort.abort();
    const error = await rejection(
      inProcess.send(new PutItemCommand({ TableName: table, Item: key('aborted') }), { abortSignal: abort.signal }),
    );
    expect(error.name).toBe('AbortError');
    expect(await read(inProcess, table, 'aborted')).toBeUndefined();
  });

  test('an abort under way rejects at once', async () => {
    const abort = new AbortController();
    const slow = await createLocalDynamoDB({ transactionMs: 200 });
    const client = new DynamoDBClient({ ...slow.clientConfig });
    const name = await createTable(client);
    setTimeout(() => abort.abort(), 20);
    const started = performance.now();
    const error = await rejection(
      client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: name, Item: key('x') } }] }), {
        abortSignal: abort.signal,
      }),
    );
    expect(error.name).toBe('AbortError');
    expect(performance.now() - started).toBeLessThan(150);
    await slow.close();
  });

  test('the log tells operations, tables, units and outcomes, without keys or values', async () => {
    const log: LocalRequest[] = [];
    const stop = local.onRequest((request) => log.push(request));
    const put = (extra: object): Promise<unknown> =>
      inProcess.send(
        new PutItemCommand({ TableName: table, Item: { ...key('secret'), d: { S: 'x'.repeat(2000) } }, ...extra }),
      );
    await put({});
    await rejection(put({ ConditionExpression: 'attribute_not_exists(pk)' }));
    await inProcess.send(new GetItemCommand({ TableName: table, Key: key('secret') }));
    await inProcess.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Delete: { TableName: table, Key: key('secret') } },
          {
            ConditionCheck: {
              TableName: table,
              Key: key('none'),
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ],
      }),
    );
    stop();
    await put({});
    expect(log.map(({ durationMs: _, ...rest }) => rest)).toEqual([
      { operation: 'PutItem', tables: [table], items: 1, writeUnits: 2, readUnits: 0, outcome: 'ok' },
      {
        operation: 'PutItem',
        tables: [table],
        items: 0,
        writeUnits: 2,
        readUnits: 0,
        outcome: 'ConditionalCheckFailedException',
      },
      { operation: 'GetItem', tables: [table], items: 1, writeUnits: 0, readUnits: 0.5, outcome: 'ok' },
      { operation: 'TransactWriteItems', tables: [table], items: 2, writeUnits: 6, readUnits: 0, outcome: 'ok' },
    ]);
    expect(log.every(({ durationMs }) => durationMs >= 0)).toBe(true);
    expect(JSON.stringify(log)).not.toContain('secret');
  });

  test('a closed one refuses requests', async () => {
    const other = await createLocalDynamoDB();
    const client = new DynamoDBClient({ ...other.clientConfig, maxAttempts: 1 });
    await other.close();
    const error = await rejection(client.send(new GetItemCommand({ TableName: table, Key: key('a') })));
    expect(error.message).toBe('This local DynamoDB has been closed');
  });

  test('a closed one neither listens, nor sweeps, nor splits shards', async () => {
    const other = await createLocalDynamoDB();
    const listening = other.listen();
    await other.close();
    for (const late of [listening, other.listen(), other.sweep(), other.splitShards(table)]) {
      expect((await rejection(late)).message).toBe('This local DynamoDB has been closed');
    }
  });
});
