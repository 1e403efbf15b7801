import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInputError, InvalidStoredItemError, entity, integer, string } from '../../../lib/commands/index.js';
import { counterShardEntity } from '../../../lib/recipes/counters/counter-shard.js';
import { increment } from '../../../lib/recipes/counters/increment.js';
import { ShardedCounter } from '../../../lib/recipes/counters/sharded-counter.js';
import { tallyEntity } from '../../../lib/recipes/counters/tally.js';
import { windowEnd, windowOf } from '../../../lib/recipes/counters/window.js';
import { WindowFullError } from '../../../lib/recipes/counters/window-full-error.js';
import { WindowedCounter } from '../../../lib/recipes/counters/windowed-counter.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, rejection, type RecipeShop } from '../../support/recipe-shop.js';

const Visits = entity('VISITS', {
  pk: 'SITE#{site}',
  sk: 'VISITS',
  attributes: { site: string(), total: integer() },
});

const at = new Date('2026-12-01T10:15:30.250Z');
const day = 86_400_000;
let here: RecipeShop;
let names = 0;
const fresh = (): string => `counter-${++names}`;

beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

describe('increment', () => {
  it('gives the value after each add to 20 concurrent writers', async () => {
    const visits = here.shop.of(Visits);
    const seen = await Promise.all(
      Array.from({ length: 20 }, () => increment(visits, { site: 'a' }, Visits.attrs.total, 1)),
    );
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('does not send again after a lost response, and so counts at most once', async () => {
    let sent = 0;
    const visits = here.faulty(() => ++sent === 1).of(Visits);
    await expect(increment(visits, { site: 'b' }, Visits.attrs.total, 1)).rejects.toThrow('socket hang up');
    expect(sent).toBe(1);
    expect((await here.shop.of(Visits).get({ site: 'b' }).consistent().item())?.total).toBe(1);
  });

  it('counts a second delivery again', async () => {
    const visits = here.shop.of(Visits);
    const deliver = () => increment(visits, { site: 'twice' }, Visits.attrs.total, 1);
    expect([await deliver(), await deliver()]).toEqual([1, 2]);
  });

  it('counts each call at most once, and gives no value twice, whatever the lost responses and failures', async () => {
    const faults = fc.array(fc.constantFrom<boolean | 'before'>(false, true, 'before'), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(faults, async (each) => {
        const site = fresh();
        let sent = 0;
        const visits = here.faulty(() => each[sent++] ?? false).of(Visits);
        const calls = await Promise.allSettled(each.map(() => increment(visits, { site }, Visits.attrs.total, 1)));
        const values = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
        expect(new Set(values).size).toBe(values.length);
        const total = (await here.shop.of(Visits).get({ site }).consistent().item())?.total ?? 0;
        expect(total).toBe(each.filter((fault) => fault !== 'before').length);
        expect(values.length).toBe(each.filter((fault) => fault === false).length);
      }),
      { numRuns: 20 },
    );
  });

  it.runIf(embedded)('costs one write unit', async () => {
    const cost = await here.costOf(() => increment(here.shop.of(Visits), { site: 'c' }, Visits.attrs.total, 5));
    expect(cost).toEqual({ operations: ['UpdateItem'], writeUnits: 1, readUnits: 0 });
  });
});

describe('windows', () => {
  it('are named by the start of their UTC time', () => {
    expect(windowOf(at, 'day')).toBe('2026-12-01');
    expect(windowOf(at, 'hour')).toBe('2026-12-01T10');
    expect(windowOf(at, 'minute')).toBe('2026-12-01T10:15');
  });

  it('end where the next begins', () => {
    expect(new Date(windowEnd(at, 'day')).toISOString()).toBe('2026-12-02T00:00:00.000Z');
    expect(new Date(windowEnd(new Date('2026-12-01T10:00:00Z'), 'hour')).toISOString()).toBe(
      '2026-12-01T11:00:00.000Z',
    );
    expect(windowEnd(new Date(-1), 'minute')).toBe(0);
  });

  it('refuse what is no time', () => {
    expect(() => windowOf(new Date(NaN), 'day')).toThrow(InvalidInputError);
    expect(() => windowOf('2026-12-01' as never, 'day')).toThrow(InvalidInputError);
    expect(() => windowOf(new Date(8e15), 'day')).toThrow(InvalidInputError);
  });
});

describe('WindowedCounter', () => {
  it('counts each id once, and tells a second delivery', async () => {
    const counter = new WindowedCounter(here.shop, { name: fresh() });
    expect(await counter.count({ id: 'a', at })).toBe('Counted');
    expect(await counter.count({ id: 'a', at })).toBe('AlreadyCounted');
    expect(await counter.count({ id: 'b', at, amount: 4 })).toBe('Counted');
    expect(await counter.read(at, { consistent: true })).toBe(5);
  });

  it('finds a retry after midnight in the window of the event', async () => {
    const counter = new WindowedCounter(here.shop, { name: fresh() });
    const late = new Date('2026-12-01T23:59:59.999Z');
    await counter.count({ id: 'a', at: late });
    expect(await counter.count({ id: 'a', at: late })).toBe('AlreadyCounted');
    await counter.count({ id: 'b', at: new Date('2026-12-02T00:00:00Z') });
    expect(await counter.read(late, { consistent: true })).toBe(1);
    expect(await counter.sum(late, new Date('2026-12-02T12:00:00Z'), { consistent: true })).toBe(2);
    expect(await counter.sum(new Date('2026-12-02T00:00:00Z'), new Date('2026-12-09T00:00:00Z'))).toBe(1);
  });

  it('counts each of 20 ids once for 20 concurrent writers that each send all of them', async () => {
    const counter = new WindowedCounter(here.shop, { name: fresh() });
    const outcomes = await Promise.all(
      Array.from({ length: 400 }, (_, i) => counter.count({ id: `id-${(i * 7) % 20}`, at })),
    );
    expect(outcomes.filter((outcome) => outcome === 'Counted')).toHaveLength(20);
    expect(await counter.read(at, { consistent: true })).toBe(20);
  });

  it('counts once where the response is lost and the client sends again', async () => {
    const name = fresh();
    const counter = new WindowedCounter(here.faulty(loseFirst('UpdateItem')), { name });
    expect(await counter.count({ id: 'a', at })).toBe('AlreadyCounted');
    expect(await new WindowedCounter(here.shop, { name }).read(at, { consistent: true })).toBe(1);
  });

  it('keeps a window for longer than the lateness, and answers what is later', async () => {
    const name = fresh();
    let now = at.getTime();
    const expiry = { latenessMs: 2 * day, keepMs: 3 * day };
    const counter = new WindowedCounter(here.shop, { name, expiry, clock: () => now });
    await counter.count({ id: 'a', at });
    const item = await here.shop.of(tallyEntity()).get({ name, window: '2026-12-01' }).consistent().item();
    expect(item?.expires).toEqual(new Date('2026-12-05T00:00:00Z'));
    now += 2 * day;
    expect(await counter.count({ id: 'a', at })).toBe('AlreadyCounted');
    now += 1;
    expect(await counter.count({ id: 'b', at })).toBe('TooLate');
    expect(await counter.read(at, { consistent: true })).toBe(1);
  });

  it('fails clearly before the window is full, and still knows what it counted', async () => {
    const counter = new WindowedCounter(here.shop, { name: fresh(), maxBytes: 10 });
    await counter.count({ id: 'aaaa', at });
    await counter.count({ id: 'bbbb', at });
    await expect(counter.count({ id: 'ccc', at })).rejects.toBeInstanceOf(WindowFullError);
    expect(await counter.count({ id: 'cc', at })).toBe('Counted');
    await expect(counter.count({ id: 'd', at })).rejects.toThrow('10 bytes');
    expect(await counter.count({ id: 'aaaa', at })).toBe('AlreadyCounted');
    expect(await counter.read(at, { consistent: true })).toBe(3);
  });

  it('takes as many ids as an item holds, and no more', async () => {
    const name = 'n'.repeat(1500);
    const counter = new WindowedCounter(here.shop, { name, expiry: { latenessMs: 1e12, keepMs: 2e12 } });
    const id = (n: number): string => String(n).padStart(100_352, 'x');
    for (let n = 0; n < 4; n++) expect(await counter.count({ id: id(n), at })).toBe('Counted');
    await expect(counter.count({ id: 'one more', at })).rejects.toBeInstanceOf(WindowFullError);
    expect(await counter.count({ id: id(2), at })).toBe('AlreadyCounted');
  });

  it('refuses ids and options that can not work, before anything is sent', async () => {
    const make = (options: object) => () => new WindowedCounter(here.shop, { name: 'x', ...options });
    expect(make({ window: 'year' })).toThrow(InvalidInputError);
    expect(make({ expiry: { latenessMs: day, keepMs: day } })).toThrow('keepMs');
    expect(make({ expiry: { latenessMs: day, keepMs: day + 59_999 } })).toThrow('a minute more');
    expect(make({ expiry: { latenessMs: day, keepMs: day + 60_000 } })).not.toThrow();
    expect(make({ expiry: { latenessMs: NaN, keepMs: day } })).toThrow(InvalidInputError);
    expect(make({ expiry: { latenessMs: -1, keepMs: day } })).toThrow(InvalidInputError);
    expect(make({ maxBytes: 409_600 })).toThrow(InvalidInputError);
    const counter = new WindowedCounter(here.shop, { name: fresh(), maxBytes: 5 });
    expect(await rejection(counter.count({ id: '', at }))).toBeInstanceOf(InvalidInputError);
    expect(await rejection(counter.count({ id: 'secret', at }))).toBeInstanceOf(InvalidInputError);
    expect(String(await rejection(counter.count({ id: 'secret', at })))).not.toContain('secret');
  });

  it('refuses a window of a newer format', async () => {
    const name = fresh();
    await here.shop
      .of(tallyEntity())
      .put({ name, window: '2026-12-01', count: 1, seen: ['seen'], seenBytes: 4, format: 2 } as never);
    const counter = new WindowedCounter(here.shop, { name });
    for (const id of ['a', 'seen'])
      expect(await rejection(counter.count({ id, at }))).toBeInstanceOf(InvalidStoredItemError);
    const day = new Date('2026-12-01T12:00:00Z');
    expect(await rejection(counter.read(day))).toBeInstanceOf(InvalidStoredItemError);
    expect(await rejection(counter.sum(day, day))).toBeInstanceOf(InvalidStoredItemError);
  });

  it('lives beside counters of another prefix, and takes any name', async () => {
    const name = 'a#b%c';
    const one = new WindowedCounter(here.shop, { name, prefix: 'ONE' });
    const two = new WindowedCounter(here.shop, { name, prefix: 'TWO' });
    await one.count({ id: 'a', at });
    expect(await two.count({ id: 'a', at })).toBe('Counted');
  });

  it.runIf(embedded)('costs one request: a write unit per KB of the window, also for a repeat', async () => {
    const counter = new WindowedCounter(here.shop, { name: fresh() });
    const first = await here.costOf(() => counter.count({ id: 'x'.repeat(300), at }));
    expect(first).toEqual({ operations: ['UpdateItem'], writeUnits: 1, readUnits: 0 });
    for (let n = 0; n < 9; n++) await counter.count({ id: String(n).repeat(300), at });
    expect((await here.costOf(() => counter.count({ id: 'y'.repeat(300), at }))).writeUnits).toBe(4);
    expect(await here.costOf(() => counter.count({ id: 'x'.repeat(300), at }))).toEqual({
      operations: ['UpdateItem'],
      writeUnits: 4,
      readUnits: 0,
    });
  });

  it('equals the number of distinct ids, whatever the deliveries and lost responses', async () => {
    const delivery = fc.record({ id: fc.integer({ min: 0, max: 9 }), lost: fc.boolean() });

    await fc.assert(
      fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 25 }), async (deliveries) => {
        const name = fresh();
        const losses = new Set(deliveries.flatMap(({ lost }, i) => (lost ? [i] : [])));
        let sent = 0;
        const counter = new WindowedCounter(
          here.faulty(() => losses.has(sent++)),
          { name, window: 'hour' },
        );
        // The time is the event's own, so it is the same in each of its deliveries.
        const timeOf = (id: number): Date => new Date(at.getTime() + (id % 3) * 3_600_000);
        const deliver = async (id: number): Promise<unknown> =>
          counter.count({ id: `e${id}`, at: timeOf(id) }).catch(() => deliver(id));
        await Promise.all(deliveries.map(({ id }) => deliver(id)));
        const distinct = new Set(deliveries.map(({ id }) => id)).size;
        expect(await counter.sum(at, timeOf(2), { consistent: true })).toBe(distinct);
      }),
      { numRuns: 25 },
    );
  });
});

