import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInputError, entity, integer, string, timeToLive } from '../../lib/commands/index.js';
import {
  Locks,
  WindowedCounter,
  drainAggregate,
  findUnknown,
  fingerprintOf,
  idempotentLease,
  idempotentTransaction,
  isLive,
  live,
  liveItem,
  orderedGroups,
  orderedItems,
  outbox,
  publishEach,
  refuse,
} from '../../lib/recipes/index.js';
import { fresh, recipeShop, rejection, type RecipeShop } from '../support/recipe-shop.js';

const State = entity('STATE', {
  pk: 'STATE#{id}',
  sk: 'STATE',
  attributes: {
    id: string(),
    points: integer().optional(),
    seq: integer().optional(),
    expires: timeToLive().optional(),
  },
});

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const call = () => ({
  scope: 's',
  route: 'r',
  key: fresh(),
  fingerprint: fingerprintOf(1, ['x']),
  horizonSeconds: 60,
});

/** What takes a clock: a function that gives epoch milliseconds. */
const withClock: Record<string, (clock: () => number) => Promise<unknown>> = {
  WindowedCounter: async (clock) => {
    const expiry = { latenessMs: 86_400_000, keepMs: 2 * 86_400_000 };
    await new WindowedCounter(here.shop, { name: fresh(), expiry, clock }).count({ id: 'a', at: new Date(0) });
  },
  Locks: async (clock) => new Locks(here.shop, { clock }).acquire(fresh()),
  idempotentTransaction: async (clock) =>
    idempotentTransaction(here.shop, { ...call(), now: clock, run: () => refuse({ body: 'x' }) }),
  idempotentLease: async (clock) =>
    idempotentLease(here.shop, { ...call(), leaseSeconds: 30, now: clock, run: () => ({ body: 'x' }) }),
  findUnknown: async (clock) => {
    const one = call();
    // A lease that runs is compared with the clock.
    await idempotentLease(here.shop, {
      ...one,
      leaseSeconds: 30,
      afterError: 'keep',
      run: () => Promise.reject(new Error('crash')),
    }).catch(() => undefined);
    await findUnknown(here.shop, one, { now: clock });
  },
  drainAggregate: async (clock) => {
    const aggregate = fresh();
    const events = outbox(here.shop, { source: 's' });
    await events.publish({ aggregate, sequence: 1, events: [{ type: 't', detail: {} }] });
    const failing = publishEach(() => Promise.reject(new Error('down')));
    const { error } = await drainAggregate(events, { aggregate, upTo: 1 }, failing, { sends: 1, clock });
    if (error !== undefined) throw error as Error;
  },
};

/** What takes a time. */
const withDate: Record<string, (now: Date) => unknown> = {
  live: (now) => live(State, now),
  isLive: (now) => isLive(State, { id: 'a' }, now),
  liveItem: (now) => liveItem(State, { id: 'a' }, now),
  'an expiry that was read': (expires) => isLive(State, { id: 'a', expires }),
  orderedGroups: (now) =>
    orderedGroups(here.shop.of(State), { groups: { score: { version: 'seq', fields: ['points'] } } }).apply(
      { key: { id: fresh() }, groups: { score: { points: 1, seq: 1 } } },
      { now },
    ),
  orderedItems: (now) =>
    orderedItems(here.shop.of(State), { version: 'seq' }).apply({ item: { id: fresh(), points: 1, seq: 1 } }, { now }),
  'the time of an event': (occurredAt) =>
    orderedItems(here.shop.of(State), { version: 'seq' }).apply({
      item: { id: fresh(), points: 1, seq: 1 },
      occurredAt,
    }),
};

const noTimes: readonly unknown[] = [
  undefined,
  null,
  NaN,
  Infinity,
  -Infinity,
  -1,
  8.64e15,
  '2026-12-01',
  '1764547200000',
  10n,
  new Date(),
  new Date(NaN),
  {},
  true,
];

describe("a caller's clock", () => {
  it.each(Object.keys(withClock))(
    'that gives no time is refused by %s, and one that gives one is taken',
    async (name) => {
      const use = withClock[name]!;
      for (const time of noTimes) {
        const error = await rejection(use(() => time as number));
        expect(error, String(time)).toBeInstanceOf(InvalidInputError);
        expect((error as Error).message).toContain('epoch milliseconds');
      }
      await use(() => Date.now()).catch((error: unknown) => expect(error).not.toBeInstanceOf(InvalidInputError));
    },
  );

  it.each(Object.keys(withClock))('that is no function is refused by %s', async (name) => {
    for (const clock of [null, 0, '2026', new Date(), {}]) {
      expect(await rejection(withClock[name]!(clock as never))).toBeInstanceOf(InvalidInputError);
    }
  });

  it.each(Object.keys(withDate))('is no valid Date, and refused by %s', async (name) => {
    const use = (time: unknown): Promise<unknown> => Promise.resolve().then(() => withDate[name]!(time as Date));
    for (const time of noTimes.filter((time) => time !== undefined && !(time instanceof Date && time.getTime() > 0))) {
      expect(await rejection(use(time)), String(time)).toBeInstanceOf(InvalidInputError);
    }
    await use(new Date());
  });
});
