import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  LimitExceededError,
  TransactionCanceledException,
  conditionCheck,
  entity,
  integer,
  string,
} from '../../../lib/commands/index.js';
import {
  IdempotencyRecord,
  commit,
  fingerprintOf,
  idempotencyKey,
  idempotentTransaction,
  refuse,
  type Answer,
  type IdempotentCall,
} from '../../../lib/recipes/index.js';
import { embedded } from '../../support/dynamodb.js';
import { cancelled, connectionLost, loseAnswer, meddle, serviceError } from '../../http/meddle.js';
import { testTable, type TestTable } from '../../http/test-table.js';

const Effect = entity('EFFECT', { pk: 'EFFECT#{id}', sk: 'E', attributes: { id: string(), by: integer() } });
const Gate = entity('GATE', { pk: 'GATE#{id}', sk: 'G', attributes: { id: string(), open: integer() } });

const start = Date.UTC(2026, 11, 1);
let ids = 0;

/** A call that writes one effect of its own and answers with its id. */
const callOn = ({ table }: TestTable, change: Partial<IdempotentCall> = {}): IdempotentCall => ({
  scope: 'alice',
  route: 'POST /effects',
  key: 'k1',
  fingerprint: fingerprintOf(1, ['body']),
  horizonSeconds: 60,
  now: () => start,
  run: () => {
    const id = `e${ids++}`;
    return commit({ effect: table.of(Effect).put({ id, by: 1 }).ifNotExists() }, answerWith(id));
  },
  ...change,
});

const answerWith = (body: string): Answer => ({ status: 201, headers: { location: `/effects/${body}` }, body });

/** A call whose effect needs an open gate, and answers `closed` where it is not. */
const gated = (shop: TestTable, change: Partial<IdempotentCall> = {}): IdempotentCall =>
  callOn(shop, {
    run: () => {
      const id = `e${ids++}`;
      return commit(
        {
          effect: shop.table.of(Effect).put({ id, by: 1 }),
          gate: conditionCheck(shop.table.of(Gate), { id: 'g' }).if(Gate.attrs.open.eq(1)),
        },
        answerWith(id),
        (failed) => (failed.gate ? { status: 409, body: 'closed' } : undefined),
      );
    },
    ...change,
  });

const setGate = (shop: TestTable, open: number) => shop.table.of(Gate).put({ id: 'g', open }).send();

/** Operations with their write and read units. */
const costs = ({ requests }: TestTable) =>
  requests.map(({ operation, writeUnits, readUnits }) => [operation, writeUnits, readUnits]);

