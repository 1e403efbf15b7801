import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  OutboxItem,
  ParkedEvent,
  drainAggregate,
  drainAll,
  parkedEvents,
  retryParked,
  shardOf,
  skipParked,
  type DrainOptions,
  type OutboxPlace,
  type Publisher,
} from '../../../lib/recipes/index.js';
import { InvalidStoredItemError } from '../../../lib/commands/index.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, type RecipeShop } from '../../support/recipe-shop.js';
import { commit, failed, ids, ok, target, type Target } from './relay-target.js';

let here: RecipeShop;
let place: OutboxPlace;
let to: Target;
beforeEach(async () => {
  here = await recipeShop();
  place = { table: here.shop, shards: 2 };
  to = target();
});
afterEach(() => here.close());

const drain = (upTo: number, options: DrainOptions = {}, publisher: Publisher = to) =>
  drainAggregate(place, { aggregate: 'a', upTo }, publisher, { sends: 1, ...options });
const poison =
  (...bad: string[]) =>
  ({ id }: { id: string }) =>
    bad.includes(id) ? failed(false, 'MalformedDetail') : ok;
/** A drain that has read the item and is held up while it publishes. */
const heldUp = async (answer: Target['answer'], options: DrainOptions = {}) => {
  const slow = { ...target(), answer };
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const publisher: Publisher = {
    async publish(events) {
      reached.resolve();
      await released.promise;
      return slow.publish(events);
    },
  };
  const late = drain(2, options, publisher);
  await reached.promise;
  return { late, go: released.resolve, slow };
};
const parked = () => parkedEvents(place).consistent().all();
const key = (sequence: number) => ({ shard: shardOf('a', 2), aggregate: 'a', sequence });
const stored = (sequence: number) => here.shop.of(OutboxItem).get(key(sequence)).consistent().item();
const isEmpty = async (): Promise<boolean> => {
  const shards = [0, 1].map((shard) => here.shop.of(OutboxItem).query({ shard }).consistent().all());
  return (await Promise.all(shards)).flat().length === 0;
};

it.each(['block', 'skip'] as const)('leaves an event that newer code parked as it is (%s)', async (whenParked) => {
  await commit(here.shop, 'a', 1, ['e1']);
  to.answer = poison('e1');
  await drain(1, { whenParked });
  const [entry] = await parked();
  await here.shop.of(ParkedEvent).put({ ...entry!, format: 2 });
  const before = await parked();
  for (const settle of [retryParked, skipParked]) {
    await expect(settle(place, before[0]!)).rejects.toThrow(InvalidStoredItemError);
  }
  expect(await parked()).toEqual(before);
});

