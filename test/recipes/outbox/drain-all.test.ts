import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidInputError } from '../../../lib/commands/index.js';
import {
  OutboxItem,
  drainAll,
  isDrainedOf,
  pollOutbox,
  publishEach,
  shardOf,
  type DrainedAll,
  type OutboxPlace,
  type RelayedEvent,
} from '../../../lib/recipes/index.js';
import { embedded } from '../../support/dynamodb.js';
import { recipeShop, type RecipeShop } from '../../support/recipe-shop.js';
import { commit, failed, ids, ok, target } from './relay-target.js';

let here: RecipeShop;
let place: OutboxPlace;
beforeEach(async () => {
  here = await recipeShop();
  place = { table: here.shop, shards: 2 };
});
afterEach(async () => {
  vi.restoreAllMocks();
  await here.close();
});

const countOf = async (shards: number): Promise<number> => {
  const all = Array.from({ length: shards }, (_, shard) =>
    here.shop.of(OutboxItem).query({ shard }).consistent().all(),
  );
  return (await Promise.all(all)).flat().length;
};
const times = (count: number, operation: string): string[] => Array<string>(count).fill(operation);
/** Names whose shards are these under the two numbers. */
const named = (count: number, fits: (name: string) => boolean): string[] =>
  Array.from({ length: 2_000 }, (_, i) => `a${i}`)
    .filter(fits)
    .slice(0, count);
/** The shard beyond that a sweep looks into: 0 is the first. */
const probing = (fraction: number) => vi.spyOn(Math, 'random').mockReturnValue(fraction);

