import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { entity, integer, string, transactWrite } from '../../../lib/commands/index.js';
import { LockLostError } from '../../../lib/recipes/lock/errors.js';
import { isHeld } from '../../../lib/recipes/lock/is-held.js';
import type { Lock } from '../../../lib/recipes/lock/lock.js';
import { Locks } from '../../../lib/recipes/lock/locks.js';
import { recipeShop, type RecipeShop } from '../../support/recipe-shop.js';

const Work = entity('WORK', {
  pk: 'WORK#{id}',
  sk: 'WORK',
  attributes: { id: string(), token: integer() },
});

let here: RecipeShop;
let names = 0;

beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const processes = 3;
const process = fc.integer({ min: 0, max: processes - 1 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('acquire' as const), process }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('renew' as const), process }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('release' as const), process }) },
  // Each clock runs, stands or jumps on its own, by far more than the margin.
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant('clock' as const), process, by: fc.integer({ min: -5_000, max: 5_000 }) }),
  },
);

it('never has two holders that both pass isHeld, and its token only grows, whatever the clocks and faults', async () => {
  const faults = fc.array(fc.constantFrom(false, false, false, true, 'before' as const), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), faults, async (steps, faults) => {
      const name = `lock-${++names}`;
      let sent = 0;
      const clocks = Array.from({ length: processes }, () => Date.UTC(2026, 11, 1));
      const shop = here.faulty(() => faults[sent++] ?? false, 2);
      const all = clocks.map((_, i) => new Locks(shop, { leaseMs: 1_000, skewMs: 100, clock: () => clocks[i]! }));
      const acquired: Lock[] = [];
      const latest: (Lock | undefined)[] = [];
      for (const { process, ...step } of steps) {
        const lock = latest[process];
        if (step.act === 'clock') clocks[process]! += step.by;
        else if (step.act === 'acquire') {
          const got = await all[process]!.tryAcquire(name).catch(() => undefined);
          if (got !== undefined) {
            const last = acquired.at(-1);
            expect(got.token).toBeGreaterThan(last?.token ?? 0);
            acquired.push(got);
            latest[process] = got;
          }
        } else if (step.act === 'renew') {
          await lock?.renew().catch((error: unknown) => {
            if (error instanceof LockLostError) latest[process] = undefined;
          });
        } else {
          await lock?.release().catch(() => undefined);
        }
        // Every lock that anyone ever got still tries, as a process that was paused does.
        const work = here.shop.of(Work);
        let passing = 0;
        for (const lock of acquired) {
          const write = { held: isHeld(lock), work: work.put({ id: name, token: lock.token }) };
          if ((await transactWrite(here.shop, write).trySend()).committed) passing++;
        }
        expect(passing).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);

it('has writes of growing tokens only, whatever the interleaving of concurrent holders', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -3_000, max: 3_000 }), { minLength: 2, maxLength: 5 }),
      async (skews) => {
        const name = `lock-${++names}`;
        const written: number[] = [];
        await Promise.all(
          skews.map(async (skew) => {
            // Skews beyond the margin: holders take the lock from each other while they work.
            const locks = new Locks(here.shop, { leaseMs: 1_000, skewMs: 0, clock: () => Date.now() + skew });
            for (let round = 0; round < 3; round++) {
              const lock = await locks.tryAcquire(name).catch(() => undefined);
              if (lock === undefined) continue;
              const steps = { held: isHeld(lock), work: here.shop.of(Work).put({ id: name, token: lock.token }) };
              const outcome = await transactWrite(here.shop, steps)
                .trySend()
                .catch(() => undefined);
              if (outcome?.committed === true) written.push(lock.token);
            }
          }),
        );
        // Answers may arrive out of order by a turn; the item holds the greatest token that wrote.
        const item = await here.shop.of(Work).get({ id: name }).consistent().item();
        expect(new Set(written).size).toBe(written.length);
        expect(item?.token ?? 0).toBe(Math.max(0, ...written));
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
