import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotentLease, resolveUnknown, findUnknown, type LeaseOutcome } from '../../../../lib/recipes/index.js';
import { recipeShop, type RecipeShop } from '../../../support/recipe-shop.js';
import { identity, leaseMs, pay, payCall, start } from './pay.js';
import { FakeProvider } from './provider.js';

let here: RecipeShop;
let payments = 0;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

/** Dies at one of its moments: before or after a request, or around the charge. */
class Mortal {
  private moment = 0;
  private dead = false;
  /** @param dies the moment at which it dies, from 0 */
  constructor(private readonly dies: number) {}

  get died(): boolean {
    return this.dead;
  }
  /** One moment; true where it is dead from here on. */
  private passes(): boolean {
    if (this.moment++ === this.dies) this.dead = true;
    return this.dead;
  }
  readonly table = here.faulty((operation) => {
    if (operation === '' || this.passes()) return 'before';
    // Dead once the request has left: it takes effect, and nobody hears of it.
    return this.passes();
  }, 1);
  readonly around = (charge: () => string): string => {
    if (this.passes()) throw new Error('dead');
    const id = charge();
    if (this.passes()) throw new Error('dead');
    return id;
  };
}

/** Pays in a process that dies at a moment, then again when its lease is over; until no moment is left to die at. */
const eachMoment = async (
  takesKeys: boolean,
  check: (seen: {
    provider: FakeProvider;
    payment: string;
    moment: number;
    again: () => Promise<LeaseOutcome>;
  }) => Promise<void>,
): Promise<number> => {
  for (let moment = 0; ; moment++) {
    const provider = new FakeProvider(takesKeys);
    const payment = `p${payments++}`;
    const mortal = new Mortal(moment);
    // What it throws is nobody's to hear: it is dead. Its lease is not released either.
    const first = pay(mortal.table, provider, payment, { around: mortal.around }).catch(() => undefined);
    await first;
    if (!mortal.died) return moment;
    const again = () => pay(here.shop, provider, payment, { now: () => start + leaseMs });
    await check({ provider, payment, moment, again });
  }
};

it('of a provider with keys: a call that dies anywhere, and its repeat, make one charge and one answer', async () => {
  const moments = await eachMoment(true, async ({ provider, payment, again }) => {
    const second = await again();
    expect(second.outcome).toMatch(/^(committed|replayed)$/);
    expect(provider.chargesOf(payment)).toHaveLength(1);
    expect(await again()).toEqual({ outcome: 'replayed', replayed: true, answer: second.answer });
    expect(provider.chargesOf(payment)).toHaveLength(1);
  });
  // The lease, the result and the answer: before and after each, and around the charge.
  expect(moments).toBe(8);
});

it('of a provider without keys: a call that dies anywhere is never charged twice, and asks where that is open', async () => {
  const outcomes: string[] = [];
  const moments = await eachMoment(false, async ({ provider, payment, again }) => {
    const second = await again();
    outcomes.push(second.outcome);
    expect(await again()).toMatchObject({ outcome: second.outcome === 'unknown' ? 'unknown' : 'replayed' });
    expect(provider.chargesOf(payment).length).toBeLessThanOrEqual(1);
    if (second.outcome !== 'unknown') {
      expect(provider.chargesOf(payment)).toHaveLength(1);
      return;
    }
    expect(second.unknown).toMatchObject({ point: 'charge', attempt: 1, since: new Date(start) });
    const charged = provider.chargesOf(payment)[0];
    // What the provider says by the reference decides.
    expect(provider.charges.every(({ key }) => key === second.unknown.providerKey)).toBe(true);
    const decision = charged === undefined ? 'retry' : { done: charged };
    const now = () => start + leaseMs;
    expect(await resolveUnknown(here.shop, identity(payment), second.unknown, decision, { now })).toBe('resolved');
    expect(await findUnknown(here.shop, identity(payment), { now })).toBeUndefined();
    expect(await again()).toMatchObject({
      outcome: 'committed',
      answer: { body: `${charged ?? 'charge-0'} of attempt 2` },
    });
    expect(provider.chargesOf(payment)).toHaveLength(1);
  });
  expect(moments).toBe(10);
  expect(outcomes).toEqual([
    ...['committed', 'committed'], // around the lease
    ...['committed', 'unknown'], // around the mark
    ...['unknown', 'unknown'], // around the charge
    ...['unknown', 'committed'], // around its result
    ...['committed', 'replayed'], // around the answer
  ]);
});

describe('a process that lives on', () => {
  it.each([true, false])('and hears nothing of one of its requests makes one charge (keys: %s)', async (takesKeys) => {
    for (const maxAttempts of [1, 4]) {
      for (let lost = 0; lost < 4; lost++) {
        for (const when of ['before', true] as const) {
          const provider = new FakeProvider(takesKeys);
          const payment = `p${payments++}`;
          let sent = 0;
          const table = here.faulty(() => sent++ === lost && when, maxAttempts);
          const first = await pay(table, provider, payment).catch((error: unknown) => error);
          if (maxAttempts > 1) expect(first).toMatchObject({ outcome: 'committed', replayed: false });
          // The lease was released, or its response was lost with it: then it has to end first.
          const second = await pay(here.shop, provider, payment, { now: () => start + (lost === 0 ? leaseMs : 0) });
          expect(second.outcome).toMatch(/^(committed|replayed)$/);
          expect(provider.chargesOf(payment)).toHaveLength(1);
        }
      }
    }
  });

  it('answers though the response to its answer was lost for good', async () => {
    const provider = new FakeProvider(true);
    let lose = true;
    const table = here.faulty((operation) => operation === 'TransactWriteItems' && lose && !(lose = false), 1);
    expect(await pay(table, provider, 'lost-answer')).toMatchObject({ outcome: 'committed', replayed: false });
  });

  it('and whose every write fails from the charge on leaves a lease that is taken over', async () => {
    const provider = new FakeProvider(true);
    let dead = false;
    const table = here.faulty(() => (dead ? 'before' : false), 1);
    const around = (charge: () => string): string => {
      dead = true;
      return charge();
    };
    await expect(pay(table, provider, 'cut-off', { around })).rejects.toThrow('socket hang up');
    expect(await pay(here.shop, provider, 'cut-off')).toMatchObject({ outcome: 'inProgress', retryAfterSeconds: 30 });
    expect(await pay(here.shop, provider, 'cut-off', { now: () => start + leaseMs })).toMatchObject({
      outcome: 'committed',
    });
    expect(provider.chargesOf('cut-off')).toHaveLength(1);
  });
});

it('goes on after the effects that earlier attempts did', async () => {
  const done: string[] = [];
  let dies = true;
  const call = {
    ...payCall(here.shop, new FakeProvider(true), 'two-steps'),
    run: async (lease: Parameters<ReturnType<typeof payCall>['run']>[0]) => {
      const reserved = await lease.effect('reserve', { keySeconds: 0 }, () => {
        done.push('reserve');
        return 'r1';
      });
      await lease.checkpoint('seen', 'yes');
      if (dies) throw new Error('dead');
      expect(lease.points).toEqual({ reserve: 'r1', seen: 'yes' });
      const charged = await lease.effect('charge', { keySeconds: 86_400 }, () => {
        done.push('charge');
        return 'c1';
      });
      return { body: reserved + charged };
    },
  };
  await expect(idempotentLease(here.shop, call)).rejects.toThrow('dead');
  dies = false;
  expect(await idempotentLease(here.shop, call)).toMatchObject({ outcome: 'committed', answer: { body: 'r1c1' } });
  expect(done).toEqual(['reserve', 'charge']);
});
