import { describe, expect, it, vi } from 'vitest';
import { InvalidInputError, InvalidStoredItemError } from '../../../../lib/commands/index.js';
import {
  IdempotencyRecord,
  commit,
  fingerprintOf,
  idempotencyKey,
  idempotentLease,
  idempotentTransaction,
  refuse,
  type IdempotentCall,
  type Lease,
  type LeaseOutcome,
  type LeasedCall,
} from '../../../../lib/recipes/index.js';
import { embedded } from '../../../support/dynamodb.js';
import { meddle } from '../../../http/meddle.js';
import { testTable, type TestTable } from '../../../http/test-table.js';
import { Payment, at, callOf, counting, costs, gate, identity, leaseMs, pay, payCall, start } from './pay.js';
import { FakeProvider } from './provider.js';

describe('a first call', () => {
  it('does its effect, and stores the answer together with its steps', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    const result = await pay(shop.table, provider, 'p1');
    expect(result).toEqual({
      outcome: 'committed',
      replayed: false,
      answer: { status: 201, headers: undefined, body: 'charge-0 of attempt 1' },
    });
    expect(provider.chargesOf('p1')).toEqual(['charge-0']);
    expect(await shop.items('PAYMENT')).toMatchObject([{ charge: { S: 'charge-0' } }]);
    if (embedded) {
      expect(costs(shop)).toEqual([
        ['PutItem', 1, 0],
        ['UpdateItem', 1, 0],
        ['TransactWriteItems', 4, 0],
      ]);
    }
  });

  it('of a provider without keys takes one write more, before the effect', async () => {
    const shop = await testTable();
    const requests: string[] = [];
    const around = (charge: () => string): string => {
      requests.push(...shop.requests.map(({ operation }) => operation));
      return charge();
    };
    await pay(shop.table, new FakeProvider(false), 'p1', { around });
    if (embedded) {
      expect(requests).toEqual(['PutItem', 'UpdateItem']);
      expect(costs(shop).map(([operation]) => operation)).toEqual([
        'PutItem',
        'UpdateItem',
        'UpdateItem',
        'TransactWriteItems',
      ]);
    }
  });

  it('without steps stores its answer by a put of 1 write unit', async () => {
    const shop = await testTable();
    const run = () => ({ body: 'done' });
    expect(await idempotentLease(shop.table, callOf(run))).toMatchObject({
      outcome: 'committed',
      answer: { body: 'done' },
    });
    if (embedded) {
      expect(costs(shop)).toEqual([
        ['PutItem', 1, 0],
        ['PutItem', 1, 0],
      ]);
    }
  });

  it('stores a refusal', async () => {
    const shop = await testTable();
    const call = callOf(() => refuse({ status: 402, body: 'declined' }));
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'refused', answer: { status: 402 } });
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'replayed', answer: { status: 402 } });
  });

  it('leaves the record that a transaction would have, and which of its own answers it is', async () => {
    const shop = await testTable();
    await pay(shop.table, new FakeProvider(true), 'p1');
    const [record] = await shop.items('IDEMPOTENCY');
    expect(record).toMatchObject({ format: { N: '1' }, ttl: { N: String(start / 1000 + 86_400) } });
    expect(Object.keys(record ?? {})).not.toContain('lease');
  });

  it('stores no part of the client key', async () => {
    const shop = await testTable();
    let during: unknown;
    const around = async (charge: () => string): Promise<string> => {
      during = await shop.items();
      return charge();
    };
    await pay(shop.table, new FakeProvider(true), 'secret-key', { scope: 'secret-scope', around });
    expect(JSON.stringify(during)).not.toContain('secret');
  });

  it.each([
    { leaseSeconds: 0 },
    { leaseSeconds: NaN },
    { leaseSeconds: 30_000, horizonSeconds: 20_000 },
    { leaseSeconds: 86_401 },
    { horizonSeconds: 0 },
    { maxAttempts: 0 },
    { afterError: 'forget' as 'keep' },
    { key: '' },
  ])('refuses %o before anything is sent', async (change) => {
    const shop = await testTable();
    const run = vi.fn(() => ({}));
    await expect(idempotentLease(shop.table, callOf(run, change))).rejects.toThrow(InvalidInputError);
    expect(run).not.toHaveBeenCalled();
    expect(shop.requests).toEqual([]);
  });

  it.each([
    ['', { keySeconds: 0 }],
    ['charge', { keySeconds: 29 }],
    ['charge', { keySeconds: NaN }],
    ['charge', { keySeconds: -1 }],
  ] as const)('refuses an effect %o of %o, and does nothing', async (point, terms) => {
    const shop = await testTable();
    const effect = vi.fn(() => '');
    const call = callOf(async (lease) => ({ body: await lease.effect(point, terms, effect) }));
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(InvalidInputError);
    expect(effect).not.toHaveBeenCalled();
    expect(await counting(shop)).toEqual([]);
  });

  it('takes the methods of its lease one after the other', async () => {
    const shop = await testTable();
    const call = callOf(async (lease) => {
      await Promise.all([lease.checkpoint('a'), lease.checkpoint('b')]);
      return {};
    });
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(InvalidInputError);
  });
});

