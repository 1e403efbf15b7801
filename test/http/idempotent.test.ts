import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { InvalidInputError, conditionCheck, entity, string } from '../../lib/commands/index.js';
import {
  ProblemError,
  commit,
  idempotent,
  problem,
  refuse,
  type CallLine,
  type HttpCall,
  type HttpResult,
  type IdempotentOptions,
} from '../../lib/http/index.js';
import { embedded } from '../support/dynamodb.js';
import { functionUrlEvent, httpEvent } from './http-event.js';
import { cancelled, connectionLost, meddle, serviceError } from './meddle.js';
import { testTable, type TestTable } from './test-table.js';

const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'N', attributes: { id: string() } });

let ids = 0;

/** An endpoint that stores a note, and the lines that it logged. */
const noteEndpoint = (shop: TestTable, options: Partial<IdempotentOptions<unknown>> = {}) => {
  const lines: CallLine[] = [];
  const handler = idempotent({
    table: shop.table,
    log: (line) => lines.push(line),
    handle: () => {
      const id = `n${ids++}`;
      return commit({ note: shop.table.of(Note).put({ id }) }, { status: 201, body: { id } });
    },
    ...options,
  });
  return { handler, lines };
};

const problemOf = ({ statusCode, headers, body }: HttpResult) => {
  expect(headers['content-type']).toBe('application/problem+json');
  const document = JSON.parse(body ?? '') as { type: string; title: string; status: number; detail: string };
  expect(document).toMatchObject({
    status: statusCode,
    title: expect.any(String) as string,
    detail: expect.any(String) as string,
  });
  expect(body).not.toMatch(/ at .*:\d+/);
  return document;
};

describe('the first call and its repeats', () => {
  it('answers, then replays status, body and allowed headers', async () => {
    const shop = await testTable();
    const answer = { status: 202, headers: { Location: '/n', 'Set-Cookie': 's=1', 'X-Id': '7' }, body: { a: 1 } };
    const { handler } = noteEndpoint(shop, {
      headers: ['Location', 'x-id'],
      handle: () => commit({ note: shop.table.of(Note).put({ id: 'a' }) }, answer),
    });
    expect(await handler(httpEvent())).toEqual({
      statusCode: 202,
      headers: { location: '/n', 'set-cookie': 's=1', 'x-id': '7', 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await handler(httpEvent())).toEqual({
      statusCode: 202,
      headers: { location: '/n', 'x-id': '7', 'idempotent-replayed': 'true' },
      body: '{"a":1}',
    });
  });

  it('replays an answer without body', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop, { handle: () => refuse({ status: 204 }) });
    expect(await handler(httpEvent())).toEqual({ statusCode: 204, headers: {} });
    expect(await handler(httpEvent())).toEqual({ statusCode: 204, headers: { 'idempotent-replayed': 'true' } });
  });

  it('tells callers, routes and keys apart', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    await handler(httpEvent());
    await handler(httpEvent({ authorizer: { iam: { userId: 'AIDAOTHER' } } }));
    await handler(httpEvent({ key: 'k2' }));
    await handler(functionUrlEvent({ path: '/others' }));
    expect(lines.map(({ outcome }) => outcome)).toEqual(['committed', 'committed', 'committed', 'committed']);
  });

  it('takes sessions of one role, and both forms of the key, as one', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    await handler(httpEvent({ authorizer: { iam: { userId: 'AROAX:one' } } }));
    await handler(httpEvent({ authorizer: { iam: { userId: 'AROAX:two' } }, key: '"k1"' }));
    expect(lines.map(({ outcome }) => outcome)).toEqual(['committed', 'replayed']);
  });

  it('with readFirst reads before it runs', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { readFirst: true });
    await handler(httpEvent());
    await handler(httpEvent());
    expect(lines.map(({ dynamodbRequests }) => dynamodbRequests)).toEqual([2, 1]);
  });

  it('hands the handler what it needs', async () => {
    const shop = await testTable();
    let seen: HttpCall | undefined;
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { handler } = noteEndpoint(shop, {
      now: () => 1000,
      handle: (_body, call) => {
        seen = call;
        return refuse({ status: 200 });
      },
    });
    const event = httpEvent({ headers: { traceparent } });
    await handler(event);
    expect(seen).toMatchObject({ event, attempt: 1, now: new Date(1000), traceparent });
    await handler(httpEvent({ key: 'k2', headers: { traceparent: 'nonsense' } }));
    expect(seen?.traceparent).toBeUndefined();
  });
});

