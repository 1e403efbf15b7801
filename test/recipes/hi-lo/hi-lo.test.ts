import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { InvalidInputError, InvalidStoredItemError } from '../../../lib/commands/index.js';
import { hiLo, hiLoBigint } from '../../../lib/recipes/hi-lo/hi-lo.js';
import { hiLoEntity } from '../../../lib/recipes/hi-lo/hi-lo-entity.js';
import { NumbersExhaustedError } from '../../../lib/recipes/hi-lo/numbers-exhausted-error.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, rejection, type RecipeShop } from '../../support/recipe-shop.js';

let here: RecipeShop;
let names = 0;
const fresh = (): string => `hilo-${++names}`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

describe('hiLo', () => {
  it('hands a block out in order and claims the next when it is used up', async () => {
    let claims = 0;
    const ids = hiLo(
      here.faulty(() => ++claims < 0),
      { name: fresh(), blockSize: 3 },
    );
    const numbers = [];
    for (let i = 0; i < 7; i++) numbers.push(await ids.next());
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(claims).toBe(3);
  });

  it('has one claim in flight, however many wait', async () => {
    let inFlight = 0;
    let most = 0;
    const slow = here.faulty(async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return false;
    });
    const ids = hiLo(slow, { name: fresh(), blockSize: 8 });
    const numbers = await Promise.all(times(20, () => ids.next()));
    expect(numbers).toEqual(times(20, (i) => i + 1));
    expect(most).toBe(1);
  });

  it('gives 20 concurrent processes numbers of their own', async () => {
    const name = fresh();
    const processes = times(20, (i) => hiLo(here.shop, { name, blockSize: 1 + (i % 4) }));
    const numbers = await Promise.all(times(200, (i) => processes[i % 20]!.next()));
    expect(new Set(numbers).size).toBe(200);
  });

  it('wastes a block where a response is lost and the client sends again', async () => {
    const ids = hiLo(here.faulty(loseFirst('UpdateItem')), { name: fresh(), blockSize: 10 });
    expect(await ids.next()).toBe(11);
    expect(await ids.next()).toBe(12);
  });

  it('fails those that wait for a failed claim, and claims anew for the next', async () => {
    let broken = true;
    const ids = hiLo(
      here.faulty(() => broken && 'before', 1),
      { name: fresh() },
    );
    const waiting = await Promise.allSettled(times(3, () => ids.next()));
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    broken = false;
    expect(await ids.next()).toBe(1);
  });

  it('ends one wait by its signal, and lets the others go on', async () => {
    let claims = 0;
    const slow = here.faulty(async () => {
      claims++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return false;
    });
    const ids = hiLo(slow, { name: fresh() });
    const gone = new AbortController();
    const first = rejection(ids.next({ signal: gone.signal }));
    const others = Promise.all([ids.next(), ids.next({ signal: new AbortController().signal })]);
    const reason = new Error('the caller left');
    gone.abort(reason);
    expect(await first).toBe(reason);
    expect(await others).toEqual([1, 2]);
    expect(claims).toBe(1);
    expect(await rejection(ids.next({ signal: gone.signal }))).toBe(reason);
  });

  it('hears a claim that fails after all its waiters left', async () => {
    const unheard = vi.fn();
    process.on('unhandledRejection', unheard);
    const failing = here.faulty(() => new Promise((resolve) => setTimeout(() => resolve('before'), 10)), 1);
    const ids = hiLo(failing, { name: fresh() });
    await rejection(ids.next({ signal: AbortSignal.timeout(1) }));
    await new Promise((resolve) => setTimeout(resolve, 40));
    process.off('unhandledRejection', unheard);
    expect(unheard).not.toHaveBeenCalled();
  });

  it('prefetches at the watermark only where asked to', async () => {
    let claims = 0;
    const counted = here.faulty(() => ++claims < 0);
    const lazy = hiLo(counted, { name: fresh(), blockSize: 4 });
    for (let i = 0; i < 4; i++) await lazy.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(claims).toBe(1);

    claims = 0;
    const eager = hiLo(counted, { name: fresh(), blockSize: 4, prefetchAt: 2 });
    await eager.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(claims).toBe(1);
    await eager.next();
    await vi.waitFor(() => expect(claims).toBe(2));
    expect([await eager.next(), await eager.next(), await eager.next()]).toEqual([3, 4, 5]);
  });

  it('survives a failed prefetch: nothing is rejected unheard, and the next claim gets a block', async () => {
    const unheard = vi.fn();
    process.on('unhandledRejection', unheard);
    let sent = 0;
    const ids = hiLo(
      here.faulty(() => ++sent === 2 && 'before', 1),
      { name: fresh(), blockSize: 3, prefetchAt: 2 },
    );
    expect(await ids.next()).toBe(1);
    await vi.waitFor(() => expect(sent).toBe(2));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([await ids.next(), await ids.next(), await ids.next()]).toEqual([2, 3, 4]);
    process.off('unhandledRejection', unheard);
    expect(unheard).not.toHaveBeenCalled();
  });

  it('stops before numbers stop being exact, where bigints go on', async () => {
    const name = fresh();
    const last = BigInt(Number.MAX_SAFE_INTEGER);
    await here.shop.of(hiLoEntity()).put({ name, hi: last - 2n, format: 1 });
    const ids = hiLo(here.shop, { name, blockSize: 2 });
    expect([await ids.next(), await ids.next()]).toEqual([Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]);
    expect(await rejection(ids.next())).toBeInstanceOf(NumbersExhaustedError);
    const wide = hiLoBigint(here.shop, { name, blockSize: 2 });
    expect(await wide.next()).toBe(last + 3n);
    const low = fresh();
    await here.shop.of(hiLoEntity()).put({ name: low, hi: -last - 2n, format: 1 });
    expect(await rejection(hiLo(here.shop, { name: low, blockSize: 2 }).next())).toBeInstanceOf(NumbersExhaustedError);
    expect(await hiLoBigint(here.shop, { name: low, blockSize: 2 }).next()).toBe(-last + 1n);
    expect(await hiLo(here.shop, { name: low, blockSize: 2 }).next()).toBe(Number(-last + 3n));
    const far = fresh();
    await here.shop.of(hiLoEntity()).put({ name: far, hi: 10n ** 37n, format: 1 });
    expect(await hiLoBigint(here.shop, { name: far }).next()).toBe(10n ** 37n + 1n);
  });

  it.runIf(embedded)('hands out no number of more than 38 digits, and none that is not whole', async () => {
    const far = fresh();
    const last = 10n ** 38n - 1n;
    await here.shop.of(hiLoEntity()).put({ name: far, hi: last - 2n, format: 1 });
    const wide = hiLoBigint(here.shop, { name: far, blockSize: 2 });
    expect([await wide.next(), await wide.next()]).toEqual([last - 1n, last]);
    // Whether the block is refused by the database or here, no number is given twice.
    await rejection(wide.next());
    await rejection(wide.next());
    const parts = fresh();
    const { pk, sk } = hiLoEntity().key({ name: parts });
    await here.db.client.send(
      new PutItemCommand({
        TableName: here.shop.name,
        Item: {
          pk: { S: pk },
          sk: { S: sk },
          name: { S: parts },
          hi: { N: '0.5' },
          format: { N: '1' },
          _type: { S: 'HILO' },
        },
      }),
    );
    expect(await rejection(hiLo(here.shop, { name: parts }).next())).toBeInstanceOf(InvalidStoredItemError);
    expect(await rejection(hiLoBigint(here.shop, { name: parts }).next())).toBeInstanceOf(InvalidStoredItemError);
  });

  it('refuses sizes that are none, and a newer format', async () => {
    const make = (options: object) => () => hiLo(here.shop, { name: 'x', ...options });
    expect(make({ blockSize: 0 })).toThrow(InvalidInputError);
    expect(make({ blockSize: 10, prefetchAt: 10 })).toThrow(InvalidInputError);
    expect(make({ prefetchAt: -1 })).toThrow(InvalidInputError);
    const name = fresh();
    await here.shop.of(hiLoEntity()).put({ name, hi: 5n, format: 2 });
    expect(await rejection(hiLo(here.shop, { name }).next())).toBeInstanceOf(InvalidStoredItemError);
  });

  it.runIf(embedded)('costs one request and one write unit a block', async () => {
    const ids = hiLo(here.shop, { name: fresh(), blockSize: 50 });
    const cost = await here.costOf(() => Promise.all(times(50, () => ids.next())));
    expect(cost).toEqual({ operations: ['UpdateItem'], writeUnits: 1, readUnits: 0 });
  });

  it('never gives a number twice, whatever the blocks, prefetches, lost responses and failures', async () => {
    const worker = fc.record({
      blockSize: fc.integer({ min: 1, max: 5 }),
      prefetchAt: fc.integer({ min: 0, max: 4 }),
      calls: fc.integer({ min: 1, max: 12 }),
      faults: fc.array(fc.constantFrom(false, true, 'before' as const), { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(worker, { minLength: 1, maxLength: 4 }), async (workers) => {
        const name = fresh();
        const given = await Promise.all(
          workers.map(async ({ blockSize, prefetchAt, calls, faults }) => {
            let sent = 0;
            const shop = here.faulty(() => faults[sent++] ?? false, 1);
            const ids = hiLo(shop, { name, blockSize, prefetchAt: Math.min(prefetchAt, blockSize - 1) });
            const settled = await Promise.allSettled(times(calls, () => ids.next()));
            return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
          }),
        );
        const numbers = given.flat();
        expect(new Set(numbers).size).toBe(numbers.length);
        expect(numbers.every((number) => Number.isSafeInteger(number) && number > 0)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
