import { setTimeout as wait } from 'node:timers/promises';
import { entity, list, retryOnConflict, scan, string, transactWrite, version } from '../../../lib/commands/index.js';
import { outboxRelay } from '../../../lib/events/index.js';
import type { SeededRandom, SimulatedWorld } from '../../../lib/local/index.js';
import {
  OutboxItem,
  ParkedEvent,
  drainAll,
  outbox,
  type Publisher,
  type RelayedEvent,
} from '../../../lib/recipes/index.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

const shards = 2;

/** An aggregate that lists its own events, so that it says which were committed, and in what order. */
const Thing = entity('THING', {
  pk: 'THING#{id}',
  sk: 'STATE',
  attributes: { id: string(), events: list(string()), revision: version() },
});

type Op =
  | { readonly kind: 'change'; readonly id: string; readonly events: readonly string[]; readonly taken: boolean }
  | { readonly kind: 'wake' | 'sweep' };

/** Every committed event is published, none that was not, first arrivals of an aggregate in order; and nothing stays. */
export const events = workload<Op, ReturnType<typeof shopOf>>('events', {}, () => {
  const arrived: RelayedEvent[] = [];
  /** The keys that the stream told of. */
  const told = new Map<string, { pk: string; sk: string }>();
  let overtakes = false;
  let outside: SimulatedWorld;
  const target = (random: SeededRandom, fails: number): Publisher => {
    const keepsOrder = random.chance(0.5);
    // Says that it keeps order and does not: events may overtake each other then, and none is lost all the same.
    const isSloppy = keepsOrder && random.chance(0.2);
    if (isSloppy) overtakes = true;
    return {
      keepsOrder,
      maximumEvents: random.integer(1, 3),
      async publish(batch) {
        await wait(random.integer(1, 50));
        if (random.chance(fails)) throw Object.assign(new Error('unreachable'), { name: 'Unreachable' });
        let failed = false;
        return batch.map((event) => {
          failed = (failed && keepsOrder && !isSloppy) || random.chance(fails);
          if (!failed) arrived.push(event);
          return failed ? { ok: false, retryable: true, reason: 'Busy' } : { ok: true };
        });
      },
    };
  };
  const relay = (shop: ReturnType<typeof shopOf>, random: SeededRandom, fails: number) =>
    outboxRelay({
      table: shop,
      target: target(random, fails),
      shards,
      sends: 2,
      sweepAfterMs: 1,
      parkAfter: { attempts: 1_000 },
      partialResponses: true,
      log: () => undefined,
    });
  return {
    async prepare(world) {
      outside = world;
      await makeShop(world);
      // Its next events are numbered 9 and 10, whose order as text would be another one.
      await shopOf(world.clientConfig).of(Thing).put({ id: 't1', events: [], revision: 7 }).ignoreVersion();
    },
    plan(random) {
      let count = 0;
      const writers = Array.from({ length: random.integer(1, 3) }, () =>
        Array.from({ length: random.integer(1, 3) }, (): Op => {
          const ids = Array.from({ length: random.integer(1, 2) }, () => `e${++count}`);
          return { kind: 'change', id: random.pick(['t1', 't1', 't2']), events: ids, taken: random.chance(0.15) };
        }),
      );
      const relays = Array.from({ length: random.integer(1, 2) }, () =>
        Array.from({ length: random.integer(1, 3) }, (): Op => ({ kind: random.pick(['wake', 'wake', 'sweep']) })),
      );
      return [...writers, ...relays];
    },
    start: ({ clientConfig }) => shopOf(clientConfig),
    async run(shop, op, { attempt, random }) {
      if (op.kind === 'change') {
        if (attempt === 1) await change(shop, op);
        return;
      }
      const handler = relay(shop, random, 0.2);
      if (op.kind === 'sweep') return handler({ 'detail-type': 'Scheduled Event' });
      for (const item of await allOf(scan(shopOf(outside.clientConfig).of(OutboxItem)).items())) {
        const [pk, sk] = [OutboxItem.pk.of(item), OutboxItem.sk.of(item)];
        told.set(`${pk} ${sk}`, { pk, sk });
      }
      // Late, twice or out of order, as the order of a stream is per item only.
      const keys = random.shuffle([...told.values(), ...told.values()]).slice(0, random.integer(1, 4));
      return handler({ Records: keys.map(({ pk, sk }, i) => recordOf(pk, sk, i)) });
    },
    async settle(shop) {
      await drainAll({ table: shop, shards }, target(neverFails, 0));
    },
    async check({ clientConfig }) {
      const shop = shopOf(clientConfig);
      const things = await allOf(scan(shop.of(Thing)).items());
      for (const { id, events } of things) {
        const own = arrived.filter(({ aggregate }) => aggregate === id).map((event) => event.id);
        const first = [...new Set(own)];
        if (overtakes) first.sort((a, b) => events.indexOf(a) - events.indexOf(b));
        must(first.join() === events.join(), `Of ${id}, ${events.join()} were committed, and ${first.join()} arrived.`);
      }
      const committed = new Set(things.flatMap(({ events }) => events));
      const other = arrived.find(({ id }) => !committed.has(id));
      must(other === undefined, `${other?.id} was published and not committed.`);
      must((await allOf(scan(shop.of(OutboxItem)).items())).length === 0, 'The outbox is not empty.');
      must((await allOf(scan(shop.of(ParkedEvent)).items())).length === 0, 'An event was parked.');
    },
  };
});

const change = async (
  shop: ReturnType<typeof shopOf>,
  { id, events: ids, taken }: Extract<Op, { kind: 'change' }>,
): Promise<void> => {
  const things = shop.of(Thing);
  const published = outbox(shop, { source: 'things', shards });
  await retryOnConflict(async () => {
    const thing = await things.get({ id }).consistent().item();
    const { revision = 0, events = [] } = thing ?? {};
    const steps = {
      thing: things.put({ id, events: [...events, ...ids], revision }),
      event: published.publish({
        aggregate: id,
        sequence: revision + 1,
        events: ids.map((event) => ({ id: event, type: 'thing.changed', detail: {} })),
      }),
    };
    // A transaction that is refused, with an event in it.
    if (taken)
      await transactWrite(shop, { ...steps, never: things.put({ id: 'none', events: [], revision: 5 }) }).trySend();
    else await transactWrite(shop, steps).send();
  });
};

const neverFails: SeededRandom = {
  next: () => 0.5,
  integer: (least) => least,
  chance: () => false,
  pick: (values) => values[0] as never,
  shuffle: (values) => [...values],
};

const recordOf = (pk: string, sk: string, i: number) => ({
  eventID: String(i),
  eventName: 'INSERT' as const,
  eventSource: 'aws:dynamodb',
  dynamodb: { ApproximateCreationDateTime: 1, Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: String(i + 1) },
});
