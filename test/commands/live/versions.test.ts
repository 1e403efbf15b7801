import { describe, expect, it } from 'vitest';
import {
  ConditionalCheckFailedException,
  conditionCheck,
  retryOnConflict,
  transactWrite,
} from '../../../lib/commands/index.js';
import { liveTable } from '../support/live.js';
import { Cart } from '../support/shop.js';

const live = liveTable();
const carts = () => live.shop.of(Cart);
let serial = 0;
const fresh = (): string => `cart${++serial}`;
const revision = async (id: string): Promise<number | undefined> => (await carts().get({ id }).item())?.revision;

describe('a put of a versioned entity', () => {
  it('creates at version 0, and stores 1', async () => {
    const id = fresh();
    expect(await carts().put({ id }).send()).toEqual({ conditionMet: true, version: 1 });
    expect(await carts().get({ id }).item()).toEqual({ id, lines: [], revision: 1 });
  });

  it('fails at version 0 where an item is', async () => {
    const id = fresh();
    await carts().put({ id });
    await expect(carts().put({ id, revision: 0 }).send()).rejects.toThrow(ConditionalCheckFailedException);
    expect(await carts().put({ id }).trySend()).toEqual({ conditionMet: false });
  });

  it('replaces the version that it read, once', async () => {
    const id = fresh();
    await carts().put({ id });
    const read = await carts().get({ id }).item();
    expect(
      await carts()
        .put({ ...read!, owner: 'a' })
        .send(),
    ).toEqual({ conditionMet: true, version: 2 });
    await expect(
      carts()
        .put({ ...read!, owner: 'b' })
        .send(),
    ).rejects.toThrow(ConditionalCheckFailedException);
    expect(await carts().get({ id }).item()).toEqual({ id, lines: [], owner: 'a', revision: 2 });
    expect(read?.revision).toBe(1);
  });

  it('fails at a version where no item is', async () => {
    expect(await carts().put({ id: fresh(), revision: 3 }).trySend()).toEqual({ conditionMet: false });
  });

  it('stores the next version without a check after ignoreVersion()', async () => {
    const id = fresh();
    expect(await carts().put({ id, revision: 7 }).ignoreVersion().send()).toEqual({ conditionMet: true, version: 8 });
    expect(await revision(id)).toBe(8);
  });

  it('says the version that it stored also with trySend()', async () => {
    const id = fresh();
    const first = await carts().put({ id }).trySend();
    expect(first.conditionMet && first.version).toBe(1);
  });
});

describe('an update of a versioned entity', () => {
  it('checks the version that it is told, and stores the next', async () => {
    const id = fresh();
    await carts().put({ id });
    expect(await carts().update({ id }).set({ owner: 'a' }).ifVersion(1).send()).toEqual({
      conditionMet: true,
      version: 2,
    });
    expect(await carts().update({ id }).set({ owner: 'b' }).ifVersion(1).trySend()).toEqual({ conditionMet: false });
    expect(await carts().get({ id }).item()).toMatchObject({ owner: 'a', revision: 2 });
  });

  it('moves the version without a check after ignoreVersion(), and does not say it', async () => {
    const id = fresh();
    expect(await carts().update({ id }).set({ owner: 'a' }).ignoreVersion().send()).toEqual({ conditionMet: true });
    expect(await revision(id)).toBe(1);
    await carts().update({ id }).set({ owner: 'b' }).ignoreVersion();
    expect(await revision(id)).toBe(2);
  });

  it('makes a copy that was read before fail its next checked write', async () => {
    const id = fresh();
    await carts().put({ id });
    const tab = await carts().get({ id }).item();
    await carts().update({ id }).set({ lines: [] }).ignoreVersion();
    expect((await carts().put(tab!).trySend()).conditionMet).toBe(false);
  });

  it('keeps a version that it sets itself, and says it', async () => {
    const id = fresh();
    await carts().put({ id });
    expect(await carts().update({ id }).set({ revision: 20 }).ifVersion(1).send()).toEqual({
      conditionMet: true,
      version: 20,
    });
    expect(await revision(id)).toBe(20);
    await carts().update({ id }).set({ revision: 30 }).ignoreVersion();
    expect(await revision(id)).toBe(30);
  });

  it('never creates an item under ifVersion()', async () => {
    const id = fresh();
    for (const version of [0, 1]) {
      expect((await carts().update({ id }).set({ owner: 'a' }).ifVersion(version).trySend()).conditionMet).toBe(false);
    }
    expect(await revision(id)).toBeUndefined();
  });

  it('gives the version with return()', async () => {
    const id = fresh();
    expect(await carts().update({ id }).set({ owner: 'a' }).ignoreVersion().return(Cart.attrs.revision)).toBe(1);
    expect(await carts().update({ id }).set({ owner: 'b' }).ifVersion(1).return(Cart.attrs.revision)).toBe(2);
  });
});

