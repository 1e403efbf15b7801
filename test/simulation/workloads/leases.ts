import { setTimeout as wait } from 'node:timers/promises';
import { entity, integer, scan, string } from '../../../lib/commands/index.js';
import type { SimulatedWorld } from '../../../lib/local/index.js';
import {
  IdempotencyRecord,
  commit,
  findUnknown,
  fingerprintOf,
  idempotentLease,
  refuse,
  resolveUnknown,
  type Lease,
} from '../../../lib/recipes/index.js';
import { BrokenError, allOf, makeShop, must, shopOf, workload } from '../workload.js';

const Paid = entity('PAID', {
  pk: 'PAID#{payment}',
  sk: 'PAID',
  attributes: { payment: string(), times: integer() },
});

/** What is the same in all calls of a payment. */
interface Payment {
  readonly id: string;
  /** How long the provider knows a key, in seconds. */
  readonly keySeconds: number;
  readonly ends: 'steps' | 'answer' | 'refusal';
  /** Whether its callers' clocks are right. */
  readonly clocks: 'right' | 'wrong';
}

interface Call extends Payment {
  readonly kind: 'call';
  readonly amount: number;
  readonly readFirst: boolean;
  readonly keeps: boolean;
  /** By how much its clock is wrong, in milliseconds. */
  readonly clock: number;
  /** Milliseconds before the charge, and between it and its answer. */
  readonly before: number;
  readonly after: number;
  /** What the provider answers. */
  readonly provider: 'charges' | 'refuses' | 'fails';
}

/** An operator, who asks the provider about what is unknown. */
interface Decide {
  readonly kind: 'decide';
  readonly id: string;
}

const day = 86_400_000;
const leaseSeconds = 30;
/** Of a provider that forgets keys, in seconds. */
const forgetful = 120;
const identityOf = (id: string) => ({ scope: 'tenant', route: 'pay', key: id });
/** By how much a provider knows a key longer than its callers count on, where their clocks are wrong. */
const marginMs = 200_000;

/** The provider has done nothing. */
class Refused extends Error {}

