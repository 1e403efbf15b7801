import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TransactionCanceledException } from '../../../lib/commands/index.js';
import {
  InvalidInputError,
  InvalidStoredItemError,
  entity,
  integer,
  retryOnConflict,
  string,
  transactWrite,
  type Table,
} from '../../../lib/commands/index.js';
import { LockLostError, LockNotAcquiredError } from '../../../lib/recipes/lock/errors.js';
import { isHeld } from '../../../lib/recipes/lock/is-held.js';
import type { Lock } from '../../../lib/recipes/lock/lock.js';
import { lockEntity } from '../../../lib/recipes/lock/lock-entity.js';
import { Locks } from '../../../lib/recipes/lock/locks.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, rejection, type RecipeShop } from '../../support/recipe-shop.js';

const Page = entity('PAGE', {
  pk: 'PAGE#{id}',
  sk: 'PAGE',
  attributes: { id: string(), value: integer() },
});

let here: RecipeShop;
let names = 0;
const fresh = (): string => `lock-${++names}`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

/** Whether a transaction with `isHeld` commits. */
const passes = async (lock: Lock, shop: Table = here.shop): Promise<boolean> => {
  const steps = () => ({ held: isHeld(lock), page: shop.of(Page).put({ id: lock.name, value: lock.token }) });
  const outcome = await retryOnConflict(() => transactWrite(shop, steps()).trySend(), { on: 'transactionConflict' });
  return outcome.committed;
};