describe('an event that fails for good', () => {
  beforeEach(async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b', 'e1c']);
    await commit(here.shop, 'a', 2, ['e2']);
    to.answer = poison('e1b');
  });

  it('is parked with its reason, and holds back what comes after it', async () => {
    const at = Date.UTC(2026, 11, 1);
    const drained = await drain(2, { clock: () => at });
    expect(drained).toMatchObject({ outcome: 'blocked', reason: 'MalformedDetail', published: 1, parked: 1 });
    expect(await parked()).toMatchObject([
      {
        ...{ aggregate: 'a', sequence: 1, position: 1, blocks: true, reason: 'MalformedDetail', attempts: 1 },
        ...{ parkedAt: new Date(at), failingSince: new Date(at), event: { id: 'e1b', type: 'happened' } },
      },
    ]);
    const batches = to.batches.length;
    expect(await drain(2)).toMatchObject({ outcome: 'blocked', published: 0, parked: 0 });
    expect(await drainAll(place, to)).toMatchObject({ blocked: 1, published: 0, failed: 0 });
    expect(to.batches).toHaveLength(batches);
  });

  it('goes on from its place when it is retried, with its count anew', async () => {
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    expect(await retryParked(place, entry)).toBe('Done');
    expect(await parked()).toEqual([]);
    expect(await stored(1)).toMatchObject({ published: 1 });
    to.answer = () => ok;
    expect((await drain(2)).outcome).toBe('drained');
    expect(ids(to.arrived)).toEqual(['e1a', 'e1b', 'e1c', 'e2']);
    expect(await isEmpty()).toBe(true);
  });

  it('is parked again when it fails again', async () => {
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    await retryParked(place, entry);
    expect(await drain(2)).toMatchObject({ outcome: 'blocked', parked: 1 });
    expect(await parked()).toHaveLength(1);
    // The entry of its first parking says nothing about this one.
    if ((await parked())[0]?.parkedAt.getTime() !== entry.parkedAt.getTime())
      expect(await skipParked(place, entry)).toBe('Gone');
  });

  it('is passed over when it is skipped', async () => {
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    expect(await skipParked(place, entry)).toBe('Done');
    expect((await drain(2)).outcome).toBe('drained');
    expect(ids(to.arrived)).toEqual(['e1a', 'e1c', 'e2']);
    expect(await isEmpty()).toBe(true);
    expect(await parked()).toEqual([]);
  });

  it('leaves its item when it is skipped and was the last', async () => {
    to.answer = poison('e1c');
    await drain(1);
    const [entry] = (await parked()) as [ParkedEvent];
    await skipParked(place, entry);
    expect(await drain(1)).toMatchObject({ outcome: 'drained', published: 0, removed: 1 });
    expect(ids(to.arrived)).toEqual(['e1a', 'e1b']);
  });

  it('is retried and skipped once, whoever asks how often', async () => {
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    const outcomes = await Promise.all([
      retryParked(place, entry),
      skipParked(place, entry),
      retryParked(place, entry),
    ]);
    expect(outcomes.sort()).toEqual(['Done', 'Gone', 'Gone']);
    expect(await retryParked(place, entry)).toBe('Gone');
    expect(await skipParked(place, entry)).toBe('Gone');
  });

  it('is not said to be gone where another transaction was in its way, beside one that changed its item', async () => {
    const whole = { whenParked: 'skip' } as const;
    to.answer = poison('e1b');
    await drain(1, whole);
    const [entry] = (await parked()) as [ParkedEvent];
    // Its place is taken by what waits there.
    await here.shop.of(OutboxItem).put({ ...key(1), format: 1, events: [entry.event] });
    let told = 0;
    const meeting = here.through((request, send) => {
      if (request.operation === 'TransactWriteItems' && told++ === 0)
        here.db.local?.setFaults(() => ({ at: 'before', error: { reasons: ['TransactionConflict'] } }));
      return Promise.resolve(send()).finally(() => here.db.local?.setFaults(undefined));
    });
    expect(await retryParked({ ...place, table: meeting }, entry)).toBe('Busy');
    expect(told).toBe(1);
    expect(await parked()).toHaveLength(1);
  });

  it.each(['retried', 'skipped'] as const)('is %s once through a lost response', async (how) => {
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    const lossy = { ...place, table: here.faulty(loseFirst('TransactWriteItems')) };
    expect(await (how === 'retried' ? retryParked : skipParked)(lossy, entry)).toBe('Done');
    expect(await parked()).toEqual([]);
    expect(await stored(1)).toMatchObject({ published: how === 'retried' ? 1 : 2 });
  });

  it('is parked once by relays that race, through lost responses', async () => {
    const relays = [1, 2, 3, 4].map(() => ({
      ...place,
      table: here.faulty(loseFirst('TransactWriteItems')),
    }));
    const drained = await Promise.all(
      relays.map((relay) => drainAggregate(relay, { aggregate: 'a', upTo: 2 }, to, { sends: 1 })),
    );
    expect(drained.map(({ outcome }) => outcome)).toEqual(Array(4).fill('blocked'));
    expect(drained.reduce((sum, { parked }) => sum + parked, 0)).toBe(1);
    expect(await parked()).toHaveLength(1);
  });

  it('is parked no more once a slower relay could publish it after all', async () => {
    const { late, go } = await heldUp(() => ok);
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    go();
    expect(await late).toMatchObject({ outcome: 'drained', published: 4, removed: 2 });
    expect(await parked()).toEqual([]);
    expect(await isEmpty()).toBe(true);
    // Where the relay stopped before it removed the entry too, the operator does.
    await here.shop.of(ParkedEvent).put(entry);
    expect(await retryParked(place, entry)).toBe('Gone');
    expect(await parked()).toEqual([]);
  });

  it.runIf(embedded)('is parked no more then, also where its entry met another transaction', async () => {
    const { late, go } = await heldUp(() => ok);
    await drain(2);
    const [entry] = (await parked()) as [ParkedEvent];
    const { pk } = ParkedEvent.key(entry);
    let met = 0;
    here.db.local?.setFaults(({ operation, input }) => {
      const { Key } = input as { Key?: { pk: { S: string } } };
      if (operation !== 'DeleteItem' || Key?.pk.S !== pk || met > 0) return undefined;
      met++;
      return { at: 'before', error: 'TransactionConflict' };
    });
    go();
    expect(await late).toMatchObject({ outcome: 'drained', published: 4, removed: 2 });
    expect(met).toBe(1);
    expect(await parked()).toEqual([]);
  });

  it.runIf(embedded)(
    'costs one transaction to park, to retry and to skip, and nothing while it is parked',
    async () => {
      const units = async (work: () => Promise<unknown>) => here.costOf(work);
      expect(await units(() => drain(2))).toMatchObject({
        ...{ operations: ['Query', 'TransactWriteItems'], writeUnits: 4, readUnits: 1 },
      });
      expect(await units(() => drain(2))).toMatchObject({ operations: ['Query'], writeUnits: 0, readUnits: 1 });
      expect(await units(() => parkedEvents(place).all())).toEqual({
        ...{ operations: ['Query'], writeUnits: 0, readUnits: 0.5 },
      });
      const [entry] = (await parked()) as [ParkedEvent];
      expect(await units(() => retryParked(place, entry))).toMatchObject({
        ...{ operations: ['TransactWriteItems'], writeUnits: 4 },
      });
      await drain(2);
      const [again] = (await parked()) as [ParkedEvent];
      expect(await units(() => skipParked(place, again))).toMatchObject({
        ...{ operations: ['TransactWriteItems'], writeUnits: 4 },
      });
    },
  );
});

