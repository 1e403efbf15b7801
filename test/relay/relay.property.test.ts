import fc from 'fast-check';
import { expect, it } from 'vitest';
import { entity, retryOnConflict, string, transactWrite, version, type Table } from '../../lib/commands/index.js';
import { outboxRelay, type RelayHandler, type StreamEventRecord } from '../../lib/events/index.js';
import { outbox, parkedEvents, wakeUpOf, type Publisher, type WakeUp } from '../../lib/recipes/index.js';
import { failed, ok } from '../recipes/outbox/relay-target.js';
import { chanceOf, type Chance } from './chance.js';
import { relayShop, type RelayShop } from './relay-shop.js';
import { StreamShard } from './stream-shard.js';

const Thing = entity('THING', {
  pk: 'THING#{id}',
  sk: 'STATE',
  attributes: { id: string(), revision: version() },
});
const shards = 3;

/** What was committed: the ids by aggregate, by sequence. */
class Commits {
  private readonly committed = new Map<string, Map<number, string[]>>();
  readonly refused = new Set<string>();
  private count = 0;

  /** A transaction of two things, each with its events; some are refused with their events in them. */
  async write(shop: Table, aggregates: readonly string[], chance: Chance): Promise<void> {
    const things = shop.of(Thing);
    const events = outbox(shop, { source: 'test', shards });
    await retryOnConflict(
      async () => {
        const steps: Record<string, never> = {};
        const own: { aggregate: string; sequence: number; ids: string[] }[] = [];
        for (const aggregate of aggregates) {
          const thing = await things.get({ id: aggregate }).consistent().item();
          const sequence = (thing?.revision ?? 0) + 1;
          const ids = Array.from({ length: 1 + Math.floor(chance() * 2) }, () => `e${++this.count}`);
          own.push({ aggregate, sequence, ids });
          const published = ids.map((id) => ({ id, type: 't', detail: {} }));
          Object.assign(steps, {
            [`thing ${aggregate}`]: things.put({ ...thing, id: aggregate }),
            [`event ${aggregate}`]: events.publish({ aggregate, sequence, events: published }),
          });
        }
        // A thing that is there already refuses the whole transaction.
        if (chance() < 0.15) Object.assign(steps, { other: things.put({ id: 'taken' }) });
        // Each run has ids of its own; only those of the one that commits may arrive.
        own.flatMap(({ ids }) => ids).forEach((id) => this.refused.add(id));
        await transactWrite(shop, steps).send();
        for (const { aggregate, sequence, ids } of own) {
          this.of(aggregate).set(sequence, ids);
          ids.forEach((id) => this.refused.delete(id));
        }
      },
      { maxAttempts: 50 },
    ).catch(() => undefined);
  }

  private of(aggregate: string): Map<number, string[]> {
    const own = this.committed.get(aggregate) ?? new Map<number, string[]>();
    this.committed.set(aggregate, own);
    return own;
  }

  upTo({ aggregate, upTo }: WakeUp): string[] {
    return [...this.of(aggregate)].flatMap(([sequence, ids]) => (sequence <= upTo ? ids : []));
  }

  inOrder(aggregate: string): string[] {
    return [...this.of(aggregate)].sort(([a], [b]) => a - b).flatMap(([, ids]) => ids);
  }

  get size(): number {
    return [...this.committed.values()].reduce((sum, own) => sum + own.size, 0);
  }
}

interface Arrival {
  readonly id: string;
  readonly aggregate: string;
}

/**
 * A function that is killed after a number of requests and batches: from then on nothing that it does has an effect. The last
 * thing may have taken effect or not. Before that, a third of the events fail at random, some of them though they arrived,
 * and responses are lost.
 */
const life = (here: RelayShop, arrivals: Arrival[], chance: Chance, budget: number) => {
  let left = budget;
  const isDead = () => left < 0;
  const shop = here.faulty(() => {
    left--;
    if (isDead()) return left === -1 && chance() < 0.5 ? 'after' : 'before';
    return chance() < 0.05 ? (chance() < 0.5 ? 'after' : 'before') : undefined;
  });
  const target: Publisher = {
    async publish(events) {
      left--;
      if (isDead()) throw new Error('killed');
      const answers = events.map(({ id, aggregate }) => {
        const fails = chance() < 1 / 3;
        if (!fails || chance() < 0.3) arrivals.push({ id, aggregate });
        return fails ? failed(true) : ok;
      });
      if (chance() < 0.3) await new Promise(setImmediate);
      if (chance() < 0.05) throw new Error('the response was lost');
      return answers;
    },
  };
  const handler = outboxRelay({
    ...{ table: shop, target, shards, partialResponses: true, sweepAfterMs: 1, log: () => undefined },
    ...{ sends: 2, parkAfter: { attempts: 1_000_000 } },
  });
  return { handler, isDead };
};