describe('Locks', () => {
  it('give a lock to one owner at a time, with a token that grows', async () => {
    const locks = new Locks(here.shop);
    const name = fresh();
    const first = await locks.acquire(name);
    expect(first.token).toBe(1);
    expect(first.leftMs).toBeGreaterThan(29_000);
    expect(await locks.tryAcquire(name)).toBeUndefined();
    expect(await rejection(locks.acquire(name))).toBeInstanceOf(LockNotAcquiredError);
    expect(await first.release()).toBe(true);
    expect(first.leftMs).toBe(0);
    const second = await locks.acquire(name);
    expect(second.token).toBe(2);
    expect(second.owner).not.toBe(first.owner);
  });

  it('keep the item of a released lock, and give it no time to live', async () => {
    const name = fresh();
    const lock = await new Locks(here.shop).acquire(name);
    const items = here.shop.of(lockEntity());
    const key = { name };
    expect(await items.get(key).consistent().item()).toEqual({
      name,
      owner: lock.owner,
      token: 1,
      heldUntil: lock.heldUntil,
      format: 1,
    });
    await lock.release();
    expect(await items.get(key).consistent().item()).toEqual({ name, token: 1, format: 1 });
    expect(items.put({ name, token: 1, format: 1 }).toRequest().Item).not.toHaveProperty('ttl');
  });

  it('let a lock be taken when its lease and the margin for clocks are over, and fence off the old holder', async () => {
    let now = Date.UTC(2026, 11, 1);
    const locks = new Locks(here.shop, { leaseMs: 10_000, skewMs: 1_000, clock: () => now });
    const name = fresh();
    const old = await locks.acquire(name);
    now += 11_000;
    expect(await locks.tryAcquire(name)).toBeUndefined();
    // The lease is over, and nobody took it: there is nobody to collide with.
    expect(await passes(old)).toBe(true);
    now += 1;
    const next = await locks.acquire(name);
    expect(next.token).toBe(2);
    expect(await passes(old)).toBe(false);
    expect(await passes(next)).toBe(true);
    expect(await rejection(old.renew())).toBeInstanceOf(LockLostError);
    expect(await old.release()).toBe(false);
    expect(await passes(next)).toBe(true);
  });

  it('renew a lease, also one that ended and nobody took', async () => {
    let now = Date.UTC(2026, 11, 1);
    const locks = new Locks(here.shop, { leaseMs: 10_000, skewMs: 0, clock: () => now });
    const lock = await locks.acquire(fresh());
    now += 9_000;
    await lock.renew();
    expect(lock.heldUntil.getTime()).toBe(now + 10_000);
    now += 60_000;
    await lock.renew();
    expect(await locks.tryAcquire(lock.name)).toBeUndefined();
    expect(lock.token).toBe(1);
  });

  it('keep what a later renewal promised when an earlier one arrives after it', async () => {
    let now = Date.UTC(2026, 11, 1);
    const locks = new Locks(here.shop, { leaseMs: 10_000, skewMs: 0, clock: () => now });
    const lock = await locks.acquire(fresh());
    now += 8_000;
    await lock.renew();
    const promised = lock.heldUntil;
    now -= 5_000;
    await lock.renew();
    expect(lock.heldUntil).toEqual(promised);
    const stored = await here.shop.of(lockEntity()).get({ name: lock.name }).consistent().item();
    expect(stored?.heldUntil).toEqual(promised);
  });

  it('fence off and refuse to renew what was released', async () => {
    const lock = await new Locks(here.shop).acquire(fresh());
    expect(await passes(lock)).toBe(true);
    await lock.release();
    expect(await passes(lock)).toBe(false);
    expect(await rejection(lock.renew())).toBeInstanceOf(LockLostError);
    expect(await lock.release()).toBe(true);
  });

  it('give the lock to one of 20 concurrent callers', async () => {
    const name = fresh();
    const locks = await Promise.all(times(20, () => new Locks(here.shop).tryAcquire(name)));
    expect(locks.filter((lock) => lock !== undefined)).toHaveLength(1);
  });

  it('wait for the lock up to a bound', async () => {
    const locks = new Locks(here.shop, { pollMs: 20 });
    const name = fresh();
    const held = await locks.acquire(name);
    const started = performance.now();
    const error = await rejection(locks.acquire(name, { waitMs: 100 }));
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    expect(performance.now() - started).toBeGreaterThanOrEqual(99);
    expect(String(error)).not.toContain(name);
    const waiting = locks.acquire(name, { waitMs: 5_000 });
    await held.release();
    expect((await waiting).token).toBe(2);
  });

  it('end a wait by its signal', async () => {
    const locks = new Locks(here.shop, { pollMs: 1_000 });
    const name = fresh();
    await locks.acquire(name);
    const started = performance.now();
    await rejection(locks.acquire(name, { waitMs: 10_000, signal: AbortSignal.timeout(30) }));
    expect(performance.now() - started).toBeLessThan(900);
  });

  it('know the lock of a client that sent again after a lost response', async () => {
    const name = fresh();
    const lock = await new Locks(here.faulty(loseFirst('UpdateItem'))).acquire(name);
    expect(lock.token).toBe(1);
    expect(lock.leftMs).toBeGreaterThan(29_000);
    expect(await passes(lock)).toBe(true);
  });

  it('know by a read what became of an acquisition whose outcome stayed unknown', async () => {
    const name = fresh();
    const lock = await new Locks(here.faulty(loseFirst('UpdateItem'), 1)).acquire(name);
    expect(lock.token).toBe(1);
    expect(await passes(lock)).toBe(true);
    const never = new Locks(here.faulty((operation) => operation === 'UpdateItem' && 'before', 1));
    await expect(never.acquire(fresh())).rejects.toThrow('socket hang up');
  });

  it('renew and release through lost responses', async () => {
    const name = fresh();
    let losing = false;
    const lock = await new Locks(here.faulty(() => losing && !(losing = false))).acquire(name);
    losing = true;
    await lock.renew();
    losing = true;
    expect(await lock.release()).toBe(true);
    const next = await new Locks(here.shop).acquire(name);
    losing = true;
    expect(await lock.release()).toBe(false);
    expect(await passes(next)).toBe(true);
  });

  it.runIf(embedded)('take a lock that transactions of its holder keep busy for held', async () => {
    const slow = await recipeShop({ transactionMs: 1_500 });
    const locks = new Locks(slow.shop);
    const lock = await locks.acquire('busy');
    const work = passes(lock, slow.shop);
    expect(await locks.tryAcquire('busy')).toBeUndefined();
    expect(await rejection(locks.acquire('busy'))).toBeInstanceOf(LockNotAcquiredError);
    expect(await work).toBe(true);
    await slow.close();
  });

  it('refuse options that can not work, and a newer format', async () => {
    expect(() => new Locks(here.shop, { leaseMs: 0 })).toThrow(InvalidInputError);
    expect(() => new Locks(here.shop, { skewMs: -1 })).toThrow(InvalidInputError);
    expect(() => new Locks(here.shop, { pollMs: NaN })).toThrow(InvalidInputError);
    const locks = new Locks(here.shop);
    const name = fresh();
    expect(await rejection(locks.acquire(name, { waitMs: -1 }))).toBeInstanceOf(InvalidInputError);
    await here.shop.of(lockEntity()).put({ name, token: 7, format: 2 });
    expect(await rejection(locks.tryAcquire(name))).toBeInstanceOf(InvalidStoredItemError);
  });

  it.runIf(embedded)('cost one request and one write unit a step', async () => {
    const locks = new Locks(here.shop);
    const name = fresh();
    const one = { operations: ['UpdateItem'], writeUnits: 1, readUnits: 0 };
    let lock: Lock | undefined;
    expect(await here.costOf(async () => (lock = await locks.acquire(name)))).toEqual(one);
    expect(await here.costOf(() => locks.tryAcquire(name))).toEqual(one);
    expect(await here.costOf(() => lock!.renew())).toEqual(one);
    const transaction = () =>
      transactWrite(here.shop, { held: isHeld(lock!), page: here.shop.of(Page).put({ id: name, value: 1 }) }).send();
    expect(await here.costOf(transaction)).toMatchObject({ operations: ['TransactWriteItems'], writeUnits: 4 });
    expect(await here.costOf(() => lock!.release())).toEqual(one);
  });
});