describe('problems that are not stored', () => {
  it('422: the key with another request', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    await handler(httpEvent({ body: { a: 1 } }));
    for (const other of [{ body: { a: 2 } }, { query: 'x=1' }, { headers: { 'content-type': 'application/a+json' } }]) {
      const result = await handler(httpEvent({ body: { a: 1 }, ...other }));
      expect(problemOf(result)).toMatchObject({ status: 422, type: 'urn:safewrites:problem:idempotency-key-reused' });
    }
    expect(lines.map(({ outcome }) => outcome)).toEqual(['committed', 'mismatch', 'mismatch', 'mismatch']);
    expect(await shop.items('NOTE')).toHaveLength(1);
  });

  it('409 with Retry-After: others are in the way', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { maxAttempts: 2 });
    meddle(shop.client, (attempt) =>
      attempt.operation === 'TransactWriteItems'
        ? Promise.reject(cancelled('TransactionConflict', 'None'))
        : attempt.send(),
    );
    const result = await handler(httpEvent());
    expect(problemOf(result)).toMatchObject({ status: 409, type: 'urn:safewrites:problem:request-in-progress' });
    expect(result.headers['retry-after']).toBe('1');
    expect(lines).toMatchObject([{ outcome: 'conflict', status: 409, dynamodbRequests: 3 }]);
    expect(await shop.items()).toEqual([]);
  });

  it('409 with Retry-After: an attempt without an answer is open, and its repeats meet others; then its answer', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { maxAttempts: 2 });
    let late: (() => Promise<unknown>) | undefined;
    let isBusy = true;
    meddle(shop.client, (attempt) => {
      if (attempt.operation !== 'TransactWriteItems' || !isBusy) return attempt.send();
      if (late !== undefined) return Promise.reject(cancelled('TransactionConflict', 'None'));
      late = () => attempt.send();
      return Promise.reject(connectionLost());
    });
    const result = await handler(httpEvent());
    random.mockRestore();
    expect(problemOf(result)).toMatchObject({ status: 409, type: 'urn:safewrites:problem:request-in-progress' });
    expect(result.headers['retry-after']).toBe('1');
    expect(lines).toMatchObject([{ outcome: 'conflict' }]);
    expect(await shop.items()).toEqual([]);
    await late?.();
    isBusy = false;
    const [note] = await shop.items('NOTE');
    const again = await handler(httpEvent());
    expect(again).toMatchObject({ statusCode: 201, headers: { 'idempotent-replayed': 'true' } });
    expect(JSON.parse(again.body ?? '')).toEqual({ id: note?.['id']?.S });
    expect(await shop.items('NOTE')).toHaveLength(1);
  });

  it.each([
    ['throttled', () => cancelled('None', 'ThrottlingError')],
    ['failing', () => serviceError('InternalServerError', 500)],
    ['not to be reached', () => Object.assign(new Error('no'), { code: 'EHOSTUNREACH' })],
  ])('503 with Retry-After: DynamoDB is %s', async (_name, error) => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    let broken = true;
    meddle(shop.client, (attempt) => (broken ? Promise.reject(error()) : attempt.send()));
    const result = await handler(httpEvent());
    expect(problemOf(result)).toMatchObject({ status: 503 });
    expect(result.headers['retry-after']).toBe('2');
    expect(lines).toMatchObject([{ outcome: 'unavailable', level: 'WARN' }]);
    broken = false;
    expect(await handler(httpEvent())).toMatchObject({ statusCode: 201 });
  });

  it('500: what trying again does not mend', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    meddle(shop.client, () => Promise.reject(serviceError('AccessDeniedException')));
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
    expect(lines).toMatchObject([{ outcome: 'failed', errorName: 'AccessDeniedException' }]);
  });

  it('500: an error whose name was made up is told of without it', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, {
      handle: () => {
        throw Object.assign(new Error('no'), { name: 'secret of alice' });
      },
    });
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
    expect(lines).toMatchObject([{ outcome: 'failed', errorName: 'Error' }]);
  });

  it('500: a bug of the handler; the log has its name and place, and not its text', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, {
      handle: () => {
        throw new TypeError('cannot read secret-value\n    at secret-value (secret:1:1)');
      },
    });
    const result = await handler(httpEvent());
    expect(problemOf(result)).toMatchObject({ status: 500 });
    expect(lines).toMatchObject([{ outcome: 'failed', level: 'ERROR', errorName: 'TypeError' }]);
    expect(lines[0]?.errorAt?.[0]).toContain('idempotent.test.ts');
    expect(JSON.stringify([result, lines])).not.toContain('secret');
    expect(await shop.items()).toEqual([]);
  });

  it('500: a failed condition that the handler does not decide', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, {
      handle: () => commit({ note: conditionCheck(shop.table.of(Note), { id: 'secret' }).ifExists() }, { status: 201 }),
    });
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
    expect(lines[0]?.errorMessage).toContain('note: ConditionalCheckFailed');
    expect(JSON.stringify(lines)).not.toContain('secret');
    expect(await shop.items()).toEqual([]);
  });

  it.each([{ status: 500 }, { status: 200, body: 'x'.repeat(409_600) }, { status: 200, headers: { 'a b': 'c' } }])(
    '500: an answer that can not be stored (%#)',
    async (answer) => {
      const shop = await testTable();
      const { handler, lines } = noteEndpoint(shop, {
        handle: () => commit({ note: shop.table.of(Note).put({ id: 'a' }) }, answer),
      });
      expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
      expect(lines[0]?.errorMessage).toMatch(/^answer/);
      expect(await shop.items()).toEqual([]);
    },
  );

  it('the status that the handler throws', async () => {
    const shop = await testTable();
    let teapot = true;
    const { handler, lines } = noteEndpoint(shop, {
      handle: () => {
        if (teapot) throw new ProblemError({ status: 418, title: "I'm a teapot", detail: 'Short and stout.' });
        return refuse({ status: 200 });
      },
    });
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 418, title: "I'm a teapot" });
    teapot = false;
    expect(await handler(httpEvent())).toMatchObject({ statusCode: 200 });
    expect(lines.map(({ outcome }) => outcome)).toEqual(['invalid', 'refused']);
  });

  it('500: a thrown problem that is none', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop, {
      handle: () => {
        throw new ProblemError({ status: 400, detail: 'd', headers: { 'a b': 'c' } });
      },
    });
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
  });

  it('500: what is no HTTP event of format 2.0', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop);
    for (const event of [{}, null, undefined, { version: '1.0', httpMethod: 'POST', path: '/' }]) {
      expect(problemOf(await handler(event as never))).toMatchObject({ status: 500 });
    }
    expect(lines[0]?.errorMessage).toContain('payload format 2.0');
  });

  it.each([
    ['no authorizer', null, undefined],
    ['an authorizer that names nobody', { lambda: { principalId: 'p' } }, undefined],
    ['a scope function without answer', undefined, () => undefined],
    ['a scope function with an empty answer', undefined, () => ''],
  ])('500: %s', async (_name, authorizer, scope) => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { ...(scope && { scope }) });
    const event = httpEvent({ ...(authorizer !== undefined && { authorizer }) });
    expect(problemOf(await handler(event))).toMatchObject({ status: 500 });
    expect(lines[0]?.errorMessage).toBe(
      'scope: nothing says whose key it is: add an IAM or JWT authorizer, or a scope function',
    );
    expect(shop.requests).toEqual([]);
  });

  it('takes the scope of a function where there is no authorizer', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop, { scope: ({ headers }) => headers?.['x-tenant'] });
    const call = (tenant: string) => handler(functionUrlEvent({ authorizer: null, headers: { 'x-tenant': tenant } }));
    const results = [await call('a'), await call('a'), await call('b')];
    expect(results.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true', undefined]);
  });
});

