import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idempotentLease, type LeaseOutcome } from '../../../../lib/recipes/index.js';
import { recipeShop, type RecipeShop } from '../../../support/recipe-shop.js';
import { leaseMs, pay, payCall, start } from './pay.js';
import { FakeProvider } from './provider.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const caller = fc.record({
  startAfterTicks: fc.nat(40),
  /** Its clock: right, a lease ahead, or behind. */
  clock: fc.constantFrom(0, leaseMs, 2 * leaseMs, -leaseMs),
  /** Stands still before and after its charge. */
  ticksBefore: fc.nat(60),
  ticksAfter: fc.nat(60),
  /** Fails at the provider, after the charge. */
  failsAfterCharge: fc.boolean(),
  keeps: fc.boolean(),
  readFirst: fc.boolean(),
  withSteps: fc.boolean(),
  maxAttempts: fc.constantFrom(1, 3),
  /** Its requests, by number: of which the response is lost, and from which on it is dead. */
  lost: fc.uniqueArray(fc.nat(8), { maxLength: 2 }),
  dies: fc.option(fc.nat(12), { nil: Infinity }),
});

const ticks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await tick();
};

it.each([true, false])(
  'charges once at most, and gives one answer only, whatever the interleaving (keys: %s)',
  async (takesKeys) => {
    const { shop } = here;
    let run = 0;
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(caller, { minLength: 2, maxLength: 5 }), async (callers) => {
        const payment = `${takesKeys} ${run++}`;
        const provider = new FakeProvider(takesKeys);
        const call = async (caller: (typeof callers)[number]): Promise<LeaseOutcome | undefined> => {
          await ticks(caller.startAfterTicks);
          let sent = 0;
          let calls = 0;
          const faulty = here.faulty(() => {
            const request = sent++;
            return request >= caller.dies ? 'before' : caller.lost.includes(request);
          }, caller.maxAttempts);
          const around = async (charge: () => string): Promise<string> => {
            if (sent > caller.dies) throw new Error('dead');
            await ticks(caller.ticksBefore);
            const id = charge();
            await ticks(caller.ticksAfter);
            if (caller.failsAfterCharge && calls++ === 0) throw new Error('answer of the provider lost');
            return id;
          };
          const base = payCall(faulty, provider, payment, {
            around,
            now: () => start + caller.clock,
            afterError: caller.keeps ? 'keep' : 'release',
            readFirst: caller.readFirst,
          });
          const made = caller.withSteps
            ? base
            : {
                ...base,
                run: async (lease: Parameters<typeof base.run>[0]) => ({
                  body: JSON.stringify(await base.run(lease), ['answer', 'body']),
                }),
              };
          return idempotentLease(faulty, made).catch(() => undefined);
        };
        const outcomes = await Promise.all(callers.map(call));
        // When all is quiet and every lease has ended, the call is made until it is answered or needs a decision.
        const calm = () => pay(shop, provider, payment, { now: () => start + 10 * leaseMs });
        const settled = await calm();
        outcomes.push(settled, await calm(), await calm());

        const answers = new Set(
          outcomes.flatMap((outcome) => (outcome?.answer ? [JSON.stringify(outcome.answer)] : [])),
        );
        expect(answers.size).toBe(settled.outcome === 'unknown' ? 0 : 1);
        expect(provider.charges.length).toBeLessThanOrEqual(1);
        if (settled.outcome === 'unknown') expect(takesKeys).toBe(false);
        else {
          expect(settled.outcome).toMatch(/^(committed|replayed)$/);
          expect(provider.charges).toHaveLength(1);
        }
        expect(outcomes.filter((outcome) => outcome?.outcome === 'committed').length).toBeLessThanOrEqual(1);
        for (const outcome of outcomes) {
          const name = outcome?.outcome ?? 'threw';
          seen.set(name, (seen.get(name) ?? 0) + 1);
        }
      }),
      { numRuns: 60 },
    );
    // The property says little about what never came up.
    const wanted = ['threw', 'committed', 'replayed', 'inProgress', ...(takesKeys ? [] : ['unknown'])];
    expect([...seen.keys()]).toEqual(expect.arrayContaining(wanted));
  },
  60_000,
);