describe('a first call', () => {
  it('commits the effect with its answer, by one request', async () => {
    const shop = await testTable();
    const result = await idempotentTransaction(shop.table, callOn(shop));
    expect(result).toMatchObject({ outcome: 'committed', replayed: false, answer: { status: 201 } });
    expect(await shop.items('EFFECT')).toHaveLength(1);
    if (embedded) expect(costs(shop)).toEqual([['TransactWriteItems', 4, 0]]);
  });

  it('stores no part of the client key, and an expiry after the horizon', async () => {
    const shop = await testTable();
    await idempotentTransaction(shop.table, callOn(shop, { key: 'secret-key', scope: 'secret-scope' }));
    const [record] = await shop.items('IDEMPOTENCY');
    expect(JSON.stringify(record)).not.toContain('secret');
    expect(record).toMatchObject({ format: { N: '1' }, algorithm: { N: '1' }, ttl: { N: String(start / 1000 + 60) } });
  });

  it('keeps the answer as it was when the call returned it', async () => {
    const shop = await testTable();
    const answer = { status: 201, headers: { location: '/a' }, body: 'a' };
    meddle(shop.client, (attempt) => {
      answer.body = answer.headers.location = 'changed';
      return attempt.send();
    });
    const call = callOn(shop, { run: () => commit({ e: shop.table.of(Effect).put({ id: 'a', by: 1 }) }, answer) });
    const first = await idempotentTransaction(shop.table, call);
    const second = await idempotentTransaction(shop.table, call);
    expect(first.answer).toEqual({ status: 201, headers: { location: '/a' }, body: 'a' });
    expect(second.answer).toEqual(first.answer);
  });

  it('refuses an answer that does not fit the record before anything is sent', async () => {
    const shop = await testTable();
    const call = callOn(shop, {
      run: () => commit({ e: shop.table.of(Effect).put({ id: 'a', by: 1 }) }, { body: 'x'.repeat(409_600) }),
    });
    const failure = idempotentTransaction(shop.table, call);
    await expect(failure).rejects.toThrow(LimitExceededError);
    await expect(failure).rejects.toThrow(/^answer: does not fit the record that keeps it; /);
    expect(await shop.items()).toEqual([]);
    expect(shop.requests).toEqual([]);
  });

  it.each([0, -1, NaN, 86_400_000])('refuses a horizon of %d seconds', async (horizonSeconds) => {
    const shop = await testTable();
    await expect(idempotentTransaction(shop.table, callOn(shop, { horizonSeconds }))).rejects.toThrow(
      InvalidInputError,
    );
  });

  it("refuses a step that has the record's name", async () => {
    const shop = await testTable();
    const run = () => commit({ idempotencyRecord: shop.table.of(Effect).put({ id: 'a', by: 1 }) }, {});
    await expect(idempotentTransaction(shop.table, callOn(shop, { run }))).rejects.toThrow(InvalidInputError);
  });

  it('stores nothing where the run throws', async () => {
    const shop = await testTable();
    const run = () => Promise.reject(new TypeError('bug'));
    await expect(idempotentTransaction(shop.table, callOn(shop, { run }))).rejects.toThrow(TypeError);
    expect(await shop.items()).toEqual([]);
  });
});

describe('a repeat', () => {
  it('answers as the first call and writes nothing, by one request', async () => {
    const shop = await testTable();
    const first = await idempotentTransaction(shop.table, callOn(shop));
    shop.requests.length = 0;
    const second = await idempotentTransaction(shop.table, callOn(shop));
    expect(second).toEqual({ outcome: 'replayed', replayed: true, answer: first.answer });
    expect(await shop.items('EFFECT')).toHaveLength(1);
    if (embedded) expect(costs(shop)).toEqual([['TransactWriteItems', 4, 0]]);
  });

  it('with readFirst takes one read and does not run; a first call one request more', async () => {
    const shop = await testTable();
    const first = await idempotentTransaction(shop.table, callOn(shop, { readFirst: true }));
    const run = () => Promise.reject(new Error('not to be run'));
    const second = await idempotentTransaction(shop.table, callOn(shop, { readFirst: true, run }));
    expect(second).toEqual({ outcome: 'replayed', replayed: true, answer: first.answer });
    if (embedded) {
      expect(costs(shop)).toEqual([
        ['GetItem', 0, 1],
        ['TransactWriteItems', 4, 0],
        ['GetItem', 0, 1],
      ]);
    }
  });

  it.each([false, true])('of another request is a mismatch (readFirst: %s)', async (readFirst) => {
    const shop = await testTable();
    await idempotentTransaction(shop.table, callOn(shop));
    const other = callOn(shop, { fingerprint: fingerprintOf(1, ['other body']), readFirst });
    expect(await idempotentTransaction(shop.table, other)).toEqual({ outcome: 'mismatch', replayed: false });
    expect(await shop.items('EFFECT')).toHaveLength(1);
  });

  it('is replayed where another algorithm made the fingerprint', async () => {
    const shop = await testTable();
    await idempotentTransaction(shop.table, callOn(shop));
    const later = callOn(shop, { fingerprint: fingerprintOf(2, ['other parts']) });
    expect(await idempotentTransaction(shop.table, later)).toMatchObject({ outcome: 'replayed' });
  });

  it.each([{ scope: 'bob' }, { route: 'POST /others' }, { key: 'k2' }])(
    'with another scope, route or key is a first call',
    async (change) => {
      const shop = await testTable();
      await idempotentTransaction(shop.table, callOn(shop));
      expect(await idempotentTransaction(shop.table, callOn(shop, change))).toMatchObject({ outcome: 'committed' });
    },
  );

  it.each([false, true])(
    'is replayed to the last millisecond, and a first call from then on (readFirst: %s)',
    async (readFirst) => {
      const shop = await testTable();
      const at = (now: number) => idempotentTransaction(shop.table, callOn(shop, { now: () => now, readFirst }));
      await at(start);
      expect(await at(start + 59_999)).toMatchObject({ outcome: 'replayed' });
      // The expired item is still in the table, as it is on AWS for days.
      expect(await at(start + 60_000)).toMatchObject({ outcome: 'committed' });
      expect(await shop.items('EFFECT')).toHaveLength(2);
      expect(await shop.items('IDEMPOTENCY')).toHaveLength(1);
      // A clock that goes back meets the new record, and nothing else.
      expect(await at(start)).toMatchObject({ outcome: 'replayed' });
    },
  );

  it('of a record in a newer format is neither replayed nor overwritten', async () => {
    const shop = await testTable();
    await shop.table
      .of(IdempotencyRecord)
      .put({
        key: idempotencyKey({ scope: 'alice', route: 'POST /effects', key: 'k1' }),
        format: 2,
        algorithm: 1,
        fingerprint: 'f',
        expiresAt: new Date(start + 1000),
      })
      .send();
    await expect(idempotentTransaction(shop.table, callOn(shop))).rejects.toThrow(InvalidStoredItemError);
    expect(await shop.items('EFFECT')).toEqual([]);
  });

  it('reads the record where a failed condition may not return it', async () => {
    const shop = await testTable();
    const first = await idempotentTransaction(shop.table, callOn(shop));
    meddle(shop.client, (attempt) => {
      const [record] = (attempt.body['TransactItems'] ?? []) as { Put: Record<string, unknown> }[];
      if (record) delete record.Put['ReturnValuesOnConditionCheckFailure'];
      return attempt.send();
    });
    expect(await idempotentTransaction(shop.table, callOn(shop))).toMatchObject({
      outcome: 'replayed',
      answer: first.answer,
    });
  });
});