describe('ShardedCounter', () => {
  it('sums what 20 concurrent writers added', async () => {
    const counter = new ShardedCounter(here.shop, { name: fresh(), shards: 4 });
    await Promise.all(Array.from({ length: 20 }, (_, i) => counter.add(i)));
    expect(await counter.sum({ consistent: true })).toBe(190);
  });

  it('uses all shards at random, and one by key', async () => {
    const name = fresh();
    const counter = new ShardedCounter(here.shop, { name, shards: 3 });
    const shards = here.shop.of(counterShardEntity());
    const counts = async (): Promise<number[]> =>
      Promise.all([0, 1, 2].map(async (shard) => (await shards.get({ name, shard }).consistent().item())?.count ?? 0));
    await Promise.all(Array.from({ length: 60 }, () => counter.add()));
    expect((await counts()).every((count) => count > 0)).toBe(true);
    const before = await counts();
    await Promise.all(Array.from({ length: 5 }, () => counter.add(10, { by: 'alice' })));
    const grown = (await counts()).filter((count, i) => count !== before[i]);
    expect(grown).toHaveLength(1);
    expect(await counter.sum({ consistent: true })).toBe(110);
  });

  it('keeps its count when shards are added', async () => {
    const name = fresh();
    await new ShardedCounter(here.shop, { name, shards: 2 }).add(7);
    const grown = new ShardedCounter(here.shop, { name, shards: 5 });
    await grown.add(1);
    expect(await grown.sum({ consistent: true })).toBe(8);
  });

  it('counts a second delivery again', async () => {
    const counter = new ShardedCounter(here.shop, { name: fresh(), shards: 2 });
    await counter.add(1, { by: 'request-1' });
    await counter.add(1, { by: 'request-1' });
    expect(await counter.sum({ consistent: true })).toBe(2);
  });

  it('sums every add that took effect, whatever the shards, amounts, lost responses and failures', async () => {
    const add = fc.record({
      amount: fc.integer({ min: -5, max: 5 }),
      by: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
      fault: fc.constantFrom<boolean | 'before'>(false, true, 'before'),
    });
    const runs = fc.array(add, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(runs, fc.integer({ min: 1, max: 5 }), async (adds, shards) => {
        const name = fresh();
        await Promise.allSettled(
          adds.map(({ amount, by, fault }) =>
            new ShardedCounter(
              here.faulty(() => fault),
              { name, shards },
            ).add(amount, by === undefined ? {} : { by }),
          ),
        );
        const counted = adds.reduce((sum, { amount, fault }) => sum + (fault === 'before' ? 0 : amount), 0);
        const wider = new ShardedCounter(here.shop, { name, shards: shards + 100 });
        expect(await wider.sum({ consistent: true })).toBe(counted);
      }),
      { numRuns: 15 },
    );
  });

  it('counts at most once where a response is lost', async () => {
    const name = fresh();
    const counter = new ShardedCounter(
      here.faulty(() => true),
      { name, shards: 2 },
    );
    await expect(counter.add()).rejects.toThrow('socket hang up');
    expect(await new ShardedCounter(here.shop, { name, shards: 2 }).sum({ consistent: true })).toBe(1);
  });

  it('refuses numbers of shards that are none, and a newer format', async () => {
    expect(() => new ShardedCounter(here.shop, { name: 'x', shards: 0 })).toThrow(InvalidInputError);
    expect(() => new ShardedCounter(here.shop, { name: 'x', shards: 1.5 })).toThrow(InvalidInputError);
    expect(() => new ShardedCounter(here.shop, { name: 'x', shards: 1_001 })).toThrow('1,000');
    const name = fresh();
    await here.shop.of(counterShardEntity()).put({ name, shard: 0, count: 1, format: 2 });
    const counter = new ShardedCounter(here.shop, { name, shards: 1 });
    expect(await rejection(counter.add())).toBeInstanceOf(InvalidStoredItemError);
    expect(await rejection(counter.sum())).toBeInstanceOf(InvalidStoredItemError);
  });

  it.runIf(embedded)('costs a write unit an add, and a read of each shard a sum', async () => {
    const name = fresh();
    const counter = new ShardedCounter(here.shop, { name, shards: 4 });
    expect(await here.costOf(() => counter.add())).toMatchObject({ operations: ['UpdateItem'], writeUnits: 1 });
    expect(await here.costOf(() => counter.sum())).toEqual({
      operations: ['BatchGetItem'],
      readUnits: 2,
      writeUnits: 0,
    });
    expect((await here.costOf(() => counter.sum({ consistent: true }))).readUnits).toBe(4);
    const wide = new ShardedCounter(here.shop, { name, shards: 201 });
    expect((await here.costOf(() => wide.sum())).operations).toEqual(['BatchGetItem', 'BatchGetItem', 'BatchGetItem']);
  });
});