describe('the body', () => {
  const schema = v.strictObject({ name: v.string() });

  it('is checked, and its type follows from the schema', async () => {
    const shop = await testTable();
    const handler = idempotent({
      table: shop.table,
      log: () => undefined,
      schema,
      handle: ({ name }) => refuse({ status: 200, body: name.toUpperCase() }),
    });
    expect(await handler(httpEvent({ body: { name: 'a' } }))).toMatchObject({ body: '"A"' });
  });

  it('that the schema refuses is told by its places only', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { schema });
    const result = await handler(httpEvent({ body: { name: 424242, 'se cret': 'value-of-it' } }));
    expect(problemOf(result)).toMatchObject({
      status: 400,
      type: 'urn:safewrites:problem:body-invalid',
      errors: [{ pointer: '/name' }, { pointer: '/*' }],
    });
    expect(JSON.stringify([result, lines])).not.toMatch(/424242|value-of-it|se cret/);
    expect(shop.requests).toEqual([]);
  });

  it('may be absent where there is no schema', async () => {
    const shop = await testTable();
    let body: unknown = 'unseen';
    const { handler } = noteEndpoint(shop, { handle: (seen) => ((body = seen), refuse({ status: 200 })) });
    await handler(httpEvent());
    expect(body).toBeUndefined();
  });

  it('is bounded by an option', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop, { maximumBodyBytes: 5 });
    expect((await handler(httpEvent({ body: '"123"' }))).statusCode).toBe(201);
    expect(problemOf(await handler(httpEvent({ body: '"1234"' })))).toMatchObject({ status: 413 });
  });
});

