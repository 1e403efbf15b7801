import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killAll, npmStart, npmStartRefused } from './npm-start.js';
import type { RunningStart } from './npm-start.js';

const dataDir = mkdtempSync(join(tmpdir(), 'safewrites-e2e-'));
const charge = { customerId: 'alice', amount: 1250, currency: 'EUR' };

let app: RunningStart;

beforeAll(async () => {
  app = await npmStart(['--data-dir', dataDir]);
});
afterAll(() => killAll());

interface Answer {
  readonly status: number;
  readonly replayed: string | null;
  readonly retryAfter: string | null;
  readonly contentType: string | null;
  readonly text: string;
}

async function post(key: string | undefined, body: unknown = charge, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${app.url}/charges`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...init.headers,
    },
  });
  const { status, headers } = response;
  return {
    status,
    replayed: headers.get('idempotent-replayed'),
    retryAfter: headers.get('retry-after'),
    contentType: headers.get('content-type'),
    text: await response.text(),
  };
}

/** How many charges the table holds: the items that are neither an idempotency record nor an outbox event. */
async function storedCharges(): Promise<number> {
  return (await app.items()).filter((item) => item['_type']?.S === 'CHARGE').length;
}

describe('POST /charges on npm start', () => {
  let first: Answer;

  it('answers the first call with 201', async () => {
    first = await post('order-1');
    expect(first).toMatchObject({ status: 201, replayed: null });
    expect(await storedCharges()).toBe(1);
  });

  it('answers the same key and body with the same status and body, marked as replayed', async () => {
    expect(await post('order-1')).toEqual({ ...first, replayed: 'true' });
    expect(await storedCharges()).toBe(1);
  });

  it('refuses the same key with another body: 422', async () => {
    expect(await post('order-1', { ...charge, amount: 9900 })).toMatchObject({
      status: 422,
      contentType: expect.stringContaining('application/problem+json') as unknown,
    });
    expect(await storedCharges()).toBe(1);
  });

  it('refuses a call without key: 400', async () => {
    expect(await post(undefined)).toMatchObject({
      status: 400,
      contentType: expect.stringContaining('application/problem+json') as unknown,
    });
    expect(await storedCharges()).toBe(1);
  });

  it('stores one charge for 50 concurrent calls with one key', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('order-50')));
    const done = answers.filter(({ status }) => status === 201);
    const busy = answers.filter(({ status }) => status === 409);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length + busy.length).toBe(50);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    for (const { retryAfter } of busy) expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(await storedCharges()).toBe(2);
  });

  it.each([
    ['no JSON', '{"customerId":'],
    ['no object', '[]'],
    ['an amount as text', { ...charge, amount: '1250' }],
    ['a fraction', { ...charge, amount: 12.5 }],
    ['an amount of 0', { ...charge, amount: 0 }],
    ['a negative amount', { ...charge, amount: -1 }],
    ['an amount above 2^53', '{"customerId":"alice","amount":9007199254740993,"currency":"EUR"}'],
    ['no such currency', { ...charge, currency: 'EURO' }],
    ['a __proto__', '{"customerId":"alice","amount":1,"currency":"EUR","__proto__":{"amount":2}}'],
    ['deep nesting', '['.repeat(100_000)],
  ])('refuses %s as a problem, and stores nothing', async (_what, body) => {
    const before = (await app.items()).length;
    const answer = await post('order-bad', body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.contentType).toContain('application/problem+json');
    expect(answer.text).not.toMatch(/\bat .+:\d+:\d+/);
    expect(await app.items()).toHaveLength(before);
  });

  it.each([0xff, 0xfe])('refuses a text with the byte %i, which is no UTF-8: 400', async (byte) => {
    const body = Buffer.from(JSON.stringify({ ...charge, customerId: 'a?' }));
    body[body.indexOf('?')] = byte;
    expect(await post('order-bytes', '', { body })).toMatchObject({
      status: 400,
      text: expect.stringContaining('not JSON in UTF-8') as unknown,
    });
  });

  it.each([
    ['an empty key', ''],
    ['an over-long key', 'k'.repeat(5000)],
    ['a key beyond ASCII', 'clé'],
    ['two keys', 'order-1, order-2'],
  ])('refuses %s: 400', async (_what, key) => {
    expect(await post(key)).toMatchObject({ status: 400 });
  });

  it('answers 413 to a body of 7 MB, as the gateway does before the function', async () => {
    expect(await post('order-big', 'x'.repeat(7 * 1024 * 1024))).toMatchObject({ status: 413 });
  });

  it.each([
    ['another method', '/charges', 'GET', 405],
    ['another path', '/refunds', 'POST', 404],
  ])('refuses %s as a problem', async (_what, path, method, status) => {
    const answer = await fetch(`${app.url}${path}`, { method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
  });

  it('prints each call, what it asked of DynamoDB and the write units, and no key or value', () => {
    // State and events are shown with their contents, in lines of their own.
    const printed = app.output().split('Ctrl-C stops.')[1]!.split('\n');
    const output = printed.filter((line) => !/^(State|Event)/.test(line)).join('\n');
    expect(output).toMatch(
      /POST \/charges 201 \d+ ms \| DynamoDB: 1 request, \d+ write units: TransactWriteItems of \d/,
    );
    expect(output).toMatch(/POST \/charges 201 \(replayed\) \d+ ms \| DynamoDB: 1 request/);
    expect(output).not.toMatch(/order-|alice|1250/);
  });

  it('ends with 0 at Ctrl-C, and replays after a restart with the data folder', async () => {
    expect(await app.interrupt()).toBe(0);
    app = await npmStart(['--data-dir', dataDir]);
    expect(await post('order-1')).toEqual({ ...first, replayed: 'true' });
    expect(await storedCharges()).toBe(2);
  });
});

describe('npm start', () => {
  it('says in one sentence that the port is in use', async () => {
    const { code, output } = await npmStartRefused([], { PORT: new URL(app.url).port });
    expect(code).toBe(1);
    expect(output).toMatch(/^Port \d+ is in use: .+PORT=\d+ npm start$/m);
    expect(output).not.toMatch(/\n +at /);
  });

  it('says in one sentence that the data folder is in use, or no folder', async () => {
    const used = await npmStartRefused(['--data-dir', dataDir]);
    expect(used.code).toBe(1);
    expect(used.output).toContain(`The data folder ${dataDir} cannot be opened`);
    const file = await npmStartRefused(['--data-dir', 'package.json']);
    expect(file.code).toBe(1);
    expect(file.output).toContain('The data folder package.json cannot be written');
  });

  it('ends with 0 at SIGTERM', async () => {
    expect(await app.interrupt('SIGTERM')).toBe(0);
  });
});