/** Effects under a lease: a provider is charged once per key, and each call gets the one answer that is stored. */
export const leases = workload<Call | Decide, ReturnType<typeof shopOf>>('leases', { leapMs: 7_200_000 }, () => {
  const charges: { readonly id: string; readonly payment: string; readonly key: string; readonly at: number }[] = [];
  const asked = new Map<string, Call>();
  const answers = new Map<string, string>();
  /** The calls that had a lease, by its token, of each payment. */
  const holders = new Map<string, Map<number, object>>();
  /** The leases under which the provider is asked, or was when the process died; and when they end. */
  const asking = new Set<{ readonly payment: string; readonly until: number }>();
  let outside: SimulatedWorld;

  const charge = ({ id: payment, keySeconds, clocks }: Payment, key: string): string => {
    const lasts = keySeconds === 0 ? 0 : keySeconds * 1000 + (clocks === 'wrong' ? marginMs : 0);
    const known = charges.find((other) => other.key === key && outside.now() < other.at + lasts);
    if (known !== undefined) return known.id;
    const id = `charge-${charges.length + 1}`;
    charges.push({ id, payment, key, at: outside.now() });
    return id;
  };
  const chargesOf = (payment: string): readonly { readonly id: string }[] =>
    charges.filter((other) => other.payment === payment);

  /** One call, with what must hold while it runs. */
  const pay = async (
    shop: ReturnType<typeof shopOf>,
    call: Call,
    invariant: (holds: boolean, message: string) => void,
  ) => {
    const { id, amount, keySeconds, ends, clocks } = call;
    const own = {};
    const tokens = holders.get(id) ?? new Map<number, object>();
    holders.set(id, tokens);
    let token = 0;
    let toldAt = 0;
    const result = await idempotentLease(shop, {
      ...identityOf(id),
      fingerprint: fingerprintOf(1, [String(amount)]),
      horizonSeconds: (7 * day) / 1000,
      leaseSeconds,
      readFirst: call.readFirst,
      afterError: call.keeps ? 'keep' : 'release',
      now: () => (toldAt = Date.now() + call.clock),
      async run(lease) {
        ({ token } = lease);
        // Its token is the time at which it was asked for, unless another one had a later time: by a wrong clock.
        const leasedAt = token;
        invariant((tokens.get(token) ?? own) === own, `Two calls of ${id} have the token ${token}.`);
        tokens.set(token, own);
        const terms = { keySeconds, notDone: (error: unknown) => error instanceof Refused };
        const chargeId = await lease.effect('charge', terms, async ({ providerKey, signal }) => {
          const began = outside.now();
          const others = [...asking].filter((other) => other.payment === id && began < other.until);
          invariant(clocks === 'wrong' || others.length === 0, `Two calls of ${id} have the lease at a time.`);
          // The mark of an effect without a key starts the lease anew.
          const me = { payment: id, until: (keySeconds === 0 ? toldAt : leasedAt) + leaseSeconds * 1000 };
          asking.add(me);
          const isTold = (): boolean => clocks === 'wrong' || outside.now() <= me.until || signal.aborted;
          try {
            await wait(call.before);
            invariant(isTold(), `A call of ${id} was not told that its lease had ended.`);
            // A request that was on its way for longer than the lease is none that a provider still gets.
            if (outside.now() > began + leaseSeconds * 1000 && keySeconds === forgetful)
              throw new Error('no connection');
            if (call.provider === 'refuses') throw new Refused('refused');
            const done = charge(call, providerKey);
            invariant(chargesOf(id).length === 1, `${id} was charged ${chargesOf(id).length} times.`);
            await wait(call.after);
            if (call.provider === 'fails') throw new Error('no answer of the provider');
            return done;
          } finally {
            asking.delete(me);
          }
        });
        const answer = { status: 201, body: `${chargeId} of lease ${token}` };
        if (ends === 'refusal') return refuse(answer);
        if (ends === 'answer') return answer;
        return commit({ paid: shop.of(Paid).update({ payment: id }).add(Paid.attrs.times, 1) }, answer);
      },
    });
    if (result.answer !== undefined) {
      const body = result.answer.body ?? '';
      invariant((answers.get(id) ?? body) === body, `A call of ${id} got another answer.`);
      answers.set(id, body);
    }
    if (result.outcome === 'committed' || (result.outcome === 'refused' && result.leaseLost !== true)) {
      // Of two that began in turn: where time to live removed the record between them, the second one's may be less.
      const all = [...tokens.keys()];
      const later = all.slice(all.indexOf(token) + 1).find((other) => other > token);
      invariant(later === undefined, `A call of ${id} stored its answer, though another one had taken over.`);
    }
    if (result.outcome === 'unknown') {
      invariant(keySeconds !== Infinity, `The charge of ${id} is unknown to the kit, and not to its provider.`);
    }
    return result;
  };

  return {
    async prepare(world) {
      outside = world;
      await makeShop(world);
    },
    plan(random) {
      const payments = ['p1', 'p2'].slice(0, random.integer(1, 2)).map((id): Payment => ({
        id,
        keySeconds: random.pick([Infinity, forgetful, 0]),
        ends: random.pick(['steps', 'steps', 'answer', 'refusal']),
        clocks: random.pick(['right', 'right', 'wrong']),
      }));
      return Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(1, 3) }, (): Call | Decide => {
          const payment = random.pick(payments);
          if (random.chance(0.1)) return { kind: 'decide', id: payment.id };
          return {
            ...payment,
            kind: 'call',
            // Now and then the key of another request, which is refused.
            amount: random.chance(0.1) ? 8 : 7,
            readFirst: random.chance(0.3),
            keeps: random.chance(0.3),
            clock: payment.clocks === 'right' ? 0 : random.pick([0, 45_000, -45_000]),
            before: random.pick([0, 10, 20_000, 40_000]),
            after: random.pick([0, 10, 20_000, 40_000]),
            provider: random.pick(['charges', 'charges', 'charges', 'refuses', 'fails']),
          };
        }),
      );
    },
    start: ({ clientConfig }) => shopOf(clientConfig),
    async run(shop, op, { invariant }) {
      if (op.kind === 'decide') {
        const unknown = await findUnknown(shop, identityOf(op.id));
        const [done] = chargesOf(op.id);
        if (unknown === undefined || done === undefined) return undefined;
        return resolveUnknown(shop, identityOf(op.id), unknown, { done: done.id });
      }
      if (!asked.has(op.id)) asked.set(op.id, op);
      const { outcome, replayed } = await pay(shop, op, invariant);
      return replayed ? `${outcome}, replayed` : outcome;
    },
    async settle(shop, world) {
      for (const call of asked.values()) {
        // Every lease has ended, by the clock that is most behind; what is known of a key is not forgotten.
        world.advance(leaseSeconds * 1000 + 100_000);
        const last = { ...call, before: 0, after: 0, clock: 0, provider: 'charges' as const };
        const again = async (amount = last.amount, times = 1): ReturnType<typeof pay> => {
          try {
            const result = await pay(shop, { ...last, amount }, must);
            return result.outcome === 'mismatch' && amount === last.amount ? await again(15 - amount) : result;
          } catch (error) {
            if (error instanceof BrokenError || times === 5) throw error;
            // Also without faults an answer may take longer than the call waits for it.
            world.advance(leaseSeconds * 1000);
            return again(amount, times + 1);
          }
        };
        let result = await again();
        must(result.outcome !== 'inProgress', `The lease of ${call.id} has ended, and nobody can take it over.`);
        if (result.outcome === 'unknown') {
          const [done] = chargesOf(call.id);
          const decision = done === undefined ? 'retry' : { done: done.id };
          const decided = await resolveUnknown(shop, identityOf(call.id), result.unknown, decision);
          must(decided === 'resolved', `What became of ${call.id} could not be decided.`);
          result = await again();
        }
        must(result.answer !== undefined, `The call of ${call.id} ends with ${result.outcome}.`);
        must((await again()).outcome === 'replayed', `A repeat of ${call.id} is none.`);
      }
    },
    async check(world) {
      const shop = shopOf(world.clientConfig);
      const records = await allOf(scan(shop.of(IdempotencyRecord)).items());
      must(records.length === asked.size, `${asked.size} payments have ${records.length} records.`);
      for (const { id, ends } of asked.values()) {
        const own = chargesOf(id);
        must(own.length === 1, `${id} was charged ${own.length} times.`);
        must(answers.get(id)?.startsWith(`${own[0]?.id} `) === true, `The answer of ${id} has another charge.`);
        const times = (await shop.of(Paid).get({ payment: id }).item())?.times ?? 0;
        must(times === Number(ends === 'steps'), `The steps of ${id} were written ${times} times.`);
      }
      for (const { body, token } of records) {
        must([...answers.values()].includes(body ?? ''), 'A record has an answer that nobody got.');
        must(
          [...holders.values()].some((tokens) => tokens.has(token ?? 0)),
          'A record has a token that nobody had.',
        );
      }
      // After its time a key is free, whether its record is deleted or not, and the token still grows.
      world.advance(8 * day);
      const call = { leaseSeconds, fingerprint: fingerprintOf(1, ['later']), horizonSeconds: day / 1000 };
      for (const id of asked.keys()) {
        let token = 0;
        const run = (lease: Lease) => {
          ({ token } = lease);
          return { body: 'later' };
        };
        const { outcome } = await idempotentLease(shop, { ...identityOf(id), ...call, run });
        must(outcome === 'committed', `After its time, ${id} is still in use.`);
        must(token > Math.max(...(holders.get(id)?.keys() ?? [])), `The token of ${id} does not grow.`);
      }
      world.advance(day - 60_000);
      for (const id of asked.keys()) {
        const run = () => ({ body: 'again' });
        const { outcome } = await idempotentLease(shop, { ...identityOf(id), ...call, run });
        must(outcome === 'replayed', `Before its time, ${id} is free.`);
      }
      world.advance(2 * day);
      await world.sweep();
      must((await allOf(scan(shop.of(IdempotencyRecord)).items())).length === 0, 'A record stays for good.');
    },
  };
});