describe('a repeat', () => {
  it('answers as the first call did, and does nothing', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const first = await pay(shop.table, provider, 'p1');
    shop.requests.length = 0;
    expect(await pay(shop.table, provider, 'p1')).toEqual({
      outcome: 'replayed',
      replayed: true,
      answer: first.answer,
    });
    expect(await pay(shop.table, provider, 'p1', { readFirst: true })).toMatchObject({ outcome: 'replayed' });
    expect(provider.charges).toHaveLength(1);
    if (embedded) {
      expect(costs(shop)).toEqual([
        ['PutItem', 1, 0],
        ['GetItem', 0, 1],
      ]);
    }
  });

  it('of another request is a mismatch, before and after the answer', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    const other = { fingerprint: fingerprintOf(1, ['other']) };
    let during: LeaseOutcome | undefined;
    const around = async (charge: () => string): Promise<string> => {
      during = await pay(shop.table, provider, 'p1', other);
      return charge();
    };
    await pay(shop.table, provider, 'p1', { around });
    expect(during).toEqual({ outcome: 'mismatch', replayed: false });
    expect(await pay(shop.table, provider, 'p1', other)).toEqual({ outcome: 'mismatch', replayed: false });
  });

  it('while the first one runs is told when to ask again', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    let during: LeaseOutcome | undefined;
    const around = async (charge: () => string): Promise<string> => {
      during = await pay(shop.table, provider, 'p1', at(start + 1_001));
      return charge();
    };
    await pay(shop.table, provider, 'p1', { around });
    expect(during).toEqual({ outcome: 'inProgress', replayed: false, retryAfterSeconds: 29 });
    expect(provider.charges).toHaveLength(1);
  });

  it('after the horizon is a first call, with the same key for the provider', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    await pay(shop.table, provider, 'p1');
    expect(await pay(shop.table, provider, 'p1', at(start + 86_399_999))).toMatchObject({ outcome: 'replayed' });
    expect(await pay(shop.table, provider, 'p1', at(start + 86_400_000))).toMatchObject({
      outcome: 'committed',
      answer: { body: 'charge-1 of attempt 1' },
    });
    expect(new Set(provider.charges.map(({ key }) => key)).size).toBe(1);
  });
});

