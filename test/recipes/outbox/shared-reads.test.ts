import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  OutboxItem,
  drainAggregates,
  shardOf,
  type DrainOptions,
  type OutboxPlace,
  type WakeUp,
} from '../../../lib/recipes/index.js';
import { embedded } from '../../support/dynamodb.js';
import { recipeShop, type RecipeShop } from '../../support/recipe-shop.js';
import { commit, failed, ids, ok, target } from './relay-target.js';

const shards = 2;
let here: RecipeShop;
let place: OutboxPlace;
beforeEach(async () => {
  here = await recipeShop();
  place = { table: here.shop, shards };
});
afterEach(() => here.close());

/** Names of one shard, in the order of their keys. */
const ofShard = (count: number, shard = 0): string[] =>
  Array.from({ length: 1000 }, (_, i) => `account:${String(i).padStart(4, '0')}`)
    .filter((name) => shardOf(name, shards) === shard)
    .slice(0, count);

const wakeUpsOf = (names: readonly string[], upTo = 1): WakeUp[] => names.map((aggregate) => ({ aggregate, upTo }));

const left = async (): Promise<string[]> => {
  const items = [0, 1].map((shard) => here.shop.of(OutboxItem).query({ shard }).consistent().all());
  return (await Promise.all(items)).flat().map(({ aggregate, sequence }) => `${aggregate}/${sequence}`);
};

const queries = (operations: readonly string[]): number => operations.filter((name) => name === 'Query').length;

it.runIf(embedded)('reads the aggregates of a shard by one query, in fewer units than one each', async () => {
  const names = [...ofShard(12), ...ofShard(12, 1)];
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const to = target();
  const cost = await here.costOf(() => drainAggregates(place, wakeUpsOf(names), to));
  expect(ids(to.arrived).sort()).toEqual(names.toSorted());
  expect(queries(cost.operations)).toBe(2);
  expect(cost.operations).toHaveLength(2 + 24);
  expect(cost.readUnits).toBeLessThanOrEqual(4);
  expect(cost.writeUnits).toBe(24);
});

it.runIf(embedded)('goes on behind what one query reached', async () => {
  // More aggregates than are read together, and what nobody asked for in between.
  const names = ofShard(120);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const woken = names.filter((_, i) => i % 2 === 0);
  const to = target();
  const cost = await here.costOf(() => drainAggregates(place, wakeUpsOf(woken), to));
  expect(ids(to.arrived).sort()).toEqual(woken);
  expect(await left()).toHaveLength(60);
  expect(queries(cost.operations)).toBeLessThanOrEqual(6);
});

it.runIf(embedded)('reads each by itself where much else waits in between, after little in vain', async () => {
  const names = ofShard(200);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const woken = [3, 60, 100, 150, 190].map((i) => names[i] as string);
  const to = target();
  const cost = await here.costOf(() => drainAggregates(place, wakeUpsOf(woken), to));
  expect(ids(to.arrived).sort()).toEqual(woken);
  expect(await left()).toHaveLength(195);
  expect(queries(cost.operations)).toBeLessThanOrEqual(6);
  expect(cost.readUnits).toBeLessThanOrEqual(5 + 1);
});

it('publishes of each aggregate no more than its wake-up names', async () => {
  const [a, b, c] = ofShard(3) as [string, string, string];
  for (const [name, upTo] of [
    [a, 3],
    [b, 4],
    [c, 2],
  ] as const)
    for (let n = 1; n <= upTo; n++) await commit(here.shop, name, n, [`${name}-${n}`]);
  const to = target();
  const drained = await drainAggregates(
    place,
    [
      { aggregate: c, upTo: 1 },
      { aggregate: a, upTo: 1 },
      { aggregate: a, upTo: 2 },
    ],
    to,
  );
  expect(drained.map(({ aggregate, published, removed }) => [aggregate, published, removed])).toEqual([
    [c, 1, 1],
    [a, 2, 2],
  ]);
  expect(await left()).toEqual([`${a}/3`, ...[1, 2, 3, 4].map((n) => `${b}/${n}`), `${c}/2`]);
});

