import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEventV2WithIAMAuthorizer } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LocalApp } from '../../lib/local/start/local-app.js';
import { startLocalApp } from '../../lib/local/start/local-app.js';
import { StartError } from '../../lib/local/start/start-error.js';
import { keepAliveClient } from './keep-alive-client.js';
import { synthesizeProbeApp } from './probe-app.js';

let directory: string;
let app: LocalApp;
const printed: string[] = [];

const start = (dataDir?: string, port = 0) =>
  startLocalApp({ port, dataDir, assembly: () => Promise.resolve(directory), print: (line) => printed.push(line) });

beforeAll(async () => {
  directory = await synthesizeProbeApp();
  app = await start();
});
afterAll(() => app?.close());
beforeEach(() => {
  printed.length = 0;
});

const probe = (body: unknown, init: RequestInit = {}) =>
  fetch(`${app.url}/probe`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
  });

interface Echo {
  event: APIGatewayProxyEventV2WithIAMAuthorizer;
  environment: Record<string, string>;
  remaining: number;
}

const clientOf = ({ dynamodbEndpoint }: LocalApp) =>
  new DynamoDBClient({
    endpoint: dynamodbEndpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

describe('a running app', () => {
  it('calls the function with the payload, the environment and the deadline that Lambda would give it', async () => {
    const response = await probe({ mode: 'echo' }, { headers: { 'X-Test': 'a' } });
    const { event, environment, remaining } = (await response.json()) as Echo;
    expect(response.status).toBe(200);
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'POST /probe',
      rawPath: '/probe',
      headers: { 'x-test': 'a', 'content-type': 'application/json' },
      body: '{"mode":"echo"}',
      isBase64Encoded: false,
    });
    expect(event.requestContext.authorizer.iam.userId).toMatch(/^AIDALOCAL/);
    expect(environment).toEqual({ TABLE_NAME: app.app.tables[0]!.name, NODE_OPTIONS: '--enable-source-maps' });
    expect(remaining).toBeGreaterThan(1000);
    expect(printed).toContain('  seen');
  });

  it('turns the answer back into HTTP', async () => {
    const response = await probe({ mode: 'answer' });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('x-number')).toBe('7');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255]);
    expect(printed[0]).toMatch(/^POST \/probe 201 \(replayed\) \d+ ms \| DynamoDB: no request$/);
  });

  it('answers what is no response as JSON', async () => {
    const response = await probe({ mode: 'plain' });
    expect([response.status, await response.json()]).toEqual([200, { hello: 'world' }]);
  });

  it.each([
    ['throws', 'throw', 'the function failed'],
    ['runs past its timeout', 'hang', 'the function timed out'],
    ['ends its process', 'exit', 'the function crashed'],
    ['answers more than Lambda carries', 'large', undefined],
  ])('answers 500 for a function that %s, and takes the next call', async (_what, mode, note) => {
    const response = await probe({ mode });
    expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }]);
    if (note !== undefined) expect(printed.at(-1)).toContain(note);
    expect((await probe({ mode: 'plain' })).status).toBe(200);
  });

  it.each([
    ['another path', 'POST', '/probes'],
    ['another method', 'GET', '/probe'],
    ['a path below', 'POST', '/probe/1'],
  ])('answers 404 to %s, and prints no path', async (_what, method, path) => {
    const response = await fetch(`${app.url}${path}`, { method });
    expect([response.status, await response.json()]).toEqual([404, { message: 'Not Found' }]);
    expect(printed[0]).toMatch(new RegExp(`^${method} to no route 404 \\d+ ms`));
  });

  it.each([
    ['7 MB, above what Lambda takes', 7],
    ['11 MB, above what API Gateway takes', 11],
  ])('answers 413 to a body of %s', async (_what, megabytes) => {
    const response = await probe('x'.repeat(megabytes * 1024 * 1024));
    expect([response.status, await response.json()]).toEqual([413, { message: 'Request Entity Too Large' }]);
  });

  it('joins repeated headers', async () => {
    const body = await new Promise<string>((resolve, reject) => {
      const call = request(`${app.url}/probe`, { method: 'POST' }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk))).on('end', () => resolve(text));
      });
      call.on('error', reject);
      call.setHeader('Idempotency-Key', ['one', 'two']);
      call.end('{}');
    });
    expect((JSON.parse(body) as Echo).event.headers['idempotency-key']).toBe('one,two');
  });

  it('prints for each call its own DynamoDB requests, also when calls overlap', async () => {
    const writes = [0, 1, 2, 3, 4, 5];
    await Promise.all(writes.map((count) => probe({ writes: count, mode: 'plain' })));
    const totals = printed
      .filter((line) => !line.startsWith('State: '))
      .map((line) => /DynamoDB: (no request|[^:]+)/.exec(line)?.[1]);
    expect(totals.sort()).toEqual([
      '1 request, 1 write unit',
      ...[2, 3, 4, 5].map((count) => `${count} requests, ${count} write units`),
      'no request',
    ]);
  });

  it('has the table of the template: keys, stream and time to live', async () => {
    const client = clientOf(app);
    const TableName = app.app.tables[0]!.name;
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    expect(Table?.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
    client.destroy();
  });
});