describe.runIf(embedded)('calls at the same time', () => {
  it.each([true, false])('20 of them make one effect (keys: %s)', async (takesKeys) => {
    const shop = await testTable();
    const provider = new FakeProvider(takesKeys);
    const around = async (charge: () => string): Promise<string> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return charge();
    };
    const calls = Array.from({ length: 20 }, () => pay(shop.table, provider, 'p1', { around }));
    const results = await Promise.all(calls);
    expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
    expect(results.every(({ outcome }) => ['committed', 'replayed', 'inProgress'].includes(outcome))).toBe(true);
    expect(provider.charges).toHaveLength(1);
  });

  it.each([true, false])('20 of them that find a lease which ended make one effect (keys: %s)', async (takesKeys) => {
    const shop = await testTable();
    const provider = new FakeProvider(takesKeys);
    await expect(
      idempotentLease(shop.table, {
        ...payCall(shop.table, provider, 'p1', { afterError: 'keep' }),
        run: () => Promise.reject(new Error('dead')),
      }),
    ).rejects.toThrow('dead');
    const calls = Array.from({ length: 20 }, () => pay(shop.table, provider, 'p1', at(start + leaseMs)));
    const results = await Promise.all(calls);
    expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
    expect(provider.charges).toHaveLength(1);
  });

  it('meet a transaction of the answer: one is told to ask again, and then the answer', async () => {
    const shop = await testTable({ transactionMs: 150 });
    const provider = new FakeProvider(true);
    const { open, opened } = gate();
    meddle(shop.client, (attempt) => {
      if (attempt.operation === 'TransactWriteItems') setTimeout(open, 30);
      return attempt.send();
    });
    const first = pay(shop.table, provider, 'p1');
    await opened;
    const second = await pay(shop.table, provider, 'p1');
    expect(['inProgress', 'replayed']).toContain(second.outcome);
    expect(await first).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });
});

describe('an error of the run', () => {
  const fails = (shop: TestTable, change: Partial<LeasedCall> = {}) =>
    idempotentLease(
      shop.table,
      callOf(async (lease) => {
        await lease.checkpoint('a', 'b');
        throw new TypeError('bug');
      }, change),
    );

  it('gives the lease back: the next call goes on at once', async () => {
    const shop = await testTable();
    await expect(fails(shop)).rejects.toThrow(TypeError);
    const call = callOf(({ attempt, points }) => ({ body: JSON.stringify({ attempt, points }) }));
    expect(await idempotentLease(shop.table, call)).toMatchObject({
      answer: { body: '{"attempt":2,"points":{"a":"b"}}' },
    });
  });

  it('keeps the lease where that was chosen', async () => {
    const shop = await testTable();
    await expect(fails(shop, { afterError: 'keep' })).rejects.toThrow(TypeError);
    expect(
      await idempotentLease(
        shop.table,
        callOf(() => ({})),
      ),
    ).toMatchObject({ outcome: 'inProgress' });
  });

  it('before any effect leaves nothing: the key is free for another request', async () => {
    const shop = await testTable();
    await expect(
      idempotentLease(
        shop.table,
        callOf(() => Promise.reject(new TypeError('bug'))),
      ),
    ).rejects.toThrow();
    expect(await counting(shop)).toEqual([]);
    if (embedded)
      expect(costs(shop)).toEqual([
        ['PutItem', 1, 0],
        ['UpdateItem', 1, 0],
      ]);
    const other = callOf(() => ({}), { fingerprint: fingerprintOf(1, ['other']) });
    expect(await idempotentLease(shop.table, other)).toMatchObject({ outcome: 'committed' });
  });

  it('is thrown also where the lease can not be given back', async () => {
    const shop = await testTable();
    meddle(shop.client, (attempt) =>
      attempt.operation === 'DeleteItem' ? Promise.reject(new Error('cut off')) : attempt.send(),
    );
    await expect(
      idempotentLease(
        shop.table,
        callOf(() => Promise.reject(new TypeError('bug'))),
      ),
    ).rejects.toThrow('bug');
  });

  it('gives the lease back though the signal of the caller is aborted, and stores what has happened', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const aborting = new AbortController();
    const base = payCall(shop.table, provider, 'p1');
    const call = {
      ...base,
      signal: aborting.signal,
      run: async (lease: Lease) => {
        await lease.effect('charge', { keySeconds: 0 }, ({ providerKey }) => {
          aborting.abort(new Error('time is over'));
          return provider.charge('p1', providerKey);
        });
        return { body: await lease.effect('mail', { keySeconds: 0 }, () => 'sent') };
      },
    };
    await expect(idempotentLease(shop.table, call)).rejects.toThrow('time is over');
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({
      outcome: 'committed',
      answer: { body: expect.stringContaining('charge-0') as string },
    });
    expect(provider.charges).toHaveLength(1);
  });
});