describe('the deadline', () => {
  const context = (remaining: number) => ({ getRemainingTimeInMillis: () => remaining });

  it('ends a call with 503 before it comes, and aborts what the handler does', async () => {
    const shop = await testTable();
    let reason: unknown;
    const { handler, lines } = noteEndpoint(shop, {
      deadlineMarginMs: 100,
      handle: async (_body, { signal }) => {
        await wait(10_000, undefined, { signal }).catch((error: Error) => (reason = error.name));
        throw new Error('too late');
      },
    });
    const started = performance.now();
    const result = await handler(httpEvent(), context(150));
    expect(performance.now() - started).toBeLessThan(5000);
    expect(problemOf(result)).toMatchObject({ status: 503 });
    expect(result.headers['retry-after']).toBe('2');
    expect(lines).toMatchObject([{ outcome: 'unavailable', status: 503 }]);
    await vi.waitFor(() => expect(reason).toBe('AbortError'));
    expect(await shop.items()).toEqual([]);
  });

  it('does not matter to a call in time, nor where nothing tells it', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop);
    expect(await handler(httpEvent(), context(10_000))).toMatchObject({ statusCode: 201 });
    expect(await handler(httpEvent({ key: 'k2' }), {})).toMatchObject({ statusCode: 201 });
  });
});

describe('the handler', () => {
  it('has two parameters, since Lambda takes a third for a callback', async () => {
    expect(noteEndpoint(await testTable()).handler).toHaveLength(2);
  });

  it('takes middlewares, which see requests and answers and may answer errors', async () => {
    const shop = await testTable();
    const { handler } = noteEndpoint(shop);
    const seen: string[] = [];
    const same = handler.use({
      before: () => void seen.push('before'),
      after: (request: { response: HttpResult }) => void (request.response.headers['x-after'] = '1'),
      onError: (request: { response?: HttpResult }) => void (request.response = { statusCode: 400, headers: {} }),
    });
    expect(same).toBe(handler);
    expect((await handler(httpEvent())).headers['x-after']).toBe('1');
    expect(await handler(httpEvent({ key: null }))).toEqual({ statusCode: 400, headers: {} });
    expect(seen).toEqual(['before', 'before']);
  });

  it('answers 500 where a middleware throws', async () => {
    const { handler } = noteEndpoint(await testTable());
    handler.use({
      before: () => {
        throw new Error('secret');
      },
    });
    expect(problemOf(await handler(httpEvent()))).toMatchObject({ status: 500 });
  });

  it('answers 500 where a middleware throws over an error', async () => {
    const { handler, lines } = noteEndpoint(await testTable());
    handler.use({
      onError: () => {
        throw new RangeError('secret');
      },
    });
    expect(problemOf(await handler(httpEvent({ key: null })))).toMatchObject({ status: 500 });
    expect(lines).toMatchObject([{ outcome: 'failed', errorName: 'RangeError' }]);
  });

  it('writes one line of JSON per call by default, which CloudWatch takes metrics from', async () => {
    const shop = await testTable();
    // Lambda would wrap what console.log is given.
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const handler = idempotent({ table: shop.table, handle: () => refuse(problem({ status: 403, detail: 'd' })) });
    await handler(httpEvent({ key: 'secret-key' }));
    const lines = write.mock.calls.map(([text]) => String(text));
    write.mockRestore();
    const [text, other] = lines.filter((found) => found.includes('idempotent call'));
    expect(other).toBeUndefined();
    expect(text).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(text!)).toEqual({
      _aws: {
        Timestamp: expect.any(Number) as number,
        CloudWatchMetrics: [
          {
            Namespace: 'SafeWrites',
            Dimensions: [['function']],
            Metrics: [
              { Name: 'Refused', Unit: 'Count' },
              { Name: 'Duration', Unit: 'Milliseconds' },
            ],
          },
        ],
      },
      function: 'endpoint',
      Refused: 1,
      Duration: expect.any(Number) as number,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      level: 'INFO',
      message: 'idempotent call',
      outcome: 'refused',
      status: 403,
      replayed: false,
      dynamodbRequests: 1,
      durationMs: expect.any(Number) as number,
      requestId: 'request-1',
    });
  });

  it('counts the requests of each call apart from others at the same time', async () => {
    const shop = await testTable();
    const { handler, lines } = noteEndpoint(shop, { readFirst: true });
    await Promise.all(['a', 'b', 'c'].map((key) => handler(httpEvent({ key }))));
    expect(lines.map(({ dynamodbRequests }) => dynamodbRequests)).toEqual([2, 2, 2]);
    if (embedded) expect(shop.requests).toHaveLength(6);
  });

  it.each([{ route: 'charges' }, { horizonSeconds: 0 }, { maxAttempts: 0 }])('is not made of %j', async (options) => {
    const shop = await testTable();
    expect(() => noteEndpoint(shop, options)).toThrow(InvalidInputError);
  });
});