it('brings every committed event in order and no other, whatever the stream, the target and the function do', async () => {
  let transactions = 0;
  let kills = 0;
  let acknowledged = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        seed: fc.integer(),
        aggregates: fc.integer({ min: 1, max: 4 }),
        commits: fc.integer({ min: 1, max: 20 }),
        budget: fc.integer({ min: 1, max: 40 }),
      }),
      async ({ seed, aggregates, commits, budget }) => {
        const here = await relayShop('KEYS_ONLY');
        try {
          const chance = chanceOf(seed);
          const arrivals: Arrival[] = [];
          const written = new Commits();
          const names = Array.from({ length: aggregates }, (_, i) => `a${i}`);
          await here.shop.of(Thing).put({ id: 'taken' });
          const stream = [new StreamShard(chance), new StreamShard(chance)];
          let writing = true;
          const writers = Promise.all(
            Array.from({ length: commits }, () =>
              written.write(
                here.shop,
                names.filter(() => chance() < 0.6),
                chance,
              ),
            ),
          ).finally(() => (writing = false));
          let reading = Promise.resolve();
          const poll = (): Promise<void> =>
            (reading = reading.then(async () => {
              for (const record of await here.records()) {
                // All of an item are in one shard.
                const [first = 0] = Buffer.from(JSON.stringify(record.dynamodb?.Keys)).reverse().subarray(5);
                stream[first % 2]!.add(record);
              }
            }));
          const invoke = async (event: Parameters<RelayHandler>[0]) => {
            const { handler, isDead } = life(here, arrivals, chance, chance() < 0.3 ? budget : Infinity);
            const response = await handler(event).catch(() => undefined);
            if (isDead()) kills++;
            return isDead() ? undefined : response;
          };
          /** Nothing is acknowledged that did not arrive. */
          const check = ({ eventName, dynamodb: { Keys: { pk, sk } = {} } = {} }: StreamEventRecord): void => {
            // A change of an item, such as a failure that is noted, wakes nobody.
            if (eventName !== 'INSERT') return;
            const wakeUp = wakeUpOf(pk?.S ?? '', sk?.S ?? '');
            const published = wakeUp && written.upTo(wakeUp);
            for (const id of published ?? []) expect(arrivals.map((arrival) => arrival.id)).toContain(id);
            acknowledged += published?.length ?? 0;
          };
          const readers = stream.map(async (shard) => {
            do {
              await poll();
              if (shard.isEmpty) await new Promise(setImmediate);
              else shard.answer(await invoke({ Records: shard.next() })).forEach(check);
            } while (writing || !shard.isEmpty);
          });
          const sweeper = async (): Promise<void> => {
            while (writing) await invoke({ 'detail-type': 'Scheduled Event' });
          };
          await Promise.all([writers, ...readers, ...(chance() < 0.5 ? [sweeper()] : [])]);
          for (let pass = 0; (await here.left(shards)) > 0; pass++) {
            expect(pass).toBeLessThan(200);
            await invoke({ 'detail-type': 'Scheduled Event' });
          }
          transactions += written.size;
          for (const name of names) {
            const own = arrivals.filter(({ aggregate }) => aggregate === name).map(({ id }) => id);
            expect([...new Set(own)]).toEqual(written.inOrder(name));
          }
          expect(arrivals.filter(({ id }) => written.refused.has(id))).toEqual([]);
          expect(await parkedEvents({ table: here.shop, shards }).all()).toEqual([]);
        } finally {
          await here.close();
        }
      },
    ),
    { numRuns: 25 },
  );
  expect(transactions).toBeGreaterThan(25);
  expect(acknowledged).toBeGreaterThan(50);
  expect(kills).toBeGreaterThan(10);
}, 120_000);