it('lets an item that is not readable stop its own aggregate only', async () => {
  const names = ofShard(6);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const [, bad] = names as [string, string];
  const { pk, sk } = OutboxItem.key({ shard: 0, aggregate: bad, sequence: 1 });
  await here.db.client.send(
    new UpdateItemCommand({
      TableName: here.shop.name,
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: 'SET #format = :text',
      ExpressionAttributeNames: { '#format': 'format' },
      ExpressionAttributeValues: { ':text': { S: 'one' } },
    }),
  );
  const to = target();
  const drained = await drainAggregates(place, wakeUpsOf(names), to);
  expect(drained.filter(({ outcome }) => outcome === 'drained')).toHaveLength(5);
  expect(drained[1]).toMatchObject({ outcome: 'failed', reason: 'InvalidStoredItemError' });
});

it('a name that makes no key stops no other', async () => {
  const names = ofShard(3);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const tooLong = 'x'.repeat(2000);
  const drained = await drainAggregates(place, wakeUpsOf([tooLong, ...names]), target());
  expect(drained.map(({ outcome }) => outcome)).toEqual(['failed', 'drained', 'drained', 'drained']);
});

it('leaves aggregates that are blocked, and drains those around them', async () => {
  const [a, b, c] = ofShard(3) as [string, string, string];
  for (const name of [a, b, c]) for (const n of [1, 2]) await commit(here.shop, name, n, [`${name}-${n}`]);
  const to = target();
  to.answer = ({ aggregate }) => (aggregate === b ? failed(false, 'Malformed') : ok);
  const wakeUps = [a, b, c].flatMap((aggregate) => [1, 2].map((upTo) => ({ aggregate, upTo })));
  const outcomes = async () => (await drainAggregates(place, wakeUps, to)).map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(['drained', 'blocked', 'drained']);
  for (const name of [a, c]) await commit(here.shop, name, 3, [`${name}-3`]);
  to.answer = () => ok;
  expect(await outcomes()).toEqual(['drained', 'blocked', 'drained']);
  expect(await left()).toEqual([`${a}/3`, `${b}/1`, `${b}/2`, `${c}/3`]);
});

it('reads an aggregate again by itself where another relay changed an item', async () => {
  const [a, b] = ofShard(2) as [string, string];
  for (const name of [a, b]) await commit(here.shop, name, 1, [`${name}-1`, `${name}-2`]);
  const to = target();
  const other = target();
  other.answer = ({ id }) => (id === `${a}-1` ? failed(false) : ok);
  let raced = false;
  to.answer = ({ aggregate }) => (aggregate === a ? failed(false) : ok);
  const publish = to.publish.bind(to);
  to.publish = async (events) => {
    if (!raced) {
      raced = true;
      await drainAggregates(place, wakeUpsOf([a]), other, { whenParked: 'skip' });
    }
    return publish(events);
  };
  const drained = await drainAggregates(place, wakeUpsOf([a, b]), to, { whenParked: 'skip' });
  expect(drained.map(({ outcome }) => outcome)).toEqual(['drained', 'drained']);
  expect(await left()).toEqual([]);
});

it('fails every aggregate of a query that DynamoDB throttles for long, and asks for none by itself', async () => {
  const names = ofShard(8);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  let asked = 0;
  const throttled = here.through(({ operation }, send) => {
    if (operation !== 'Query') return send();
    asked++;
    throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  }, 1);
  const drained = await drainAggregates({ table: throttled, shards }, wakeUpsOf(names), target());
  expect(drained.every(({ outcome, reason }) => outcome === 'failed' && reason === 'ThrottlingException')).toBe(true);
  expect(asked).toBe(8);
}, 20_000);

it('stops all of them where the signal comes while they are read', async () => {
  const names = ofShard(8);
  for (const name of names) await commit(here.shop, name, 1, [name]);
  const deadline = new AbortController();
  const stopping = here.through(({ operation }, send) => {
    if (operation === 'Query') deadline.abort();
    return send();
  });
  const to = target();
  const { signal } = deadline;
  const drained = await drainAggregates({ table: stopping, shards }, wakeUpsOf(names), to, { signal });
  expect(drained.every(({ outcome }) => outcome === 'stopped')).toBe(true);
  expect(to.arrived).toEqual([]);
});

