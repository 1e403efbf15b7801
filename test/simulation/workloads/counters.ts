import { entity, integer, string } from '../../../lib/commands/index.js';
import { ShardedCounter, WindowedCounter, increment } from '../../../lib/recipes/index.js';
import { makeShop, must, shopOf, workload } from '../workload.js';

const Views = entity('VIEWS', {
  pk: 'VIEWS#{path}',
  sk: 'VIEWS',
  attributes: { path: string(), count: integer() },
});

type Count =
  | { readonly kind: 'once'; readonly id: string; readonly amount: number }
  | { readonly kind: 'plain' }
  | { readonly kind: 'sharded' };

const day = new Date(Date.UTC(2026, 0, 1, 12));

/** Idempotent counters equal the number of distinct ids; plain ones never count more than they were asked to. */
export const counters = workload<Count, ReturnType<typeof appOf>>('counters', {}, () => {
  const asked = new Map<string, number>();
  const counted = new Set<string>();
  const plain = { asked: 0, answered: 0 };
  const sharded = { asked: 0, answered: 0 };
  return {
    prepare: makeShop,
    plan: (random) =>
      Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(1, 4) }, (): Count => {
          const kind = random.pick(['once', 'once', 'once', 'plain', 'sharded'] as const);
          if (kind !== 'once') return { kind };
          const id = random.pick(['e1', 'e2', 'e3', 'e4']);
          return { kind, id, amount: Number(id[1]) };
        }),
      ),
    start: ({ clientConfig }) => appOf(clientConfig),
    async run(app, op, { attempt, invariant }) {
      if (op.kind === 'once') {
        const { id, amount } = op;
        asked.set(id, amount);
        const outcome = await app.windowed.count({ id, at: day, amount });
        invariant(outcome !== 'TooLate', 'An event of today is too late.');
        invariant(outcome !== 'Counted' || !counted.has(id), `${id} was counted twice.`);
        if (outcome === 'Counted') counted.add(id);
        return outcome;
      }
      if (attempt > 1) return;
      const count = op.kind === 'plain' ? plain : sharded;
      count.asked++;
      if (op.kind === 'sharded') await app.sharded.add();
      else await increment(app.views, { path: '/' }, Views.attrs.count, 1);
      count.answered++;
    },
    async settle(app) {
      for (const [id, amount] of asked) await app.windowed.count({ id, at: day, amount });
    },
    async check({ clientConfig }) {
      const app = appOf(clientConfig);
      const all = [...asked.values()].reduce((sum, amount) => sum + amount, 0);
      const count = await app.windowed.read(day, { consistent: true });
      must(count === all, `${count} are counted of events that make ${all}.`);
      const views = (await app.views.get({ path: '/' }).item())?.count ?? 0;
      must(views >= plain.answered && views <= plain.asked, `${views} views of ${plain.asked}.`);
      const sum = await app.sharded.sum({ consistent: true });
      must(sum >= sharded.answered && sum <= sharded.asked, `${sum} likes of ${sharded.asked}.`);
    },
  };
});

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return {
    windowed: new WindowedCounter(shop, { name: 'visits' }),
    sharded: new ShardedCounter(shop, { name: 'likes', shards: 2 }),
    views: shop.of(Views),
  };
};