describe('drainAll', () => {
  it('publishes what waits in every shard, each aggregate in order', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `a${i}`);
    for (const n of [2, 1, 3]) for (const name of names) await commit(here.shop, name, n, [`${name}-${n}`]);
    const to = target();
    expect(await drainAll(place, to)).toEqual({
      ...{ drained: 30, published: 90, removed: 90, parked: 0, blocked: 0, failed: 0, unread: 0 },
      ...{ reasons: {}, otherShards: 0, waiting: 90, oldestMs: 0, stopped: false },
    });
    for (const name of names) {
      const own = to.arrived.filter(({ aggregate }) => aggregate === name).map(({ sequence }) => sequence);
      expect(own).toEqual([1, 2, 3]);
    }
    expect(await countOf(2)).toBe(0);
  });

  it('reads on over pages, also within an aggregate', async () => {
    const [long, ...others] = named(21, (name) => shardOf(name, 2) === 0) as [string, ...string[]];
    for (let n = 1; n <= 130; n++) await commit(here.shop, long, n, [`long-${n}`]);
    for (const name of others) await commit(here.shop, name, 1, [name]);
    const to = target({ keepsOrder: true });
    expect(await drainAll(place, to)).toMatchObject({ published: 150, removed: 150, failed: 0 });
    const own = to.arrived.filter(({ aggregate }) => aggregate === long).map(({ sequence }) => sequence);
    expect(own).toEqual(Array.from({ length: 130 }, (_, i) => i + 1));
  }, 30_000);

  it('leaves alone what is younger than the threshold, and takes a time far ahead for old', async () => {
    const now = Date.UTC(2026, 11, 1);
    const at = (ms: number) => ({ time: new Date(now + ms) });
    await commit(here.shop, 'young', 1, ['young'], at(-59_000));
    await commit(here.shop, 'ahead', 1, ['ahead'], at(5_000));
    await commit(here.shop, 'old', 1, ['old-1'], at(-61_000));
    await commit(here.shop, 'old', 2, ['old-2'], at(-1_000));
    await commit(here.shop, 'odd', 1, ['odd'], at(3_600_000));
    const to = target();
    await drainAll(place, to, { olderThanMs: 60_000, clock: () => now });
    expect(ids(to.arrived).sort()).toEqual(['odd', 'old-1']);
    await drainAll(place, to);
    expect(await countOf(2)).toBe(0);
  });

  it('counts failures by their reasons, and parks', async () => {
    for (const name of ['fine', 'throttled', 'poison', 'also-poison']) await commit(here.shop, name, 1, [name]);
    const to = target();
    to.answer = ({ id }) => {
      if (id === 'throttled') return failed(true, 'ThrottlingException');
      return id === 'fine' ? ok : failed(false, 'Malformed');
    };
    expect(await drainAll(place, to, { sends: 1 })).toMatchObject({
      ...{ drained: 1, failed: 1, blocked: 2, parked: 2, published: 1, removed: 1 },
      reasons: { ThrottlingException: 1, Malformed: 2 },
    });
    expect(await drainAll(place, to, { sends: 1 })).toMatchObject({ drained: 0, failed: 1, blocked: 2, parked: 0 });
  });

  it('tries an aggregate that fails once, however much waits behind', async () => {
    for (let n = 1; n <= 210; n++) await commit(here.shop, 'a', n, [`e${n}`]);
    const to = target();
    to.answer = () => failed(true);
    expect(await drainAll(place, to, { sends: 1 })).toMatchObject({ failed: 1, published: 0 });
    expect(to.batches).toEqual([['e1']]);
  });

  it('goes on when a shard can not be read, and says so', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    let queries = 0;
    const table = here.faulty((operation) => operation === 'Query' && queries++ === 0 && 'before', 1);
    expect(await drainAll({ table, shards: 2 }, target())).toMatchObject({ unread: 1, reasons: { Error: 1 } });
    const away = here.faulty(() => 'before', 1);
    expect(await drainAll({ table: away, shards: 2 }, target())).toMatchObject({ unread: 3, published: 0 });
  });

  it('stops at its signal, in the middle of a shard', async () => {
    for (let i = 0; i < 40; i++) await commit(here.shop, `a${i}`, 1, [`e${i}`]);
    const deadline = new AbortController();
    const to = target();
    to.answer = () => {
      deadline.abort();
      return ok;
    };
    const drained = await drainAll(place, to, { signal: deadline.signal, concurrency: 5 });
    expect(drained.stopped).toBe(true);
    expect(drained.removed).toBe(drained.published);
    expect(drained.published).toBeLessThanOrEqual(20);
    expect(await countOf(2)).toBe(40 - drained.removed);
    expect(await drainAll(place, to, { signal: deadline.signal })).toMatchObject({ stopped: true, published: 0 });
  });

  it('refuses a threshold that is none', async () => {
    await expect(drainAll(place, target(), { olderThanMs: Number.NaN })).rejects.toThrow(InvalidInputError);
  });

  it.runIf(embedded)('costs half a read unit a shard and one more when the outbox is empty', async () => {
    expect(await here.costOf(() => drainAll({ table: here.shop, shards: 8 }, target()))).toEqual({
      ...{ operations: times(9, 'Query'), readUnits: 4.5, writeUnits: 0 },
    });
  });

  it.runIf(embedded)('costs a query more for the aggregates of a shard, and a delete for each item', async () => {
    for (const name of ['a', 'b', 'c']) await commit(here.shop, name, 1, [name]);
    const cost = await here.costOf(() => drainAll(place, target()));
    expect(cost.operations.sort()).toEqual([...times(3, 'DeleteItem'), ...times(5, 'Query')]);
    expect(cost).toMatchObject({ readUnits: 3.5, writeUnits: 3 });
  });

  it.runIf(embedded)(
    'reads none of the events behind one that is parked, beyond the page',
    async () => {
      const [name, after] = named(2, (each) => shardOf(each, 2) === 0) as [string, string];
      const [first, last] = [name, after].sort() as [string, string];
      for (let n = 1; n <= 250; n++) await commit(here.shop, first, n, [`e${n}`]);
      const to = target();
      to.answer = ({ aggregate }) => (aggregate === first ? failed(false) : ok);
      await drainAll(place, to);
      await commit(here.shop, last, 1, ['last']);
      const cost = await here.costOf(() => drainAll(place, to));
      expect(ids(to.arrived)).toEqual(['last']);
      // The page with the parked one, the rest of the shard, the drain of the other aggregate, and two empty shards.
      expect(cost.operations.sort()).toEqual(['DeleteItem', ...times(5, 'Query')]);
    },
    30_000,
  );
});