it.runIf(embedded)(
  'reads on where a page ends at its 1 MB, and gives no aggregate of which a part lies behind it',
  async () => {
    const names = ofShard(8);
    const detail = { text: 'x'.repeat(250_000) };
    for (const name of names) for (const n of [1, 2]) await commit(here.shop, name, n, [`${name}-${n}`], { detail });
    const wakeUps = [...wakeUpsOf(names.toReversed(), 1), ...wakeUpsOf(names, 2)];
    const to = target({ maximumBytes: 1_000_000 });
    const cost = await here.costOf(() => drainAggregates(place, wakeUps, to));
    for (const name of names)
      expect(ids(to.arrived).filter((id) => id.startsWith(name))).toEqual([`${name}-1`, `${name}-2`]);
    expect(to.arrived).toHaveLength(16);
    expect(await left()).toEqual([]);
    // The first page tells of one aggregate and half of the next: too little to read the others together.
    expect(queries(cost.operations)).toBeLessThanOrEqual(1 + names.length * 2);
  },
);

it('takes an aggregate for read by the bytes of its name, not by its text in JavaScript', async () => {
  const one = { shards: 1 };
  await commit(here.shop, 'a', 1, ['first'], one);
  for (let n = 1; n <= 8; n++) await commit(here.shop, '\uffee', n, [`other-${n}`], one);
  await commit(here.shop, '\u{10000}', 1, ['last'], one);
  const to = target();
  await drainAggregates({ table: here.shop, ...one }, wakeUpsOf(['a', '\u{10000}']), to);
  expect(ids(to.arrived).sort()).toEqual(['first', 'last']);
});

/** Names that sort in one way as text of JavaScript and in another as DynamoDB's bytes, or look like parts of a key. */
const name = fc.oneof(
  fc.constantFrom('a', 'a#', 'a#0000000000000001', 'a%23', 'a!', 'ab', '\u{10000}', '\uffee', '\u{10000}b', '\uffeeb'),
  fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' }),
);

it('publishes what each wake-up names, once and in order, and leaves all else, whatever else waits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.record({
          name,
          sequences: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
          wakeUps: fc.array(fc.integer({ min: 0, max: 13 }), { maxLength: 3 }),
        }),
        { selector: (each) => each.name, minLength: 1, maxLength: 30 },
      ),
      fc.record({ concurrency: fc.constantFrom(1, 2, 5, 50), sends: fc.constant(1) }),
      async (aggregates, options: DrainOptions) => {
        const own = await recipeShop();
        try {
          for (const { name: aggregate, sequences } of aggregates)
            for (const n of sequences) await commit(own.shop, aggregate, n, ['e'], { shards: 1 });
          const to = target();
          const wakeUps = aggregates.flatMap(({ name: aggregate, wakeUps: all }) =>
            all.map((upTo) => ({ aggregate, upTo })),
          );
          const drained = await drainAggregates({ table: own.shop, shards: 1 }, wakeUps, to, options);
          expect(drained.every(({ outcome }) => outcome === 'drained')).toBe(true);
          const waiting = await own.shop.of(OutboxItem).query({ shard: 0 }).all();
          for (const { name: aggregate, sequences, wakeUps: all } of aggregates) {
            const ordered = sequences.toSorted((x, y) => x - y);
            const upTo = Math.max(-1, ...all);
            const of = <E extends { readonly aggregate: string; readonly sequence: number | string }>(
              list: readonly E[],
            ) => list.filter((each) => each.aggregate === aggregate).map(({ sequence }) => sequence);
            expect(of(to.arrived)).toEqual(ordered.filter((n) => n <= upTo));
            expect(of(waiting)).toEqual(ordered.filter((n) => n > upTo));
          }
        } finally {
          await own.close();
        }
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