describe('stopping', () => {
  const untilPrinted = async (text: string, times: number) =>
    vi.waitFor(() => expect(printed.filter((line) => line.includes(text)).length).toBeGreaterThanOrEqual(times));

  it('answers all calls in progress, and no client with open connections loses one', async () => {
    const stopping = await start();
    const clients = Array.from({ length: 8 }, () => keepAliveClient(`${stopping.url}/probe`));
    const calling = Promise.all(clients.map((client) => client.callUntilRefused('{"mode":"plain","writes":1}')));
    await untilPrinted('POST /probe 200', 80);
    await stopping.close();
    const ends = await calling;
    expect(ends.map(({ refusal }) => refusal)).toEqual(clients.map(() => 'ECONNREFUSED'));
    expect(new Set(ends.flatMap(({ statuses }) => statuses))).toEqual(new Set([200]));
    expect(ends.map(({ lastConnection }) => lastConnection)).toEqual(clients.map(() => 'close'));
    expect(printed.join('\n')).not.toMatch(/crashed|failed| 500 /);
  });

  it('waits for a slow call, takes no new connection meanwhile, and waits for none that asks nothing', async () => {
    const stopping = await start();
    const { hostname, port } = new URL(stopping.url);
    const silent = connect(Number(port), hostname);
    await new Promise((resolve) => silent.once('connect', resolve));
    const slow = keepAliveClient(`${stopping.url}/probe`).callUntilRefused('{"mode":"slow"}');
    await untilPrinted('waits', 1);
    const closed = stopping.close();
    await expect(fetch(`${stopping.url}/probe`)).rejects.toThrow();
    expect(await slow).toEqual({ statuses: [200], lastConnection: 'close', refusal: 'ECONNREFUSED' });
    await closed;
    silent.destroy();
  });

  it('does not wait for ever: a function that hangs ends at its timeout', async () => {
    const stopping = await start();
    const hanging = keepAliveClient(`${stopping.url}/probe`).callUntilRefused('{"mode":"hang"}');
    await untilPrinted('hangs', 1);
    await stopping.close();
    expect((await hanging).statuses).toEqual([500]);
    expect(printed.at(-1)).toContain('the function timed out');
  });
});

describe('starting', () => {
  it('keeps the items in a data folder', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-data-'));
    const first = await start(dataDir);
    await fetch(`${first.url}/probe`, { method: 'POST', body: '{"mode":"plain","writes":3}' });
    await first.close();
    const second = await start(dataDir);
    const client = clientOf(second);
    const { Count } = await client.send(new ScanCommand({ TableName: second.app.tables[0]!.name }));
    client.destroy();
    await second.close();
    expect(Count).toBe(3);
  });

  const refusal = async (starting: Promise<LocalApp>) => {
    const error = await starting.then(
      (started) => started.close(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StartError);
    return (error as Error).message;
  };

  it('says which port is in use', async () => {
    const port = Number(new URL(app.url).port);
    expect(await refusal(start(undefined, port))).toBe(
      `Port ${port} is in use: stop what runs there, or take another: PORT=${port + 1} npm start`,
    );
  });

  it('says that a data folder cannot be made, or is in use', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'safewrites-data-')), 'file');
    writeFileSync(file, '');
    expect(await refusal(start(file))).toContain('cannot be written');
    const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-data-'));
    const first = await start(dataDir);
    expect(await refusal(start(dataDir))).toContain(`${dataDir} cannot be opened, because another process uses it`);
    await first.close();
  });

  it.skipIf(process.platform !== 'linux')(
    'says at once that a folder which takes no folder cannot be written',
    async () => {
      expect(await refusal(start('/proc/safewrites/data'))).toContain('name a folder of your own with --data-dir');
    },
  );

  it('makes the folders above a data folder', async () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), 'safewrites-data-')), 'a/b');
    await (await start(dataDir)).close();
    expect(readdirSync(dataDir)).toContain('CURRENT');
  });

  it('says that a folder holds something else, and leaves nothing in it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-data-'));
    writeFileSync(join(dataDir, 'letter.txt'), 'dear');
    const message = await refusal(start(dataDir));
    expect(message).toContain('holds other files and no database');
    expect(message).toContain('--data-dir');
    expect(readdirSync(dataDir)).toEqual(['letter.txt']);
  });

  it('says that a data folder is damaged', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-data-'));
    await (await start(dataDir)).close();
    writeFileSync(join(dataDir, 'CURRENT'), 'MANIFEST-999999\n');
    const message = await refusal(start(dataDir));
    expect(message).toContain('damaged');
    expect(message).toContain('--data-dir');
    expect(message).not.toContain('another process');
  });

  it('takes a folder in which a first start was cut short', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-data-'));
    writeFileSync(join(dataDir, 'LOCK'), '');
    await (await start(dataDir)).close();
  });

  it.each([
    ['does not parse', 'export const handler = async () => {}; throw new Error("no luck")', 'no luck'],
    ['exports no handler', 'export const handle = 1', 'it exports no function "handler"'],
    ['ends the process', 'process.exit(4)', 'its process ended'],
  ])('says that a bundle %s', async (_what, bundle, reason) => {
    const broken = await synthesizeProbeApp(bundle);
    const message = await refusal(
      startLocalApp({ port: 0, dataDir: undefined, assembly: () => Promise.resolve(broken), print: () => undefined }),
    );
    expect(message).toContain('cannot be loaded');
    expect(message).toContain(reason);
  });

  it('says what to run where nothing is synthesized', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'safewrites-empty-'));
    const message = await refusal(
      startLocalApp({ port: 0, dataDir: undefined, assembly: () => Promise.resolve(empty), print: () => undefined }),
    );
    expect(message).toContain('run `npm run synth`');
  });
});
