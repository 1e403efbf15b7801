import { setTimeout as wait } from 'node:timers/promises';
import { entity, integer, retryOnConflict, string, stringSet, transactWrite } from '../../../lib/commands/index.js';
import { Locks, isHeld, lockEntity, type Held, type Lock } from '../../../lib/recipes/index.js';
import { makeShop, must, shopOf, workload } from '../workload.js';

const Page = entity('PAGE', {
  pk: 'PAGE#{path}',
  sk: 'PAGE',
  attributes: { path: string(), count: integer(), done: stringSet() },
});

interface Work {
  readonly id: string;
  /** Milliseconds between reading and writing. */
  readonly pauseMs: number;
  readonly renews: boolean;
  /** Whether it keeps the lock alive meanwhile; one that does not still releases it at its end. */
  readonly keeps: boolean;
}

/**
 * A lock never has two holders that both pass `isHeld`, its token only grows, its item stays, and no holder counts on it
 * for longer than the table says.
 */
export const locks = workload<Work, ReturnType<typeof appOf>>('locks', { skewMs: 1_000, leapMs: 10_000 }, () => {
  const asked = new Set<string>();
  const answered = new Set<string>();
  const tokens = new Set<number>();
  let last = 0;
  let holder: Lock | undefined;
  let outside: ReturnType<typeof shopOf>;
  return {
    async prepare(world) {
      await makeShop(world);
      outside = shopOf(world.clientConfig);
    },
    plan: (random) =>
      Array.from({ length: random.integer(2, 3) }, (_, client) =>
        Array.from({ length: random.integer(1, 2) }, (_, i) => ({
          id: `w${client}${i}`,
          pauseMs: random.pick([0, 10, 3_000, 9_000]),
          keeps: random.chance(0.6),
          renews: random.chance(0.3),
        })),
      ),
    start: ({ clientConfig }) => appOf(clientConfig),
    async run({ shop, locks }, work, { attempt, invariant }) {
      if (attempt > 1) return;
      asked.add(work.id);
      const under = async ({ lock, signal }: Held): Promise<void> => {
        invariant(!tokens.has(lock.token), `Two holders have the token ${lock.token}.`);
        tokens.add(lock.token);
        // One that was told so late that its lease has ended holds nothing, and `isHeld` stops it.
        const holds = lock.leftMs > 0;
        invariant(!holds || holder === undefined || holder.leftMs === 0, 'Two holders have the lock at a time.');
        if (holds) holder = lock;
        last = Math.max(last, lock.token);
        const look = async (): Promise<void> => {
          const item = await outside.of(lockEntity()).get({ name: 'page' }).consistent().item();
          const isOwn = item?.token === lock.token && item.owner === lock.owner;
          // By the holder's own clock, by which it asked.
          const left = isOwn ? (item.heldUntil?.getTime() ?? 0) - Date.now() : 0;
          // Instants are stored in whole milliseconds.
          invariant(lock.leftMs < Math.max(0, left) + 1, `${work.id} counts on ${lock.leftMs} ms, and has ${left}.`);
        };
        try {
          await section(shop, work, { lock, signal }, look);
          answered.add(work.id);
        } finally {
          // What it released may be another's before it hears of it.
          if (holder === lock) holder = undefined;
        }
      };
      if (work.keeps) return locks.withLock('page', under, { waitMs: 20_000 });
      const lock = await locks.acquire('page', { waitMs: 20_000 });
      await under({ lock, signal: new AbortController().signal }).catch(() => undefined);
      await lock.release();
    },
    async check({ clientConfig }) {
      const shop = shopOf(clientConfig);
      const { count, done } = (await shop.of(Page).get({ path: '/' }).item()) ?? { count: 0, done: new Set<string>() };
      must(count === done.size, `${done.size} holders wrote, and the count is ${count}.`);
      for (const id of answered) must(done.has(id), `The write of ${id} was answered, and is lost.`);
      for (const id of done) must(asked.has(id), `${id} wrote, and was not asked to.`);
      const item = await shop.of(lockEntity()).get({ name: 'page' }).item();
      must((item?.token ?? 0) >= last, `The token is ${item?.token}, after ${last}.`);
      must((item?.token ?? 0) >= tokens.size, 'The token did not grow with each holder.');
    },
  };
});

/** How often a holder's time is compared with the table's. */
const lookMs = 1_500;

const section = async (
  shop: ReturnType<typeof shopOf>,
  { id, pauseMs, renews }: Work,
  { lock, signal }: Held,
  look: () => Promise<void>,
): Promise<void> => {
  const pages = shop.of(Page);
  const page = await pages.get({ path: '/' }).consistent().item({ signal });
  // It goes on whatever the signal says, as code that is busy does.
  for (let left = pauseMs; left >= 0; left -= lookMs) {
    await look();
    if (left > 0) await wait(Math.min(left, lookMs));
  }
  if (renews) await lock.renew().catch(() => undefined);
  await look();
  const write = () =>
    transactWrite(shop, {
      held: isHeld(lock),
      page: pages
        .update({ path: '/' })
        .set({ count: (page?.count ?? 0) + 1 })
        .add(Page.attrs.done, [id]),
    }).send();
  await retryOnConflict(write, { on: 'transactionConflict' });
};

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return { shop, locks: new Locks(shop, { leaseMs: 5_000, skewMs: 2_000, pollMs: 2_000 }) };
};