describe('a refusal', () => {
  it('of a failed condition is stored: a repeat gets it though the state has changed', async () => {
    const shop = await testTable();
    await setGate(shop, 0);
    shop.requests.length = 0;
    const refused = { answer: { status: 409, body: 'closed' } };
    expect(await idempotentTransaction(shop.table, gated(shop))).toMatchObject({ outcome: 'refused', ...refused });
    if (embedded) expect(costs(shop).map(([operation]) => operation)).toEqual(['TransactWriteItems', 'PutItem']);
    await setGate(shop, 1);
    expect(await idempotentTransaction(shop.table, gated(shop))).toMatchObject({ outcome: 'replayed', ...refused });
    expect(await shop.items('EFFECT')).toEqual([]);
  });

  it('comes second: a call that succeeded is replayed though its condition fails now', async () => {
    const shop = await testTable();
    await setGate(shop, 1);
    const first = await idempotentTransaction(shop.table, gated(shop));
    await setGate(shop, 0);
    const second = await idempotentTransaction(shop.table, gated(shop));
    expect(second).toMatchObject({ outcome: 'replayed', answer: first.answer });
  });

  it('decided before any write is stored by one put', async () => {
    const shop = await testTable();
    const refusal = callOn(shop, { run: () => refuse({ status: 403, body: 'no' }) });
    expect(await idempotentTransaction(shop.table, refusal)).toMatchObject({ outcome: 'refused' });
    if (embedded) expect(costs(shop)).toEqual([['PutItem', 1, 0]]);
    expect(await idempotentTransaction(shop.table, callOn(shop))).toMatchObject({
      outcome: 'replayed',
      answer: { status: 403, body: 'no' },
    });
  });

  it.each(['refuse', 'condition'])('gives way to the answer of a call that was first (%s)', async (kind) => {
    const shop = await testTable();
    await setGate(shop, 0);
    const winner = callOn(shop);
    let won: Promise<unknown> | undefined;
    // Another call commits after this one has decided to refuse, and before it says so.
    meddle(shop.client, async (attempt) => {
      if (attempt.operation === 'PutItem') await (won ??= idempotentTransaction(shop.table, winner));
      return attempt.send();
    });
    const loser = kind === 'refuse' ? callOn(shop, { run: () => refuse({ status: 403 }) }) : gated(shop);
    const result = await idempotentTransaction(shop.table, loser);
    expect(result).toMatchObject({ outcome: 'replayed', answer: { status: 201 } });
    expect(result.answer).toEqual(((await won) as typeof result).answer);
  });

  it('that is undefined is a lost race: the call runs again, a bounded number of times', async () => {
    const shop = await testTable();
    await setGate(shop, 0);
    const attempts: number[] = [];
    const call = callOn(shop, {
      maxAttempts: 3,
      run: ({ attempt }) => {
        attempts.push(attempt);
        const gate = conditionCheck(shop.table.of(Gate), { id: 'g' }).if(Gate.attrs.open.eq(1));
        return commit({ gate }, {}, () => undefined);
      },
    });
    expect(await idempotentTransaction(shop.table, call)).toEqual({ outcome: 'conflict', replayed: false });
    expect(attempts).toEqual([1, 2, 3]);
    expect(await shop.items('IDEMPOTENCY')).toEqual([]);
  });

  it('that nobody decides throws, and stores nothing', async () => {
    const shop = await testTable();
    const run = () => commit({ gate: conditionCheck(shop.table.of(Gate), { id: 'g' }).ifExists() }, {});
    const failure = await idempotentTransaction(shop.table, callOn(shop, { run })).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransactionCanceledException);
    expect((failure as TransactionCanceledException).failed).toMatchObject({
      gate: { reason: 'ConditionalCheckFailed' },
    });
    expect(await shop.items()).toEqual([]);
  });
});