describe('a delete of a versioned entity', () => {
  it('of an item that was read holds only at its version', async () => {
    const id = fresh();
    await carts().put({ id });
    const read = await carts().get({ id }).item();
    await carts().update({ id }).set({ owner: 'a' }).ignoreVersion();
    expect((await carts().deleteItem(read!).trySend()).conditionMet).toBe(false);
    expect(
      await carts()
        .deleteItem({ ...read!, revision: 2 })
        .send(),
    ).toEqual({ conditionMet: true });
    expect(await revision(id)).toBeUndefined();
  });

  it('by key checks the version that it is told, or none', async () => {
    const id = fresh();
    await carts().put({ id });
    expect((await carts().delete({ id }).ifVersion(5).trySend()).conditionMet).toBe(false);
    expect(await carts().delete({ id }).ifVersion(1).send()).toEqual({ conditionMet: true });
    await carts().put({ id });
    expect(await carts().delete({ id }).ignoreVersion().returnOld()).toMatchObject({ item: { id, revision: 1 } });
  });
});

describe('versions in a transaction', () => {
  it('are checked and moved step by step', async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()];
    await carts().put({ id: a });
    await carts().put({ id: b });
    const steps = (version: number) => ({
      put: carts().put({ id: a, revision: version }),
      update: carts().update({ id: b }).set({ owner: 'x' }).ifVersion(version),
      free: carts().update({ id: c }).set({ owner: 'x' }).ignoreVersion(),
    });
    expect(await transactWrite(live.shop, steps(5)).trySend()).toMatchObject({
      committed: false,
      failed: { put: { reason: 'ConditionalCheckFailed' }, update: { reason: 'ConditionalCheckFailed' } },
    });
    expect(await revision(c)).toBeUndefined();
    expect(await transactWrite(live.shop, steps(1)).send()).toEqual({ committed: true });
    expect(await Promise.all([a, b, c].map(revision))).toEqual([2, 2, 1]);
    const check = (version: number) =>
      transactWrite(live.shop, {
        seen: conditionCheck(carts(), { id: a }).ifVersion(version),
        other: carts().delete({ id: c }).ignoreVersion(),
      }).trySend();
    expect((await check(1)).committed).toBe(false);
    expect((await check(2)).committed).toBe(true);
  });
});

describe('retryOnConflict()', () => {
  it('loses no write of 20 concurrent writers', async () => {
    const id = fresh();
    await carts().put({ id });
    let runs = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        retryOnConflict(
          async () => {
            runs++;
            const cart = await carts().get({ id }).consistent().item();
            await carts().put({ ...cart!, lines: [...cart!.lines, String(writer)] });
          },
          { maxAttempts: 100 },
        ),
      ),
    );
    const cart = await carts().get({ id }).item();
    expect(new Set(cart?.lines).size).toBe(20);
    expect(cart?.revision).toBe(21);
    expect(runs).toBeGreaterThan(20);
  });

  it('gives the first run what was read before, and reads again in later ones', async () => {
    const id = fresh();
    await carts().put({ id });
    const before = await carts().get({ id }).item();
    await carts()
      .update({ id })
      .set({ lines: ['other'] })
      .ignoreVersion();
    const seen: number[] = [];
    await retryOnConflict(async ({ run }) => {
      seen.push(run);
      const cart = run === 1 ? before : await carts().get({ id }).consistent().item();
      await carts().put({ ...cart!, owner: 'a' });
    });
    expect(seen).toEqual([1, 2]);
    expect(await carts().get({ id }).item()).toMatchObject({ owner: 'a', lines: ['other'] });
  });

  it('runs 5 times by default, and rethrows the last failure', async () => {
    const id = fresh();
    await carts().put({ id });
    let runs = 0;
    const failures: unknown[] = [];
    const failure = await retryOnConflict(async () => {
      runs++;
      await carts()
        .put({ id })
        .catch((error: unknown) => {
          failures.push(error);
          throw error;
        });
    }).catch((error: unknown) => error);
    expect(runs).toBe(5);
    expect(failure).toBe(failures[4]);
  });

  it('does not take a failed condition of trySend() for a conflict', async () => {
    const id = fresh();
    await carts().put({ id });
    let runs = 0;
    const result = await retryOnConflict(() => {
      runs++;
      return carts().put({ id }).trySend();
    });
    expect([runs, result.conditionMet]).toEqual([1, false]);
  });

  it('surfaces a failed condition at once on transactionConflict, and runs again for a transaction', async () => {
    const id = fresh();
    await carts().put({ id });
    let runs = 0;
    await expect(
      retryOnConflict(
        async () => {
          runs++;
          await transactWrite(live.shop, { claim: carts().unique({ id }) });
        },
        { on: 'transactionConflict' },
      ),
    ).rejects.toThrow(/claim: ConditionalCheckFailed/);
    expect(runs).toBe(1);
  });
});
