import { describe, expect, it, vi } from 'vitest';
import { EffectUndecidedError, idempotentLease, resolveUnknown, type Unknown } from '../../../../lib/recipes/index.js';
import { testTable, type TestTable } from '../../../http/test-table.js';
import { at, callOf, counting, identity, leaseMs, pay, start, stored } from './pay.js';
import { FakeProvider } from './provider.js';

describe('an effect that throws', () => {
  const refused = new Error('connection refused');

  it('is done again with the key that it had', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    const around = (charge: () => string): string => {
      charge();
      throw new Error('answer of the provider lost');
    };
    await expect(pay(shop.table, provider, 'p1', { around })).rejects.toThrow('answer of the provider lost');
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({
      outcome: 'committed',
      answer: { body: expect.stringContaining('charge-0') as string },
    });
    expect(provider.charges).toHaveLength(1);
  });

  it('without a key is not done again unasked, in this call or a later one', async () => {
    const shop = await testTable();
    const effect = vi.fn((): string => {
      throw new Error('answer of the provider lost');
    });
    const call = callOf(async (lease) => {
      await expect(lease.effect('charge', { keySeconds: 0 }, effect)).rejects.toThrow('answer of the provider lost');
      await expect(lease.effect('mail', { keySeconds: 0 }, effect)).rejects.toThrow(EffectUndecidedError);
      return { body: await lease.effect('charge', { keySeconds: 0 }, effect) };
    });
    const unknown = { outcome: 'unknown', unknown: { point: 'charge', attempt: 1 } };
    expect(await idempotentLease(shop.table, call)).toMatchObject(unknown);
    expect(await idempotentLease(shop.table, call)).toMatchObject(unknown);
    expect(effect).toHaveBeenCalledOnce();
  });

  it('without a key is not settled by a recovery point of another name', async () => {
    const shop = await testTable();
    const call = callOf(async (lease) => {
      const effect = lease.effect('charge', { keySeconds: 0 }, () => Promise.reject(new Error('time-out')));
      await expect(effect).rejects.toThrow('time-out');
      await lease.checkpoint('other');
      throw new Error('time-out');
    });
    await expect(idempotentLease(shop.table, call)).rejects.toThrow('time-out');
    expect(await idempotentLease(shop.table, call)).toMatchObject({
      outcome: 'unknown',
      unknown: { point: 'charge', points: { other: '' } },
    });
  });

  it('without a key is unknown at once where it ended the run', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const around = () => Promise.reject(new Error('time-out'));
    await expect(pay(shop.table, provider, 'p1', { around })).rejects.toThrow('time-out');
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ outcome: 'unknown' });
  });

  it('is done again where the error proves that it was not done', async () => {
    const shop = await testTable();
    let failures = 1;
    const call = callOf(async (lease) => ({
      body: await lease.effect('charge', { keySeconds: 0, notDone: (error) => error === refused }, () => {
        if (failures-- > 0) throw refused;
        return 'charged';
      }),
    }));
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(refused);
    expect(await counting(shop)).toEqual([]);
    expect(await idempotentLease(shop.table, call)).toMatchObject({
      outcome: 'committed',
      answer: { body: 'charged' },
    });
  });

  it('and then was proven not to be done a second time may still have been done the first', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    const call = callOf(async (lease) => {
      for (const error of [new Error('time-out'), refused]) {
        const terms = { keySeconds: 86_400, notDone: (thrown: unknown) => thrown === refused };
        const effect = lease.effect('charge', terms, ({ providerKey }) => {
          if (error !== refused) provider.charge('k1', providerKey);
          throw error;
        });
        await expect(effect).rejects.toThrow(error);
      }
      throw refused;
    });
    await expect(idempotentLease(shop.table, call)).rejects.toThrow(refused);
    expect(await stored(shop, 'k1')).toMatchObject({ format: 2, lease: { attempt: 1 } });
  });

  it('is settled by a recovery point of its name', async () => {
    const shop = await testTable();
    const call = callOf(async (lease) => {
      await lease
        .effect('charge', { keySeconds: 0 }, () => Promise.reject(new Error('time-out')))
        .catch(async () => {
          // The provider was asked.
          await lease.checkpoint('charge', 'c1');
        });
      return { body: await lease.effect('charge', { keySeconds: 0 }, () => 'twice') };
    });
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'committed', answer: { body: 'c1' } });
  });
});