describe('withLock', () => {
  it('lets 20 concurrent writers change one value in turn', async () => {
    const name = fresh();
    const pages = here.shop.of(Page);
    await pages.put({ id: name, value: 0 });
    await Promise.all(
      times(20, async () => {
        const locks = new Locks(here.shop, { pollMs: 10 });
        await locks.withLock(
          name,
          async ({ lock, signal }) => {
            const page = await pages.get({ id: name }).consistent().item({ signal });
            const change = () => ({ held: isHeld(lock), page: pages.put({ id: name, value: page!.value + 1 }) });
            await retryOnConflict(() => transactWrite(here.shop, change()).send({ signal }), {
              on: 'transactionConflict',
              maxAttempts: 20,
            });
          },
          { waitMs: 15_000 },
        );
      }),
    );
    expect((await pages.get({ id: name }).consistent().item())?.value).toBe(20);
    expect((await here.shop.of(lockEntity()).get({ name }).consistent().item())?.token).toBe(20);
  }, 20_000);

  it('renews while the work runs, and releases after it', async () => {
    const locks = new Locks(here.shop, { leaseMs: 450, skewMs: 0 });
    const name = fresh();
    const result = await locks.withLock(name, async ({ lock, signal }) => {
      await wait(1_000);
      expect(signal.aborted).toBe(false);
      expect(await locks.tryAcquire(name)).toBeUndefined();
      return lock.token;
    });
    expect(result).toBe(1);
    expect(await locks.tryAcquire(name)).toBeDefined();
  });

  it('releases after work that throws, and throws what it threw', async () => {
    const locks = new Locks(here.shop);
    const name = fresh();
    const reason = new Error('the work failed');
    expect(await rejection(locks.withLock(name, () => Promise.reject(reason)))).toBe(reason);
    expect(await locks.tryAcquire(name)).toBeDefined();
  });

  it('aborts the work when another holder took the lock', async () => {
    let now = Date.UTC(2026, 11, 1);
    const locks = new Locks(here.shop, { leaseMs: 200, skewMs: 0, clock: () => now });
    const other = new Locks(here.shop, { leaseMs: 60_000, skewMs: 0, clock: () => now });
    const name = fresh();
    await locks.withLock(name, async ({ lock, signal }) => {
      now += 201;
      const next = await other.acquire(name);
      await rejection(wait(2_000, undefined, { signal }));
      expect(signal.reason).toBeInstanceOf(LockLostError);
      expect(await passes(lock)).toBe(false);
      expect(await passes(next)).toBe(true);
    });
    expect(await other.tryAcquire(name)).toBeUndefined();
  });

  it('aborts the work when the lease ends with no renewal through, be they refused or hanging', async () => {
    for (const fault of ['before', 'hangs'] as const) {
      let broken = false;
      const shop = here.faulty(async () => {
        while (broken && fault === 'hangs') await wait(10);
        return broken && 'before';
      }, 1);
      const locks = new Locks(shop, { leaseMs: 120, skewMs: 0 });
      const name = fresh();
      const started = performance.now();
      await locks.withLock(name, async ({ signal }) => {
        broken = true;
        await rejection(wait(5_000, undefined, { signal }));
        expect(signal.reason).toBeInstanceOf(LockLostError);
        expect(performance.now() - started).toBeLessThan(1_000);
        broken = false;
      });
    }
  });

  it('goes on after a renewal that failed once', async () => {
    let broken = 0;
    const shop = here.faulty((operation) => operation === 'UpdateItem' && broken-- > 0 && 'before', 1);
    const locks = new Locks(shop, { leaseMs: 600, skewMs: 0 });
    await locks.withLock(fresh(), async ({ signal }) => {
      broken = 1;
      await wait(1_000);
      expect(signal.aborted).toBe(false);
    });
  });

  it("hands on the caller's own signal", async () => {
    const locks = new Locks(here.shop);
    const gone = new AbortController();
    const reason = new Error('the caller left');
    const work = locks.withLock(
      fresh(),
      ({ signal }) => {
        gone.abort(reason);
        return Promise.resolve(signal.reason as unknown);
      },
      { signal: gone.signal },
    );
    expect(await work).toBe(reason);
  });

  it('keeps a lock while transactions with isHeld and renewals meet', async () => {
    const locks = new Locks(here.shop, { leaseMs: 1_500, skewMs: 0 });
    const pages = here.shop.of(Page);
    await locks.withLock(fresh(), async ({ lock, signal }) => {
      for (let round = 0; round < 40; round++) {
        await Promise.all(
          times(3, (i) =>
            retryOnConflict(
              () =>
                transactWrite(here.shop, { held: isHeld(lock), page: pages.put({ id: `p${i}`, value: round }) }).send(),
              { on: 'transactionConflict', maxAttempts: 20 },
            ),
          ),
        );
      }
      expect(signal.aborted).toBe(false);
    });
  });

  it('stops a transaction of a lost lock with the name of its step', async () => {
    const lock = await new Locks(here.shop).acquire(fresh());
    await lock.release();
    const steps = { held: isHeld(lock), page: here.shop.of(Page).put({ id: 'x', value: 1 }) };
    const error = await rejection(transactWrite(here.shop, steps).send());
    expect((error as TransactionCanceledException).failed['held']?.reason).toBe('ConditionalCheckFailed');
  });
});
