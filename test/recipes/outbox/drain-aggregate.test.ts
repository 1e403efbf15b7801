import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../lib/commands/index.js';
import {
  OutboxItem,
  drainAggregate,
  drainAggregates,
  outbox,
  publishEach,
  shardOf,
  wakeUpOf,
  type OutboxPlace,
} from '../../../lib/recipes/index.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, type RecipeShop } from '../../support/recipe-shop.js';
import { commit, failed, ids, ok, target } from './relay-target.js';

let here: RecipeShop;
let place: OutboxPlace;
beforeEach(async () => {
  here = await recipeShop();
  place = { table: here.shop, shards: 2 };
});
afterEach(() => here.close());

const waiting = async (): Promise<number[]> => {
  const items = [0, 1].map((shard) => here.shop.of(OutboxItem).query({ shard }).consistent().all());
  return (await Promise.all(items)).flat().map(({ sequence }) => sequence);
};

describe('drainAggregate', () => {
  it('publishes up to the sequence, lowest first, and removes what was acknowledged', async () => {
    await commit(here.shop, 'a', 10, ['e10']);
    await commit(here.shop, 'a', 9, ['e9a', 'e9b']);
    await commit(here.shop, 'a', 11, ['e11']);
    await commit(here.shop, 'a#b', 1, ['other']);
    const to = target();
    const drained = await drainAggregate(place, { aggregate: 'a', upTo: 10 }, to);
    expect(drained).toEqual({
      ...{ aggregate: 'a', outcome: 'drained', published: 3, removed: 2, parked: 0 },
      ...{ reason: undefined, error: undefined },
    });
    expect(ids(to.arrived)).toEqual(['e9a', 'e9b', 'e10']);
    expect((await waiting()).sort()).toEqual([1, 11]);
  });

  it('hands over the whole event', async () => {
    const time = new Date('2026-12-01T00:00:00Z');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const events = [
      { id: 'e1', type: 'one', detail: { n: 1 }, time },
      { id: 'e2', type: 'two', detail: {}, time, source: 'desk' },
    ];
    await outbox(here.shop, { source: 'shop', shards: 2 }).publish({
      ...{ aggregate: 'a', sequence: 3, traceparent, events },
    });
    const to = target();
    await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to);
    const of = { aggregate: 'a', sequence: 3, traceparent, time };
    expect(to.arrived).toEqual([
      { ...of, id: 'e1', type: 'one', source: 'shop', detail: '{"n":1}', position: 0 },
      { ...of, id: 'e2', type: 'two', source: 'desk', detail: '{}', position: 1 },
    ]);
  });

  it('publishes events without an aggregate by the wake-up of their key', async () => {
    await outbox(here.shop, { source: 'shop', shards: 2 }).publish({
      events: [
        { id: 'e1', type: 'x', detail: {} },
        { id: 'e2', type: 'x', detail: {} },
      ],
    });
    const stored = [0, 1].map((shard) => here.shop.of(OutboxItem).query({ shard }).all());
    const [item] = (await Promise.all(stored)).flat();
    const { pk, sk } = OutboxItem.key(item!);
    const wakeUp = wakeUpOf(pk, sk)!;
    const to = target();
    expect(await drainAggregate(place, wakeUp, to)).toMatchObject({ outcome: 'drained', published: 2, removed: 1 });
    expect(ids(to.arrived)).toEqual(['e1', 'e2']);
    expect(await waiting()).toEqual([]);
  });

  it('sends an event again that failed, and nothing after it before', async () => {
    await commit(here.shop, 'a', 1, ['e1', 'e2']);
    const to = target();
    let failures = 2;
    to.answer = ({ id }) => (id === 'e1' && failures-- > 0 ? failed(true) : ok);
    expect((await drainAggregate(place, { aggregate: 'a', upTo: 1 }, to)).outcome).toBe('drained');
    expect(to.batches).toEqual([['e1'], ['e1'], ['e1'], ['e2']]);
  });

  it('leaves what failed and what comes after it, and goes on there the next time', async () => {
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}a`, `e${n}b`]);
    const to = target();
    to.answer = ({ id }) => (id === 'e2b' ? failed(true, 'ThrottlingException') : ok);
    const first = await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to, { sends: 2 });
    expect(first).toMatchObject({ outcome: 'failed', reason: 'ThrottlingException', published: 3, removed: 1 });
    expect(await waiting()).toEqual([2, 3]);
    to.answer = () => ok;
    const second = await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to);
    expect(second).toMatchObject({ outcome: 'drained', published: 3, removed: 2 });
    expect(ids(to.arrived)).toEqual(['e1a', 'e1b', 'e2a', 'e2b', 'e3a', 'e3b']);
  });

  it('counts a target that is not reached against no event, and gives no text of its errors as a reason', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    const error = Object.assign(new Error('secret'), { name: 'not a code: secret' });
    const down = { publish: () => Promise.reject(error) };
    const options = { sends: 2, parkAfter: { attempts: 1, ms: 0 } };
    const drained = await drainAggregate(place, { aggregate: 'a', upTo: 1 }, down, options);
    expect(drained).toMatchObject({ outcome: 'failed', reason: 'Unknown', error });
    const [item] = await here.shop
      .of(OutboxItem)
      .query({ shard: shardOf('a', 2) })
      .all();
    expect(item).not.toHaveProperty('attempts');
    expect(item).not.toHaveProperty('parkedAt');
  });

  it('takes an answer of another length for none', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    for (const answers of [[], [ok, ok], undefined]) {
      const odd = { publish: () => Promise.resolve(answers as never) };
      const drained = await drainAggregate(place, { aggregate: 'a', upTo: 1 }, odd, { sends: 1 });
      expect(drained).toMatchObject({ outcome: 'failed', reason: 'UnexpectedAnswer' });
    }
  });

  it('takes what was accepted after a failure of the same aggregate for not accepted', async () => {
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    const to = target({ keepsOrder: true });
    let first = true;
    to.answer = ({ id }) => (id === 'e2' && first ? (first = false) || failed(true) : ok);
    expect((await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to)).outcome).toBe('drained');
    expect(to.batches).toEqual([
      ['e1', 'e2', 'e3'],
      ['e2', 'e3'],
    ]);
  });

  it('leaves events of a newer format, after those before them', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    await commit(here.shop, 'a', 2, ['e2']);
    await here.shop
      .of(OutboxItem)
      .update({ shard: shardOf('a', 2), aggregate: 'a', sequence: 2 })
      .set(OutboxItem.attrs.format, 2);
    const to = target();
    const drained = await drainAggregate(place, { aggregate: 'a', upTo: 2 }, to);
    expect(drained).toMatchObject({ outcome: 'failed', reason: 'InvalidStoredItemError', published: 1, removed: 1 });
    expect(await waiting()).toEqual([2]);
  });

  it('reads items that were published before the number of shards was stored', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    await here.shop
      .of(OutboxItem)
      .update({ shard: shardOf('a', 2), aggregate: 'a', sequence: 1 })
      .remove(OutboxItem.attrs.shards);
    const to = target();
    expect((await drainAggregate(place, { aggregate: 'a', upTo: 1 }, to)).outcome).toBe('drained');
  });

  it('removes no event of an aggregate that was deleted and made anew while its first life was drained', async () => {
    await commit(here.shop, 'a', 1, ['first-life']);
    const items = here.shop.of(OutboxItem);
    const key = { shard: shardOf('a', 2), aggregate: 'a', sequence: 1 };
    const slow = publishEach(async () => {
      // Another relay was faster, and the aggregate was made anew.
      await items.delete(key);
      await commit(here.shop, 'a', 1, ['second-life']);
    });
    expect(await drainAggregate(place, { aggregate: 'a', upTo: 1 }, slow)).toMatchObject({
      ...{ outcome: 'drained', published: 1, removed: 0 },
    });
    expect((await items.get(key).item())?.events[0]?.id).toBe('second-life');
  });

  it('is not confused by a lost response of a removal', async () => {
    for (const n of [1, 2]) await commit(here.shop, 'a', n, [`e${n}`]);
    const lossy = { ...place, table: here.faulty(loseFirst('DeleteItem')) };
    const to = target();
    expect((await drainAggregate(lossy, { aggregate: 'a', upTo: 2 }, to)).outcome).toBe('drained');
    expect(ids(to.arrived)).toEqual(['e1', 'e2']);
    expect(await waiting()).toEqual([]);
  });

  it('publishes again what it could not remove, and removes nothing after it', async () => {
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    let deletes = 0;
    const table = here.faulty((operation) => operation === 'DeleteItem' && deletes++ === 0 && 'before', 1);
    const broken = { ...place, table };
    const to = target({ keepsOrder: true });
    const first = await drainAggregate(broken, { aggregate: 'a', upTo: 3 }, to);
    expect(first).toMatchObject({ outcome: 'failed', removed: 0 });
    expect(await waiting()).toEqual([1, 2, 3]);
    await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to);
    expect([...new Set(ids(to.arrived))]).toEqual(['e1', 'e2', 'e3']);
  });

  it('answers a database that is not reached', async () => {
    const away = { ...place, table: here.faulty(() => 'before', 1) };
    expect(await drainAggregate(away, { aggregate: 'a', upTo: 1 }, target())).toMatchObject({
      ...{ outcome: 'failed', reason: 'Error', published: 0 },
    });
  });

  it('takes up nothing more when its signal aborts, and removes what was published', async () => {
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    const deadline = new AbortController();
    const to = target();
    to.answer = ({ id }) => {
      if (id === 'e2') deadline.abort();
      return ok;
    };
    const drained = await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to, { signal: deadline.signal });
    expect(drained).toMatchObject({ outcome: 'stopped', published: 2, removed: 2 });
    expect(await waiting()).toEqual([3]);
    expect(await drainAggregate(place, { aggregate: 'a', upTo: 3 }, to, { signal: deadline.signal })).toMatchObject({
      ...{ outcome: 'stopped', published: 0 },
    });
  });

  it('stops waiting to send again when its signal aborts, and counts nothing against the event', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    const deadline = new AbortController();
    const to = target();
    to.answer = () => {
      deadline.abort();
      return failed(true);
    };
    const drained = await drainAggregate(place, { aggregate: 'a', upTo: 1 }, to, { signal: deadline.signal });
    expect(drained.outcome).toBe('stopped');
    const item = await here.shop
      .of(OutboxItem)
      .get({ shard: shardOf('a', 2), aggregate: 'a', sequence: 1 })
      .item();
    expect(item?.attempts).toBeUndefined();
  });

  it('reads aggregates of any length', async () => {
    const count = 60;
    for (let n = 1; n <= count; n++) await commit(here.shop, 'a', n, [`e${n}`]);
    const to = target({ keepsOrder: true });
    expect((await drainAggregate(place, { aggregate: 'a', upTo: count }, to)).removed).toBe(count);
    expect(ids(to.arrived)).toEqual(Array.from({ length: count }, (_, i) => `e${i + 1}`));
    expect(await waiting()).toEqual([]);
  }, 30_000);

  it.each([
    ['shards', { shards: 0 }, {}],
    ['previous shards', {}, { previousShards: 1.5 }],
    ['sends', {}, { sends: 0 }],
    ['concurrency', {}, { concurrency: 0 }],
    ['attempts', {}, { parkAfter: { attempts: 0 } }],
    ['milliseconds', {}, { parkAfter: { ms: -1 } }],
    ['what becomes of the aggregate', {}, { whenParked: 'ignore' as never }],
  ])('refuses options out of their bounds: %s', async (_name, change, options) => {
    const drain = drainAggregate({ ...place, ...change }, { aggregate: 'a', upTo: 1 }, target(), options);
    await expect(drain).rejects.toThrow(InvalidInputError);
  });

  it('refuses what is no publisher, and limits that hold nothing', async () => {
    for (const publisher of [{}, target({ maximumEvents: 0 }), target({ maximumBytes: 0 })]) {
      await expect(drainAggregate(place, { aggregate: 'a', upTo: 1 }, publisher as never)).rejects.toThrow(
        InvalidInputError,
      );
    }
  });

  it.runIf(embedded)('costs a query and a delete for each item', async () => {
    const wakeUp = { aggregate: 'a', upTo: 3 };
    expect(await here.costOf(() => drainAggregate(place, wakeUp, target()))).toEqual({
      ...{ operations: ['Query'], readUnits: 1, writeUnits: 0 },
    });
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    expect(await here.costOf(() => drainAggregate(place, wakeUp, target()))).toEqual({
      ...{ operations: ['Query', 'DeleteItem', 'DeleteItem', 'DeleteItem'], readUnits: 1, writeUnits: 3 },
    });
  });

  it.runIf(embedded)('costs an update of the item where an event fails, once among relays that race', async () => {
    await commit(here.shop, 'a', 1, ['e1']);
    const to = target();
    to.answer = () => failed(true);
    const drain = () => drainAggregate(place, { aggregate: 'a', upTo: 1 }, to, { sends: 1 });
    expect(await here.costOf(drain)).toEqual({ operations: ['Query', 'UpdateItem'], readUnits: 1, writeUnits: 1 });
    const key = { shard: shardOf('a', 2), aggregate: 'a', sequence: 1 };
    const attempts = async () => (await here.shop.of(OutboxItem).get(key).consistent().item())?.attempts;
    expect(await attempts()).toBe(1);
    await Promise.all([drain(), drain(), drain()]);
    expect(await attempts()).toBeLessThanOrEqual(4);
    expect(await attempts()).toBeGreaterThanOrEqual(2);
  });
});

describe('drainAggregates', () => {
  it('fills batches over aggregates, with one event of each', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `a${i}`);
    for (const name of names) await commit(here.shop, name, 1, [`${name}-1`, `${name}-2`]);
    const to = target();
    const wakeUps = names.map((aggregate) => ({ aggregate, upTo: 1 }));
    const drained = await drainAggregates(place, wakeUps, to);
    expect(drained.map(({ aggregate, outcome }) => [aggregate, outcome])).toEqual(
      names.map((name) => [name, 'drained']),
    );
    expect(to.arrived).toHaveLength(50);
    expect(to.batches.length).toBeLessThanOrEqual(10);
    for (const batch of to.batches) {
      expect(batch.length).toBeLessThanOrEqual(10);
      expect(new Set(batch.map((id) => id.split('-')[0])).size).toBe(batch.length);
    }
  });

  it('keeps batches within the bytes of the publisher; what is larger goes alone', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `a${i}`);
    for (const name of names) await commit(here.shop, name, 1, [name]);
    const sizeOf = ({ id }: { id: string }): number => (id === 'a4' ? 5_000 : 300);
    const to = target({ maximumBytes: 1_000, sizeOf });
    await drainAggregates(
      place,
      names.map((aggregate) => ({ aggregate, upTo: 1 })),
      to,
    );
    expect(to.arrived).toHaveLength(9);
    for (const batch of to.batches)
      expect(batch.length === 1 || (batch.length <= 3 && !batch.includes('a4'))).toBe(true);
    expect(to.batches.length).toBeLessThanOrEqual(5);
  });

  it('takes wake-ups of one aggregate as one, up to the greatest', async () => {
    for (const n of [1, 2, 3]) await commit(here.shop, 'a', n, [`e${n}`]);
    const to = target();
    const wakeUps = [2, 3, 1].map((upTo) => ({ aggregate: 'a', upTo }));
    expect(await drainAggregates(place, wakeUps, to)).toMatchObject([{ outcome: 'drained', published: 3 }]);
    expect(await drainAggregates(place, [], to)).toEqual([]);
  });

  it('lets a failure of one aggregate stop no other', async () => {
    for (const name of ['a', 'b', 'c']) await commit(here.shop, name, 1, [name]);
    const to = target();
    to.answer = ({ id }) => (id === 'b' ? failed(true) : ok);
    const wakeUps = ['a', 'b', 'c'].map((aggregate) => ({ aggregate, upTo: 1 }));
    const drained = await drainAggregates(place, wakeUps, to, { sends: 1, concurrency: 1 });
    expect(drained.map(({ outcome }) => outcome)).toEqual(['drained', 'failed', 'drained']);
  });

  it.each([
    ['as it was told', { concurrency: 3 }, 3],
    ['50', {}, 50],
  ])('works on no more aggregates at a time than it may: %s', async (_, options, bound) => {
    const names = Array.from({ length: bound + 12 }, (_, i) => `a${i}`);
    for (const name of names) await commit(here.shop, name, 1, [name]);
    let atWork = 0;
    let most = 0;
    const publisher = publishEach(async () => {
      most = Math.max(most, ++atWork);
      await new Promise(setImmediate);
      atWork--;
    });
    const wakeUps = names.map((aggregate) => ({ aggregate, upTo: 1 }));
    await drainAggregates(place, wakeUps, { ...publisher, maximumEvents: 100 }, options);
    expect(most).toBeLessThanOrEqual(bound);
    expect(most).toBeGreaterThan(bound / 2);
  });

  it('finds an aggregate in the shard that its wake-up names, whatever number the relay has', async () => {
    const sixteen = Array.from({ length: 40 }, (_, i) => `a${i}`).filter((name) => shardOf(name, 16) >= 2);
    const [name] = sixteen as [string];
    await commit(here.shop, name, 1, ['e1'], { shards: 16 });
    const { pk, sk } = OutboxItem.key({ shard: shardOf(name, 16), aggregate: name, sequence: 1 });
    const to = target();
    await drainAggregate(place, wakeUpOf(pk, sk)!, to);
    expect(ids(to.arrived)).toEqual(['e1']);
  });
});

describe('wakeUpOf', () => {
  it('reads the key of an outbox item', () => {
    const key = OutboxItem.key({ shard: 3, aggregate: 'a#b%', sequence: 7 });
    expect(wakeUpOf(key.pk, key.sk)).toEqual({ aggregate: 'a#b%', upTo: 7, shard: 3 });
  });

  it('is undefined for any other', () => {
    const { sk } = OutboxItem.key({ shard: 3, aggregate: 'a', sequence: 7 });
    for (const [pk, other] of [
      ['ORDER#1', sk],
      ['OUTBOX_PARKED', sk],
      ['OUTBOX#1', 'STATE'],
      ['OUTBOX#x', sk],
      ['OUTBOX#-1', sk],
      ['OUTBOX#10000', sk],
      ['', ''],
    ]) {
      expect(wakeUpOf(pk!, other!)).toBeUndefined();
    }
  });
});

describe('publishEach', () => {
  it('sends the events of an aggregate in order and stops at one that fails', async () => {
    const sent: string[] = [];
    const publisher = publishEach(({ id }) => {
      sent.push(id);
      if (id === 'b1') throw Object.assign(new Error('text'), { name: 'BadRequest', retryable: false });
      if (id === 'c1') throw new RangeError('text');
    });
    const event = (aggregate: string, id: string) => ({
      ...{ aggregate, id, type: 't', source: 's', detail: '{}', time: new Date(), traceparent: undefined },
      ...{ sequence: 1, position: 0 },
    });
    const events = [event('a', 'a1'), event('b', 'b1'), event('b', 'b2'), event('c', 'c1'), event('a', 'a2')];
    expect(await publisher.publish(events)).toEqual([
      ok,
      failed(false, 'BadRequest'),
      failed(false, 'BadRequest'),
      failed(true, 'RangeError'),
      ok,
    ]);
    expect(sent.sort()).toEqual(['a1', 'a2', 'b1', 'c1']);
  });
});
