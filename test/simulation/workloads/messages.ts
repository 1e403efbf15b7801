import { entity, integer, list, scan, string } from '../../../lib/commands/index.js';
import { InboxRecord, bodyPath, fromInvocation, messageHandler, sagaEntity } from '../../../lib/messaging/index.js';
import { OutboxItem } from '../../../lib/recipes/index.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

const Total = entity('TOTAL', {
  pk: 'TOTAL#{id}',
  sk: 'TOTAL',
  attributes: { id: string(), amount: integer() },
});
const Collection = sagaEntity('COLLECTION', { seen: list(string()).default(() => []), steps: integer().default(0) });

interface Delivery {
  readonly id: string;
  readonly order: string;
  readonly amount: number;
  /** How many messages complete the order's saga. */
  readonly of: number;
  readonly readFirst: boolean;
}

const day = 86_400_000;

/** One effect per message, however often it comes; and each step of a saga, whoever else takes one. */
export const messages = workload<Delivery, ReturnType<typeof appOf>>('messages', {}, () => {
  const waiting = new Map<string, Delivery>();
  const all = new Map<string, Delivery>();
  return {
    prepare: makeShop,
    plan(random) {
      const orders = ['o1', 'o2'].slice(0, random.integer(1, 2));
      const sent = orders.flatMap((order) => {
        const of = random.integer(1, 3);
        return Array.from({ length: of }, (_, i): Delivery => {
          return { id: `${order}-${i}`, order, amount: 4 ** i, of, readFirst: random.chance(0.3) };
        });
      });
      return Array.from({ length: random.integer(2, 3) }, () =>
        Array.from({ length: random.integer(1, 4) }, () => random.pick(sent)),
      );
    },
    start: ({ clientConfig }) => appOf(clientConfig),
    async run(app, delivery) {
      all.set(delivery.id, delivery);
      waiting.set(delivery.id, delivery);
      const { outcome } = await app(delivery).catch((error: unknown) => {
        // A handler that meets its own effect may throw; where its record can't be read then, the next delivery tells.
        const isOwn = (error as { path?: unknown }).path === 'COLLECTION.state';
        throw isOwn ? new Error('It met its own effect.', { cause: error }) : error;
      });
      waiting.delete(delivery.id);
      return outcome;
    },
    async settle(app) {
      for (const delivery of waiting.values()) await app(delivery);
    },
    async check(world) {
      const shop = shopOf(world.clientConfig);
      const published = await allOf(scan(shop.of(OutboxItem)).items());
      const types = published.flatMap(({ events }) => events.map(({ type, detail }) => `${type} ${detail}`));
      for (const order of ['o1', 'o2']) {
        const own = [...all.values()].filter((delivery) => delivery.order === order);
        const total = (await shop.of(Total).get({ id: order }).item())?.amount ?? 0;
        for (const { id, amount } of own) {
          const times = Math.floor(total / amount) % 4;
          must(times === 1, `The message ${id} had its effect ${times} times.`);
          const events = types.filter((type) => type === `message.handled ${JSON.stringify({ id })}`).length;
          must(events === 1, `The message ${id} published ${events} events.`);
        }
        const saga = await shop.of(Collection).get({ correlation: order }).item();
        const { seen, steps, revision, completedAt } = saga ?? { seen: [], steps: 0, revision: 0 };
        must(seen.length === own.length && steps === own.length, `The saga of ${order} has seen ${[...seen].join()}.`);
        must(revision === own.length, `The saga of ${order} is at revision ${revision}.`);
        const complete = own.length > 0 && own.length === own[0]?.of;
        must((completedAt !== undefined) === complete, `The saga of ${order} is ${complete ? 'not ' : ''}completed.`);
        const ends = types.filter((type) => type === `order.complete ${JSON.stringify({ order })}`).length;
        must(ends === Number(complete), `The end of ${order} was published ${ends} times.`);
      }
      must((await allOf(scan(shop.of(InboxRecord)).items())).length === all.size, 'A message has no record.');
      // After its time a message counts as new, whether its record is deleted or not.
      world.advance(2 * day);
      for (const delivery of all.values()) {
        const { outcome } = await appOf(world.clientConfig)({ ...delivery, order: `late-${delivery.id}`, of: 9 });
        must(outcome === 'handled', `After its time, the message ${delivery.id} is still remembered.`);
      }
      world.advance(day - 60_000);
      for (const delivery of all.values()) {
        const { outcome } = await appOf(world.clientConfig)({ ...delivery, order: `late-${delivery.id}`, of: 9 });
        must(outcome === 'duplicate', `Before its time, the message ${delivery.id} is forgotten.`);
      }
      world.advance(2 * day);
      await world.sweep();
      must((await allOf(scan(shop.of(InboxRecord)).items())).length === 0, 'An inbox record stays for good.');
    },
  };
});

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  const totals = shop.of(Total);
  const handlers = [false, true].map((readFirst) =>
    messageHandler({
      table: shop,
      consumer: 'totals',
      from: fromInvocation<Delivery>({ id: bodyPath('id') }),
      horizonSeconds: 86_400,
      readFirst,
      async handle({ body }, session) {
        const { id, order, amount, of } = body;
        const saga = await session.saga(Collection, order);
        saga.state.seen = [...saga.state.seen, id];
        saga.state.steps++;
        session.add(totals.update({ id: order }).add(Total.attrs.amount, amount));
        session.publish({ type: 'message.handled', detail: { id } });
        if (saga.state.seen.length < of) return;
        session.publish({ type: 'order.complete', detail: { order } });
        saga.complete();
      },
    }),
  );
  return (delivery: Delivery) => (handlers[Number(delivery.readFirst)] as (typeof handlers)[0])(delivery);
};
