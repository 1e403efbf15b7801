import { describe, expect, it } from 'vitest';
import {
  type LeasedCall,
  fingerprintOf,
  IdempotencyRecord,
  LeaseLostError,
  commit,
  idempotencyKey,
  idempotentLease,
  type Lease,
  type LeaseOutcome,
} from '../../../../lib/recipes/index.js';
import { testTable } from '../../../http/test-table.js';
import { Payment, at, callOf, gate, identity, leaseMs, pay, payCall, start } from './pay.js';
import { FakeProvider } from './provider.js';

describe('a slow first call', () => {
  /** Starts a call that stands still in its charge until another one has come. */
  const race = async (takesKeys: boolean, { before = false } = {}) => {
    const shop = await testTable();
    const provider = new FakeProvider(takesKeys);
    const slow = { charging: gate(), goOn: gate() };
    let lease: Lease | undefined;
    const base = payCall(shop.table, provider, 'p1', {
      around: async (charge) => {
        const early = before ? charge() : undefined;
        slow.charging.open();
        await slow.goOn.opened;
        return early ?? charge();
      },
    });
    const first = idempotentLease(shop.table, {
      ...base,
      run: (held) => {
        lease = held;
        return base.run(held);
      },
    });
    await slow.charging.opened;
    const second = await pay(shop.table, provider, 'p1', at(start + leaseMs));
    slow.goOn.open();
    return { shop, provider, first: await first, second, lease };
  };

  it.each([false, true])('that was taken over charges nothing, and answers as the record says (%s)', async (before) => {
    const { provider, first, second, lease } = await race(true, { before });
    expect(second).toMatchObject({ outcome: 'committed', answer: { body: 'charge-0 of attempt 2' } });
    expect(first).toEqual({ outcome: 'replayed', replayed: true, answer: second.answer, leaseLost: true });
    expect(lease?.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(provider.charges).toHaveLength(1);
  });

  it.each([false, true])('of a provider without keys is not taken over, and stores its answer (%s)', async (before) => {
    const { shop, provider, first, second } = await race(false, { before });
    expect(second).toMatchObject({ outcome: 'unknown', unknown: { point: 'charge', attempt: 1 } });
    expect(first).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ outcome: 'replayed', answer: first.answer });
  });

  it('that stood still before its effect does none', async () => {
    for (const takesKeys of [true, false]) {
      const shop = await testTable();
      const provider = new FakeProvider(takesKeys);
      const standing = gate();
      const goOn = gate();
      const base = payCall(shop.table, provider, 'p1');
      // Its own clock stands too: only the token, or the provider's key, stops it.
      const first = idempotentLease(shop.table, {
        ...base,
        run: async (lease) => {
          standing.open();
          await goOn.opened;
          return base.run(lease);
        },
      });
      await standing.opened;
      const second = await pay(shop.table, provider, 'p1', at(start + leaseMs));
      goOn.open();
      expect(second).toMatchObject({ outcome: 'committed' });
      expect(await first).toEqual({ outcome: 'replayed', replayed: true, answer: second.answer, leaseLost: true });
      expect(provider.charges).toHaveLength(1);
    }
  });

  it('whose lease was taken over does not replace the answer, nor write its steps', async () => {
    const shop = await testTable();
    for (const steps of [false, true]) {
      const slow = callOf(
        async () => {
          const other = callOf(() => ({ body: 'second' }), { key: `k${steps}`, ...at(start + leaseMs) });
          expect(await idempotentLease(shop.table, other)).toMatchObject({ outcome: 'committed' });
          return commit(steps ? { payment: shop.table.of(Payment).put({ id: 'slow', charge: 'c' }) } : {}, {
            body: 'first',
          });
        },
        { key: `k${steps}` },
      );
      expect(await idempotentLease(shop.table, slow)).toMatchObject({
        outcome: 'replayed',
        answer: { body: 'second' },
        leaseLost: true,
      });
    }
    expect(await shop.items('PAYMENT')).toEqual([]);
  });

  it('is told to ask again where the other one is at it', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    let inner: Promise<LeaseOutcome> | undefined;
    const goOn = gate();
    const first = await pay(shop.table, provider, 'p1', {
      around: async (charge) => {
        const charging = gate();
        inner = pay(shop.table, provider, 'p1', {
          ...at(start + leaseMs),
          around: async (charge) => {
            charging.open();
            await goOn.opened;
            return charge();
          },
        });
        await charging.opened;
        return charge();
      },
    });
    goOn.open();
    expect(first).toMatchObject({ outcome: 'inProgress', leaseLost: true });
    expect(await inner).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });

  it('that swallows what it is told stores nothing either', async () => {
    const shop = await testTable();
    const call = callOf(async (lease) => {
      await idempotentLease(
        shop.table,
        callOf(() => ({ body: 'second' }), at(start + leaseMs)),
      );
      await lease.checkpoint('a').catch(() => undefined);
      await expect(lease.checkpoint('b')).rejects.toThrow(LeaseLostError);
      expect(lease.signal.aborted).toBe(true);
      return { body: 'first' };
    });
    expect(await idempotentLease(shop.table, call)).toMatchObject({ answer: { body: 'second' }, leaseLost: true });
  });

  it('that changes the request it was given is still told the answer to it', async () => {
    const shop = await testTable();
    const call: LeasedCall = callOf(async () => {
      await idempotentLease(
        shop.table,
        callOf(() => ({ body: 'second' }), at(start + leaseMs)),
      );
      Object.assign(call, { key: 'other', fingerprint: fingerprintOf(1, ['other']) });
      return { body: 'first' };
    });
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'replayed', answer: { body: 'second' } });
  });

  it('of which the record is gone is told so', async () => {
    const shop = await testTable();
    const call = callOf(async () => {
      await shop.table.of(IdempotencyRecord).delete({ key: idempotencyKey(identity('k1')) });
      return { body: 'first' };
    });
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(LeaseLostError);
    expect(await shop.items()).toEqual([]);
  });
});

describe('clocks that differ', () => {
  it.each([true, false])('by an hour make no second charge (keys: %s)', async (takesKeys) => {
    for (const skew of [3_600_000, -3_600_000]) {
      const shop = await testTable();
      const provider = new FakeProvider(takesKeys);
      let second: LeaseOutcome | undefined;
      const first = await pay(shop.table, provider, 'p1', {
        around: async (charge) => {
          second = await pay(shop.table, provider, 'p1', at(start + skew));
          return charge();
        },
      });
      const ahead = takesKeys ? 'committed' : 'unknown';
      expect(second?.outcome).toBe(skew > 0 ? ahead : 'inProgress');
      expect(['committed', 'replayed']).toContain(first.outcome);
      expect(provider.charges).toHaveLength(1);
    }
  });
});
