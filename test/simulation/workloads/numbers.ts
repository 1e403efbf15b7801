import { entity, integer, scan, string } from '../../../lib/commands/index.js';
import { GaplessSequence, hiLo, sequenceEntity } from '../../../lib/recipes/index.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

const Invoice = entity('INVOICE', {
  pk: 'INVOICE#{order}',
  sk: 'INVOICE',
  attributes: { order: string(), number: integer() },
});

type Op = { readonly kind: 'ids'; readonly count: number } | { readonly kind: 'invoice'; readonly order: string };

/** No id is handed out twice; invoices are numbered without a gap, one number an order, also when asked again. */
export const numbers = workload<Op, ReturnType<typeof appOf>>('numbers', {}, () => {
  const ids = new Set<number>();
  const invoices = new Map<string, number>();
  return {
    prepare: makeShop,
    plan: (random) =>
      Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(1, 3) }, (): Op => {
          if (random.chance(0.4)) return { kind: 'ids', count: random.integer(1, 5) };
          return { kind: 'invoice', order: random.pick(['o1', 'o2', 'o3', 'o4', 'o5']) };
        }),
      ),
    start: ({ clientConfig }) => appOf(clientConfig),
    async run(app, op, { invariant }) {
      if (op.kind === 'ids') {
        const take = async (): Promise<void> => {
          const id = await app.ids.next();
          invariant(!ids.has(id), `The id ${id} was handed out twice.`);
          ids.add(id);
        };
        await Promise.all(Array.from({ length: op.count }, take));
        return;
      }
      const { order } = op;
      const { number } = await app.invoices.assign(app.records, 'number', { order });
      invariant((invoices.get(order) ?? number) === number, `The order ${order} has two numbers.`);
      invoices.set(order, number);
      return number;
    },
    async check({ clientConfig }) {
      const shop = shopOf(clientConfig);
      const stored = await allOf(scan(shop.of(Invoice)).items());
      const inOrder = stored.map(({ number }) => number).sort((a, b) => a - b);
      must(
        inOrder.every((number, i) => number === i + 1),
        `The invoices are numbered ${inOrder.join(', ')}.`,
      );
      const sequence = await shop.of(sequenceEntity()).get({ name: 'invoices' }).item();
      must((sequence?.last ?? 0) === stored.length, `The sequence is at ${sequence?.last} of ${stored.length}.`);
      for (const [order, number] of invoices) {
        must(
          stored.some((invoice) => invoice.order === order && invoice.number === number),
          `${order} is lost.`,
        );
      }
    },
  };
});

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return {
    ids: hiLo(shop, { name: 'ids', blockSize: 3, prefetchAt: 1 }),
    invoices: new GaplessSequence(shop, { name: 'invoices' }),
    records: shop.of(Invoice),
  };
};
