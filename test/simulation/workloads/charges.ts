import { Charge } from '../../../lambdas/charge/charge.js';
import { chargeHandler } from '../../../lambdas/charge/charge-handler.js';
import { Customer } from '../../../lambdas/charge/customer.js';
import { scan } from '../../../lib/commands/index.js';
import type { HttpResult } from '../../../lib/http/index.js';
import { IdempotencyRecord, OutboxItem } from '../../../lib/recipes/index.js';
import { httpEvent } from '../../http/http-event.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

type Call =
  | { readonly key: string; readonly amount: number; readonly readFirst: boolean }
  | { readonly customer: string; readonly blocked: boolean };

const day = 86_400_000;

/** The charge endpoint: no charge twice, every answered one stored, every repeat gets the first answer. */
export const charges = workload<Call, ReturnType<typeof appOf>>('charges', { leapMs: 600_000, skewMs: 1_000 }, () => {
  const answers = new Map<string, HttpResult[]>();
  const amounts = new Map<string, Set<number>>();
  /** When a key was first used: its record is kept for a day. */
  const used = new Map<string, number>();
  return {
    prepare: makeShop,
    plan(random) {
      const keys = ['k1', 'k2', 'k3'].slice(0, random.integer(1, 3));
      const amountOf = new Map(keys.map((key) => [key, random.integer(1, 1000)]));
      return Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(1, 4) }, (): Call => {
          if (random.chance(0.25)) return { customer: 'alice', blocked: random.chance(0.6) };
          const key = random.pick(keys);
          // Now and then the key of another request, which is refused.
          const amount = (amountOf.get(key) as number) + (random.chance(0.1) ? 1 : 0);
          return { key, amount, readFirst: random.chance(0.3) };
        }),
      );
    },
    start: ({ clientConfig }) => appOf(clientConfig),
    async run(app, call, { invariant }) {
      if ('customer' in call) return void (await app.customers.put({ id: call.customer, blocked: call.blocked }));
      const { key, amount, readFirst } = call;
      amounts.set(key, (amounts.get(key) ?? new Set()).add(amount));
      used.set(key, used.get(key) ?? Date.now());
      const body = { customerId: 'alice', amount, currency: 'CHF' };
      const result = await (readFirst ? app.readFirst : app.handler)(httpEvent({ key, body }));
      if (result.statusCode === 201) {
        const answered = JSON.parse(result.body ?? '') as { amount: number };
        invariant(answered.amount === amount, `A call of ${key} got the answer to another request.`);
      }
      if (result.statusCode === 201 || result.statusCode === 403) {
        const kept = Date.now() - (used.get(key) as number) < day - 60_000;
        const [first] = answers.get(key) ?? [];
        if (kept) {
          invariant(first === undefined || first.body === result.body, `A repeat of ${key} got another answer.`);
          answers.set(key, [...(answers.get(key) ?? []), result]);
        }
      } else invariant([409, 422, 503, 500].includes(result.statusCode), `Status ${result.statusCode}`);
      return result.statusCode;
    },
    async check(world) {
      const { clientConfig } = world;
      const shop = shopOf(clientConfig);
      const stored = await allOf(scan(shop.of(Charge)).items());
      const events = await allOf(scan(shop.of(OutboxItem)).items());
      const records = await allOf(scan(shop.of(IdempotencyRecord)).items());
      must(stored.length <= amounts.size, `${stored.length} charges of ${amounts.size} keys.`);
      must(events.length === stored.length, `${events.length} events of ${stored.length} charges.`);
      must(records.length >= stored.length, 'A charge has no record.');
      for (const [key, [first]] of answers) {
        if (first?.statusCode !== 201) continue;
        const { chargeId, amount } = JSON.parse(first.body ?? '') as { chargeId: string; amount: number };
        const charge = stored.find(({ id }) => id === chargeId);
        must(charge?.amount === amount, `The answered charge of ${key} is not stored.`);
        must(amounts.get(key)?.has(amount) === true, `The charge of ${key} has an amount that nobody asked for.`);
      }
      for (const { id } of stored) {
        must(
          events.some(({ aggregate }) => aggregate === `charge:${id}`),
          'A charge has no event.',
        );
      }
      // What has expired counts no more, whether it is deleted or not.
      await shop.of(Customer).put({ id: 'alice', blocked: false });
      world.advance(2 * day);
      const body = { customerId: 'alice', amount: 7, currency: 'CHF' };
      const { handler, readFirst } = appOf(clientConfig);
      for (const [key, send] of [
        ['k1', handler],
        ['k2', readFirst],
      ] as const) {
        const { statusCode, headers } = await send(httpEvent({ key, body }));
        must(
          statusCode === 201 && headers['idempotent-replayed'] === undefined,
          `After its time, ${key} is still in use.`,
        );
        // Until its time is over, it is a repeat.
        world.advance(day - 5_000);
        must((await send(httpEvent({ key, body }))).headers['idempotent-replayed'] === 'true', `${key} is no repeat.`);
      }
      world.advance(2 * day);
      await world.sweep();
      must((await allOf(scan(shop.of(IdempotencyRecord)).items())).length === 0, 'A record stays for good.');
    },
  };
});

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  const options = { log: () => undefined };
  return {
    handler: chargeHandler(shop, options),
    readFirst: chargeHandler(shop, { ...options, readFirst: true }),
    customers: shop.of(Customer),
  };
};