describe('an event that fails and may be tried again', () => {
  it('is parked after its attempts and its time, whichever is later', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = ({ id }) => (id === 'e1b' ? failed(true, 'Throttled') : ok);
    let now = Date.UTC(2026, 11, 1);
    const options = { parkAfter: { attempts: 3, ms: 60_000 }, clock: () => now };
    for (const attempt of [1, 2, 3, 4]) {
      expect(await drain(1, options)).toMatchObject({ outcome: 'failed', parked: 0 });
      expect(await stored(1)).toMatchObject({ attempts: attempt, published: 1, reason: 'Throttled' });
      now += 10_000;
    }
    now += 60_000;
    expect(await drain(1, options)).toMatchObject({ outcome: 'blocked', parked: 1 });
    expect(await parked()).toMatchObject([{ attempts: 5, failingSince: new Date(Date.UTC(2026, 11, 1)) }]);
    const item = await stored(1);
    expect(item).not.toHaveProperty('attempts');
    expect(item).not.toHaveProperty('reason');
    // What was acknowledged before is not sent again.
    expect(ids(to.arrived)).toEqual(['e1a']);
  });

  it('has its own count: that of an event before it does not', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = () => failed(true);
    await drain(1);
    await drain(1);
    expect(await stored(1)).toMatchObject({ attempts: 2 });
    to.answer = ({ id }) => (id === 'e1b' ? failed(true) : ok);
    await drain(1, { parkAfter: { attempts: 2, ms: 0 } });
    expect(await stored(1)).toMatchObject({ attempts: 1, published: 1 });
  });
});