describe('a provider that forgets its keys', () => {
  const keySeconds = 3_600;
  const charge = (shop: TestTable, provider: FakeProvider, now: number, die = false) =>
    idempotentLease(
      shop.table,
      callOf(async (lease) => {
        const id = await lease.effect('charge', { keySeconds }, ({ providerKey }) => {
          const id = provider.charge('k1', providerKey);
          if (die) throw new Error('dead');
          return id;
        });
        return { body: id };
      }, at(now)),
    );

  it('is asked again only while it knows them until the end of the lease', async () => {
    for (const [later, outcome] of [
      [keySeconds * 1000 - leaseMs, 'committed'],
      [keySeconds * 1000 - leaseMs + 1, 'unknown'],
    ] as const) {
      const shop = await testTable();
      const provider = new FakeProvider(true);
      await expect(charge(shop, provider, start, true)).rejects.toThrow('dead');
      if (outcome === 'unknown') provider.forget();
      expect(await charge(shop, provider, start + later)).toMatchObject({ outcome });
      expect(await charge(shop, provider, start + later)).toMatchObject({
        outcome: outcome === 'unknown' ? 'unknown' : 'replayed',
      });
      expect(provider.charges).toHaveLength(1);
    }
  });

  it('leaves the record beyond the horizon, until it is decided', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    await expect(charge(shop, provider, start, true)).rejects.toThrow('dead');
    await charge(shop, provider, start + keySeconds * 1000);
    expect(await charge(shop, provider, start + 30 * 86_400_000)).toMatchObject({ outcome: 'unknown' });
    expect((await stored(shop, 'k1'))?.expiresAt).toEqual(new Date(start + (keySeconds + 366 * 86_400) * 1000));
  });

  it('counts from the last recovery point of the first attempt on', async () => {
    for (const [later, outcome] of [
      [keySeconds * 1000 - leaseMs, 'committed'],
      [keySeconds * 1000 - leaseMs + 1, 'unknown'],
    ] as const) {
      const shop = await testTable();
      const provider = new FakeProvider(true);
      let now = start;
      const run = (dies: boolean) =>
        idempotentLease(
          shop.table,
          callOf(
            async (lease) => {
              await lease.effect('reserve', { keySeconds }, () => {
                now += 20_000;
                return 'r';
              });
              const body = await lease.effect('charge', { keySeconds }, ({ providerKey }) => {
                const id = provider.charge('k1', providerKey);
                if (dies) throw new Error('dead');
                return id;
              });
              return { body };
            },
            { now: () => now },
          ),
        );
      await expect(run(true)).rejects.toThrow('dead');
      now += later;
      expect(await run(false)).toMatchObject({ outcome });
      expect(provider.charges).toHaveLength(1);
    }
  });

  it('counts no recovery point of a later attempt, nor one beside an effect that is open', async () => {
    for (const inFirst of [true, false]) {
      const shop = await testTable();
      const provider = new FakeProvider(true);
      let now = start;
      const run = (first: boolean) =>
        idempotentLease(
          shop.table,
          callOf(
            async (lease) => {
              if (!first) await lease.checkpoint('seen');
              const body = await lease
                .effect('charge', { keySeconds }, ({ providerKey }) => {
                  const id = provider.charge('k1', providerKey);
                  if (first) throw new Error('dead');
                  return id;
                })
                .catch(async (error: unknown) => {
                  now += 20_000;
                  if (inFirst) await lease.checkpoint('failed');
                  throw error;
                });
              return { body };
            },
            { now: () => now },
          ),
        );
      await expect(run(true)).rejects.toThrow('dead');
      now = start + keySeconds * 1000 - 20_000;
      provider.forget();
      expect(await run(false)).toMatchObject({ outcome: 'unknown', unknown: { since: new Date(start) } });
      expect(provider.charges).toHaveLength(1);
    }
  });

  it('is asked again by a decision, from which the time counts anew', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(true);
    await expect(charge(shop, provider, start, true)).rejects.toThrow('dead');
    const at2 = start + keySeconds * 1000;
    const seen = await charge(shop, provider, at2);
    const unknown = seen.outcome === 'unknown' ? seen.unknown : undefined;
    provider.charges.length = 0;
    provider.forget();
    expect(await resolveUnknown(shop.table, identity('k1'), unknown as Unknown, 'retry', at(at2))).toBe('resolved');
    await expect(charge(shop, provider, at2, true)).rejects.toThrow('dead');
    expect(await charge(shop, provider, at2 + keySeconds * 1000 - leaseMs)).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });
});