describe('an unknown outcome', () => {
  it('is settled by calling again: one effect, and its answer', async () => {
    const shop = await testTable();
    // An error that the SDK does not know, so that it gives up.
    loseAnswer(shop.client, 'TransactWriteItems', new Error('answer lost'));
    const call = (id: string) => idempotentTransaction(shop.table, callOn(shop, { run: effectWithId(shop, id) }));
    await expect(call('first')).rejects.toThrow('answer lost');
    expect(await call('second')).toMatchObject({ outcome: 'replayed', answer: { body: 'first' } });
    expect(await shop.items('EFFECT')).toHaveLength(1);
  });

  it('of a refusal is settled in the same way', async () => {
    const shop = await testTable();
    loseAnswer(shop.client, 'PutItem', new Error('answer lost'));
    const call = (body: string) => idempotentTransaction(shop.table, callOn(shop, { run: () => refuse({ body }) }));
    await expect(call('first')).rejects.toThrow('answer lost');
    expect(await call('second')).toMatchObject({ outcome: 'replayed', answer: { body: 'first' } });
  });

  it('within the SDK is one effect, also where the request token is ignored', async () => {
    const shop = await testTable();
    let sent = 0;
    meddle(shop.client, async (attempt) => {
      if (attempt.operation !== 'TransactWriteItems') return attempt.send();
      attempt.body['ClientRequestToken'] = `token-${sent++}`;
      const answer = await attempt.send();
      if (sent === 1) throw connectionLost();
      return answer;
    });
    const result = await idempotentTransaction(shop.table, callOn(shop, { run: effectWithId(shop, 'first') }));
    expect(sent).toBe(2);
    expect(result).toMatchObject({ outcome: 'replayed', answer: { body: 'first' } });
    expect(await shop.items('EFFECT')).toHaveLength(1);
  });

  it('of a transaction that is still running is asked again', async () => {
    const shop = await testTable();
    let failures = 0;
    meddle(shop.client, (attempt) =>
      attempt.operation === 'TransactWriteItems' && failures++ < 4
        ? Promise.reject(serviceError('TransactionInProgressException'))
        : attempt.send(),
    );
    expect(await idempotentTransaction(shop.table, callOn(shop))).toMatchObject({ outcome: 'committed' });
  });

  const effectWithId = (shop: TestTable, id: string) => () =>
    commit({ effect: shop.table.of(Effect).put({ id, by: 1 }) }, { body: id });
});

