import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { LimitExceededError } from '../../../../lib/commands/index.js';
import {
  IdempotencyRecord,
  LeaseLostError,
  fingerprintOf,
  idempotencyKey,
  idempotentLease,
  idempotentTransaction,
  refuse,
  type Lease,
} from '../../../../lib/recipes/index.js';
import { meddle } from '../../../http/meddle.js';
import { testTable } from '../../../http/test-table.js';
import { at, callOf, counting, identity, leaseMs, pay, start, stored } from './pay.js';
import { FakeProvider } from './provider.js';

describe('a lease', () => {
  it('ends in its last millisecond and not before', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    const die = () => Promise.reject(new Error('dead'));
    await expect(pay(shop.table, provider, 'p1', { around: die, afterError: 'keep' })).rejects.toThrow('dead');
    expect(await pay(shop.table, provider, 'p1', at(start + leaseMs - 1))).toEqual({
      outcome: 'inProgress',
      replayed: false,
      retryAfterSeconds: 1,
    });
    expect(await pay(shop.table, provider, 'p1', at(start + leaseMs))).toMatchObject({ outcome: 'committed' });
  });

  it('has a greater token than every one before, also where those did nothing and clocks are behind', async () => {
    const shop = await testTable();
    const tokens: number[] = [];
    const attempts: number[] = [];
    const fail = (lease: Lease): never => {
      tokens.push(lease.token);
      attempts.push(lease.attempt);
      throw new Error('refused');
    };
    for (const now of [start, start, start - 3_600_000, start + 1, start - 1]) {
      await expect(idempotentLease(shop.table, callOf(fail, at(now)))).rejects.toThrow('refused');
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    // Of calls of which nothing happened, nothing else stays.
    expect(attempts).toEqual([1, 1, 1, 1, 1]);
  });

  it('of a call of which nothing happened keeps the key for nobody', async () => {
    const fail = (): never => {
      throw new Error('refused');
    };
    const other = fingerprintOf(1, ['another request']);
    const shop = await testTable();
    await expect(idempotentLease(shop.table, callOf(fail))).rejects.toThrow('refused');
    expect(
      await idempotentLease(
        shop.table,
        callOf(() => ({ body: 'b' }), { fingerprint: other }),
      ),
    ).toMatchObject({
      outcome: 'committed',
    });
    const second = await testTable();
    await expect(idempotentLease(second.table, callOf(fail))).rejects.toThrow('refused');
    const transaction = { ...callOf(fail), fingerprint: other, run: () => refuse({ body: 'c' }) };
    for (const readFirst of [true, false]) {
      expect(await idempotentTransaction(second.table, { ...transaction, readFirst })).toMatchObject({
        answer: { body: 'c' },
      });
    }
  });

  it('starts anew with each recovery point', async () => {
    const shop = await testTable();
    let now = start;
    const call = callOf(
      async (lease) => {
        now += leaseMs - 1;
        await lease.checkpoint('half');
        throw new Error('dead');
      },
      { now: () => now, afterError: 'keep' },
    );
    await expect(idempotentLease(shop.table, call)).rejects.toThrow('dead');
    expect(
      await idempotentLease(
        shop.table,
        callOf(() => ({}), at(start + leaseMs)),
      ),
    ).toMatchObject({
      outcome: 'inProgress',
      retryAfterSeconds: 30,
    });
  });

  it('has a token that grows with each lease, also where a clock stands or goes back, and over removed records', async () => {
    const shop = await testTable();
    const tokens: number[] = [];
    const take = async (now: number) => {
      const call = callOf(async (lease) => {
        tokens.push(lease.token);
        await lease.checkpoint('a');
        throw new Error('dead');
      }, at(now));
      await expect(idempotentLease(shop.table, call)).rejects.toThrow('dead');
    };
    await take(start);
    await take(start);
    await take(start - 5_000);
    await shop.table.of(IdempotencyRecord).delete({ key: idempotencyKey(identity('k1')) });
    await take(start + 1_000);
    // Expired by the clock of the one, and not by that of the other.
    await take(start + 86_400_000 * 2);
    await take(start + 86_400_000 * 2 - 500);
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('of an expired record with a greater token takes a greater one', async () => {
    const shop = await testTable();
    await idempotentLease(
      shop.table,
      callOf(() => ({}), { horizonSeconds: 60 }),
    );
    await shop.table
      .of(IdempotencyRecord)
      .update({ key: idempotencyKey(identity('k1')) })
      .set({ token: start * 2 });
    const call = callOf(({ token }) => ({ body: String(token) }), at(start + 60_000));
    expect(await idempotentLease(shop.table, call)).toMatchObject({ answer: { body: String(start * 2 + 1) } });
  });

  it('tells its end by its signal', async () => {
    const shop = await testTable();
    const call = callOf(
      async (lease) => {
        await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
        throw lease.signal.reason;
      },
      { leaseSeconds: 1 },
    );
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(LeaseLostError);
  });

  it('that ended begins no effect', async () => {
    const shop = await testTable();
    let now = start;
    const effect = vi.fn(() => '');
    const call = callOf(
      async (lease) => {
        now += leaseMs;
        return { body: await lease.effect('charge', { keySeconds: 86_400 }, effect) };
      },
      { now: () => now },
    );
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(LeaseLostError);
    expect(effect).not.toHaveBeenCalled();
    expect(await counting(shop)).toEqual([]);
  });

  it('stores nothing any more when its call is over', async () => {
    const shop = await testTable();
    let kept: Lease | undefined;
    await idempotentLease(
      shop.table,
      callOf((lease) => {
        kept = lease;
        return {};
      }),
    );
    await expect(kept?.checkpoint('late')).rejects.toThrow(LeaseLostError);
  });

  it('that ended, and is found to be its own still, goes on', async () => {
    const shop = await testTable();
    let now = start;
    const call = callOf(
      async (lease) => {
        now += leaseMs;
        await expect(lease.effect('charge', { keySeconds: 0 }, () => 'c')).rejects.toThrow(LeaseLostError);
        expect(lease.signal.aborted).toBe(true);
        await lease.checkpoint('still here');
        expect(lease.signal.aborted).toBe(false);
        return { body: await lease.effect('charge', { keySeconds: 0 }, () => 'c') };
      },
      { now: () => now },
    );
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'committed', answer: { body: 'c' } });
  });

  it('is not moved back by a write that arrives late', async () => {
    const shop = await testTable();
    const updates: Record<string, unknown>[] = [];
    let swallows = false;
    meddle(shop.client, (attempt) => {
      if (attempt.operation !== 'UpdateItem') return attempt.send();
      updates.push(attempt.body);
      if (!swallows) return attempt.send();
      swallows = false;
      return Promise.reject(new Error('time-out'));
    });
    const arrive = (update: Record<string, unknown> | undefined) =>
      shop.client.send(new UpdateItemCommand(update as unknown as UpdateItemCommandInput));
    const late = { name: 'ConditionalCheckFailedException' };
    const call = callOf(async (lease) => {
      await lease.checkpoint('a');
      await lease.checkpoint('b');
      await expect(arrive(updates[0])).rejects.toMatchObject(late);
      swallows = true;
      await lease.checkpoint('c');
      return {};
    });
    await expect(idempotentLease(shop.table, call)).rejects.toThrow('time-out');
    // The one that was thought lost, after the lease was given back.
    await expect(
      arrive(updates.find(({ ExpressionAttributeValues: values }) => /"c"/.test(JSON.stringify(values)))),
    ).rejects.toMatchObject(late);
    expect(await stored(shop, 'k1')).toMatchObject({ lease: { points: { a: '', b: '', c: '' } } });
    expect((await stored(shop, 'k1'))?.lease?.until).toBeUndefined();
  });
});

it('refuses recovery points that would not fit, and asks where the effect has no key', async () => {
  const shop = await testTable();
  const call = callOf(async (lease) => ({
    body: await lease.effect('charge', { keySeconds: 0 }, () => 'é'.repeat(150_001)),
  }));
  await expect(idempotentLease(shop.table, call)).rejects.toThrow(LimitExceededError);
  expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'unknown' });
});