describe('a call with a transaction of the same key', () => {
  const transaction = (shop: TestTable): IdempotentCall => ({
    ...identity('p1'),
    fingerprint: fingerprintOf(1, ['p1']),
    horizonSeconds: 60,
    ...at(start),
    run: () => commit({ payment: shop.table.of(Payment).put({ id: 'p1', charge: 'other' }) }, { body: 'transaction' }),
  });

  it('is a conflict while there is a lease, also an ended or undecided one, and replays its answer then', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const die = () => Promise.reject(new Error('dead'));
    await expect(pay(shop.table, provider, 'p1', { around: die })).rejects.toThrow('dead');
    for (const readFirst of [true, false]) {
      for (const later of [0, leaseMs, 86_400_000]) {
        expect(
          await idempotentTransaction(shop.table, { ...transaction(shop), readFirst, ...at(start + later) }),
        ).toEqual({ outcome: 'conflict', replayed: false });
      }
    }
    const other = { ...transaction(shop), fingerprint: fingerprintOf(1, ['other']) };
    expect(await idempotentTransaction(shop.table, other)).toEqual({ outcome: 'mismatch', replayed: false });
    expect(await shop.items('PAYMENT')).toEqual([]);

    const answered = await testTable();
    const { answer } = await pay(answered.table, provider, 'p2');
    expect(
      await idempotentTransaction(answered.table, {
        ...transaction(answered),
        ...identity('p2'),
        fingerprint: fingerprintOf(1, ['p2']),
      }),
    ).toEqual({
      outcome: 'replayed',
      replayed: true,
      answer,
    });
  });

  it('leaves an answer that a call with a lease replays', async () => {
    const shop = await testTable();
    await idempotentTransaction(shop.table, transaction(shop));
    const provider = new FakeProvider(true);
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({
      outcome: 'replayed',
      answer: { body: 'transaction' },
    });
    expect(provider.charges).toEqual([]);
  });

  it('of code that knows no leases refuses the record: its format is none that it knows, and it has not expired', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    let during: Record<string, { N?: string }> | undefined;
    const around = async (charge: () => string): Promise<string> => {
      [during] = (await shop.items('IDEMPOTENCY')) as (typeof during)[];
      return charge();
    };
    await pay(shop.table, provider, 'p1', { around });
    expect(during?.['format']).toEqual({ N: '2' });
    expect(Number(during?.['ttl']?.N)).toBeGreaterThanOrEqual(start / 1000 + 30);
  });
});

it.each([
  ['format', { format: 3 }],
  ['lease', { format: 2 }],
])('refuses a record of a newer format, or one that is damaged (%s)', async (name, change) => {
  const shop = await testTable();
  await idempotentLease(
    shop.table,
    callOf(() => ({})),
  );
  await shop.table
    .of(IdempotencyRecord)
    .update({ key: idempotencyKey(identity('k1')) })
    .set(change);
  const failure = await idempotentLease(
    shop.table,
    callOf(() => ({})),
  ).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(InvalidStoredItemError);
  expect((failure as InvalidStoredItemError).path).toBe(`IDEMPOTENCY.${name}`);
});

it('reads the record where a policy forbids what a failed condition saw', async () => {
  const shop = await testTable();
  meddle(shop.client, async (attempt) => {
    delete attempt.body['ReturnValuesOnConditionCheckFailure'];
    return attempt.send();
  });
  const provider = new FakeProvider(true);
  const { answer } = await pay(shop.table, provider, 'p1');
  expect(await pay(shop.table, provider, 'p1')).toEqual({ outcome: 'replayed', replayed: true, answer });
});