describe('a relay with another number of shards than the publishers', () => {
  it.each([
    [8, 2],
    [8, 3],
    [3, 8],
    [16, 2],
    [5, 4],
  ])('publishes all and says so: %i shards of theirs, %i of its own', async (theirs, own) => {
    const names = Array.from({ length: 40 }, (_, i) => `a${i}`);
    for (const name of names) await commit(here.shop, name, 1, [name], { shards: theirs });
    const to = target();
    const drained = await drainAll({ table: here.shop, shards: own }, to);
    expect(drained).toMatchObject({ published: 40, otherShards: 40 });
    expect(await countOf(theirs)).toBe(0);
  });

  it('finds by the shard beyond what none of its own tells of', async () => {
    const [lonely] = named(1, (name) => shardOf(name, 4) === 3) as [string];
    await commit(here.shop, lonely, 1, ['e1'], { shards: 4 });
    const to = target();
    probing(0);
    expect(await drainAll(place, to)).toMatchObject({ otherShards: 0, published: 0 });
    probing(0.9);
    expect(await drainAll(place, to)).toMatchObject({ otherShards: 1, published: 1 });
  });

  it('tells by the place of items without a stored number', async () => {
    const [name] = named(1, (each) => shardOf(each, 3) === 1 && shardOf(each, 2) === 0) as [string];
    await commit(here.shop, name, 1, ['e1'], { shards: 3 });
    await here.shop.of(OutboxItem).update({ shard: 1, aggregate: name, sequence: 1 }).remove(OutboxItem.attrs.shards);
    expect(await drainAll(place, target())).toMatchObject({ otherShards: 1, published: 1 });
  });
});

describe('changing the number of shards', () => {
  it('keeps the order of aggregates that have events in both shards', async () => {
    const names = named(20, (name) => shardOf(name, 2) !== shardOf(name, 5));
    for (const name of names) {
      for (const n of [1, 3, 6]) await commit(here.shop, name, n, [`${name}-${n}`], { shards: 2 });
      for (const n of [2, 4, 5, 7]) await commit(here.shop, name, n, [`${name}-${n}`], { shards: 5 });
    }
    const moving = { table: here.shop, shards: 5 };
    expect(await isDrainedOf(moving, 2)).toBe(false);
    const to = target();
    const drained = await drainAll(moving, to, { previousShards: 2 });
    expect(drained.otherShards).toBeGreaterThan(0);
    for (const name of names) {
      const own = to.arrived.filter(({ aggregate }) => aggregate === name).map(({ sequence }) => sequence);
      // Both its shards are swept at once, so an event may come twice.
      expect([...new Set(own)].slice(0, 7)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    }
    await drainAll(moving, to, { previousShards: 2 });
    expect(await countOf(5)).toBe(0);
    expect(await isDrainedOf(moving, 2)).toBe(true);
  });

  it('does not wait for aggregates that stay where they are', async () => {
    const [stays] = named(1, (name) => shardOf(name, 2) === shardOf(name, 4)) as [string];
    const [moves] = named(1, (name) => shardOf(name, 2) !== shardOf(name, 4)) as [string];
    const moving = { table: here.shop, shards: 4 };
    await commit(here.shop, stays, 1, ['e1'], { shards: 2 });
    expect(await isDrainedOf(moving, 2)).toBe(true);
    await commit(here.shop, moves, 1, ['e1'], { shards: 2 });
    expect(await isDrainedOf(moving, 2)).toBe(false);
    await expect(isDrainedOf(moving, 4)).rejects.toThrow(InvalidInputError);
    await expect(isDrainedOf(moving, 0)).rejects.toThrow(InvalidInputError);
  });

  it.runIf(embedded)('costs a request a previous shard to ask', async () => {
    const ask = () => isDrainedOf({ table: here.shop, shards: 16 }, 8);
    expect(await here.costOf(ask)).toEqual({ operations: times(8, 'Query'), readUnits: 8, writeUnits: 0 });
  });
});

describe('pollOutbox', () => {
  it('publishes what is committed while it runs, through failures, until its signal', async () => {
    const stopping = new AbortController();
    const arrived: RelayedEvent[] = [];
    let broken = true;
    const table = here.faulty(() => broken && 'before', 1);
    const passes: DrainedAll[] = [];
    const publisher = publishEach((event) => {
      arrived.push(event);
      if (arrived.length === 3) stopping.abort();
    });
    const polling = pollOutbox({ table, shards: 2 }, publisher, {
      signal: stopping.signal,
      intervalMs: 1,
      onPass: (pass) => {
        passes.push(pass);
        broken = false;
      },
    });
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    await polling;
    expect(passes[0]?.unread).toBe(3);
    expect(ids(arrived)).toEqual(['e1', 'e2', 'e3']);
    expect(await countOf(2)).toBe(0);
  });

  it('does nothing when its signal has aborted before', async () => {
    const signal = AbortSignal.abort();
    expect(await here.costOf(() => pollOutbox(place, target(), { signal }))).toMatchObject({ operations: [] });
    await expect(pollOutbox(place, target(), { signal, intervalMs: -1 })).rejects.toThrow(InvalidInputError);
  });
});