describe('with whenParked: skip', () => {
  const skip = { whenParked: 'skip' } as const;

  it('the aggregate goes on without its parked events', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b', 'e1c']);
    await commit(here.shop, 'a', 2, ['e2']);
    to.answer = poison('e1a', 'e1b', 'e2');
    expect(await drain(2, skip)).toMatchObject({ outcome: 'drained', published: 1, parked: 3, removed: 2 });
    expect(ids(to.arrived)).toEqual(['e1c']);
    expect((await parked()).map(({ event, blocks }) => [event.id, blocks])).toEqual([
      ['e1a', false],
      ['e1b', false],
      ['e2', false],
    ]);
    expect(await isEmpty()).toBe(true);
  });

  it('a retried event comes late, and a skipped one never', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b', 'e1c']);
    await commit(here.shop, 'a', 2, ['e2']);
    to.answer = poison('e1a', 'e1b');
    await drain(2, skip);
    const [first, second] = (await parked()) as [ParkedEvent, ParkedEvent];
    to.answer = () => ok;
    expect(await skipParked(place, first)).toBe('Done');
    expect(await skipParked(place, first)).toBe('Gone');
    expect(await retryParked(place, second)).toBe('Done');
    expect(await retryParked(place, second)).toBe('Gone');
    expect(await drainAll(place, to)).toMatchObject({ published: 1, removed: 1 });
    expect(ids(to.arrived)).toEqual(['e1c', 'e2', 'e1b']);
    expect(await parked()).toEqual([]);
  });

  it('a retry waits while later events of its transaction do', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = ({ id }) => failed(id === 'e1b');
    await drain(1, skip);
    const [entry] = (await parked()) as [ParkedEvent];
    expect(await retryParked(place, entry)).toBe('Busy');
    expect(await parked()).toHaveLength(1);
    to.answer = () => ok;
    await drain(1, skip);
    expect(await retryParked(place, entry)).toBe('Done');
    await drain(1, skip);
    expect(ids(to.arrived)).toEqual(['e1b', 'e1a']);
  });

  it('an event is parked once by relays that race', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = poison('e1a');
    const drained = await Promise.all([1, 2, 3].map(() => drain(1, skip)));
    expect(drained.reduce((sum, { parked }) => sum + parked, 0)).toBe(1);
    expect(await parked()).toHaveLength(1);
    expect(new Set(ids(to.arrived))).toEqual(new Set(['e1b']));
    expect(await isEmpty()).toBe(true);
  });

  it('a relay that comes late parks nothing again that was passed over', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = ({ id }) => failed(id === 'e1b');
    const { late, go, slow } = await heldUp(poison('e1a'), skip);
    await drain(1, skip);
    const [entry] = (await parked()) as [ParkedEvent];
    await skipParked(place, entry);
    go();
    expect(await late).toMatchObject({ outcome: 'drained', parked: 0, published: 1 });
    expect(ids(slow.arrived)).toEqual(['e1b']);
    expect(await parked()).toEqual([]);
  });

  it('what a relay parked that blocks stays so until it is retried or skipped', async () => {
    await commit(here.shop, 'a', 1, ['e1a', 'e1b']);
    to.answer = poison('e1a');
    await drain(1);
    expect((await drain(1, skip)).outcome).toBe('blocked');
  });
});

it('holds an event that fills its item', async () => {
  await commit(here.shop, 'a', 1, ['e1'], { detail: { text: 'x'.repeat(407_900) } });
  to.answer = () => failed(true);
  expect((await drain(1)).outcome).toBe('failed');
  to.answer = () => failed(false);
  expect(await drain(1)).toMatchObject({ outcome: 'blocked', parked: 1 });
});

it('lists the parked events of one aggregate', async () => {
  await commit(here.shop, 'a', 1, ['e1']);
  await commit(here.shop, 'a#b', 1, ['other']);
  to.answer = () => failed(false);
  await drainAll(place, to);
  expect(await parked()).toHaveLength(2);
  expect((await parkedEvents(place, { aggregate: 'a' }).all()).map(({ event }) => event.id)).toEqual(['e1']);
  expect(await parkedEvents(place).count()).toBe(2);
});

it('stores as a reason what is a code only', async () => {
  await commit(here.shop, 'a', 1, ['e1']);
  to.answer = () => failed(false, 'a text with the secret');
  await drain(1);
  expect((await parked())[0]?.reason).toBe('Unknown');
});