it('is a conflict where it is aborted while it waits', async () => {
  const shop = await testTable();
  const aborting = new AbortController();
  meddle(shop.client, (attempt) => {
    if (attempt.operation !== 'PutItem') return attempt.send();
    queueMicrotask(() => aborting.abort());
    return Promise.reject(serviceError('TransactionConflictException'));
  });
  const call = callOn(shop, { maxAttempts: 100, signal: aborting.signal, run: () => refuse({ status: 403 }) });
  expect(await idempotentTransaction(shop.table, call)).toEqual({ outcome: 'conflict', replayed: false });
});

it('runs again where a conflict stands beside a failed condition, which may have seen half of another call', async () => {
  const shop = await testTable();
  await setGate(shop, 1);
  let failures = 0;
  meddle(shop.client, (attempt) =>
    attempt.operation === 'TransactWriteItems' && failures++ === 0
      ? Promise.reject(cancelled('None', 'TransactionConflict', 'ConditionalCheckFailed'))
      : attempt.send(),
  );
  expect(await idempotentTransaction(shop.table, gated(shop))).toMatchObject({ outcome: 'committed' });
});

it('asks for a refusal by the conditions that failed alone, where a throttle stopped another step', async () => {
  const shop = await testTable();
  const seen: string[][] = [];
  let failures = 0;
  meddle(shop.client, (attempt) =>
    attempt.operation === 'TransactWriteItems' && failures++ === 0
      ? Promise.reject(cancelled('None', 'ThrottlingError', 'ConditionalCheckFailed'))
      : attempt.send(),
  );
  const effects = shop.table.of(Effect);
  const steps = { throttled: effects.put({ id: 'a', by: 1 }), refused: effects.unique({ id: 'b', by: 1 }) };
  const run = () =>
    commit(steps, { body: 'done' }, (failed) => {
      seen.push(Object.keys(failed));
      return { body: 'refused' };
    });
  expect(await idempotentTransaction(shop.table, callOn(shop, { run }))).toMatchObject({ outcome: 'refused' });
  expect(seen).toEqual([['refused']]);
});

it('throws where a step was throttled, and stores nothing', async () => {
  const shop = await testTable();
  meddle(shop.client, (attempt) =>
    attempt.operation === 'TransactWriteItems' ? Promise.reject(cancelled('ThrottlingError', 'None')) : attempt.send(),
  );
  await expect(idempotentTransaction(shop.table, callOn(shop))).rejects.toThrow(TransactionCanceledException);
  expect(await shop.items()).toEqual([]);
});

describe.runIf(embedded)('a call in flight', () => {
  it('is a conflict for another one, and its answer later', async () => {
    const shop = await testTable({ transactionMs: 150 });
    const first = idempotentTransaction(shop.table, callOn(shop));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const second = await idempotentTransaction(shop.table, callOn(shop, { maxAttempts: 1 }));
    expect(second).toEqual({ outcome: 'conflict', replayed: false });
    const patient = await idempotentTransaction(shop.table, callOn(shop, { maxAttempts: 50 }));
    expect(patient).toMatchObject({ outcome: 'replayed', answer: (await first).answer });
  });

  it('is a conflict for a refusal too', async () => {
    const shop = await testTable({ transactionMs: 150 });
    const first = idempotentTransaction(shop.table, callOn(shop));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const refusal = callOn(shop, { maxAttempts: 1, run: () => refuse({ status: 403 }) });
    expect(await idempotentTransaction(shop.table, refusal)).toMatchObject({ outcome: 'conflict' });
    await first;
  });

  it('and 19 more of its key leave one effect', async () => {
    const shop = await testTable();
    const calls = Array.from({ length: 20 }, () => idempotentTransaction(shop.table, callOn(shop)));
    const results = await Promise.all(calls);
    expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
    expect(results.every(({ outcome }) => ['committed', 'replayed', 'conflict'].includes(outcome))).toBe(true);
    expect(new Set(results.flatMap(({ answer }) => answer?.body ?? [])).size).toBe(1);
    expect(await shop.items('EFFECT')).toHaveLength(1);
  });
});
