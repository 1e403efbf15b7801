import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { retryOnConflict } from '../../lib/commands/index.js';
import { messageId, messageHandler, type Session } from '../../lib/messaging/index.js';
import { deferred, messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account, Process, deposit, depositHandler, type Deposit } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
const fresh = (): string => `race${++names}x`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const balanceOf = async (id: string): Promise<number | undefined> =>
  (await here.shop.of(Account).get({ id }).consistent().item())?.balance;
const sagaOf = async (correlation: string) => here.shop.of(Process).get({ correlation }).consistent().item();

/** Delivers as a queue does: a delivery that throws comes again. */
const untilHandled = async (deliver: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    const error = await deliver().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (error === undefined) return;
    if ((error as Error).name !== 'TransactionCanceledException') throw error as Error;
  }
};

describe('deliveries at the same time', () => {
  it.each([false, true])('ten of one message have one effect (readFirst: %s)', async (readFirst) => {
    const account = fresh();
    const handler = depositHandler(here.shop, { consumer: account, readFirst });
    const message = { id: 'm1', account, amount: 5 };
    const results = await Promise.all(times(10, () => handler(message)));
    expect(results.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
    expect(await balanceOf(account)).toBe(5);
    expect(await sagaOf(account)).toMatchObject({ steps: 1, revision: 1 });
    const { inbox, outbox } = await here.stored(account);
    expect([inbox.length, outbox.length]).toEqual([1, 3]);
  });

  it('two messages that race for one saga each make their step, the loser from what the winner left', async () => {
    const account = fresh();
    const both = deferred();
    let arrived = 0;
    const attempts: [string, number, number][] = [];
    const handler = depositHandler(here.shop, {
      consumer: account,
      handle: async (message, session) => {
        const saga = await session.saga(Process, account);
        attempts.push([message.body.id, session.attempt, saga.state.steps]);
        // Both have read before either commits.
        if (session.attempt === 1 && ++arrived === 2) both.resolve();
        if (session.attempt === 1) await both.promise;
        saga.state.steps++;
        session.publish({ type: 'step', detail: {} }, { aggregate: account, sequence: saga.revision });
      },
    });
    const results = await Promise.all(['m1', 'm2'].map((id) => handler({ id, account, amount: 1 })));
    expect(results.map(({ attempts }) => attempts).sort()).toEqual([1, 2]);
    expect(attempts.slice(2).map(([, attempt, steps]) => [attempt, steps])).toEqual([[2, 1]]);
    expect(await sagaOf(account)).toMatchObject({ steps: 2, revision: 2 });
    const { outbox } = await here.stored(account);
    expect(outbox.map((item) => item['sequence']?.N).sort()).toEqual(['1', '2']);
  });

  it('a saga that always loses gives up after its attempts, and leaves nothing', async () => {
    const account = fresh();
    const handler = depositHandler(here.shop, {
      consumer: account,
      maxAttempts: 3,
      handle: async (_message, session) => {
        (await session.saga(Process, account)).state.steps++;
        await depositHandler(here.shop, { consumer: `${account}other` })({
          id: `other${session.attempt}`,
          account,
          amount: 1,
        });
      },
    });
    expect(await rejection(handler({ id: 'm1', account, amount: 1 }))).toMatchObject({
      name: 'TransactionCanceledException',
      failed: { 'saga PROCESS': { reason: 'ConditionalCheckFailed' } },
    });
    expect(await sagaOf(account)).toMatchObject({ steps: 3 });
  });

  it('any interleaving of deliveries, of any messages, any number of times, has each effect once', async () => {
    const accounts = fc.constantFrom('a', 'b');
    const message = fc.record({ id: fc.constantFrom('m1', 'm2', 'm3', 'm4'), account: accounts });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 2, maxLength: 9 }), fc.scheduler(), async (sent, scheduler) => {
        const run = fresh();
        // Every request waits until the scheduler lets it go, in an order of its own.
        const shop = here.through(async (_request, send) => {
          await scheduler.schedule(Promise.resolve());
          return send();
        });
        const handle = deposit(shop);
        // One id is one message, for one account.
        const accountOf = new Map(sent.map(({ id, account }) => [id, `${run}${account}`]));
        const deliveries = sent.map(({ id }): Deposit => ({ id, account: accountOf.get(id) as string, amount: 1 }));
        const handler = depositHandler(shop, { consumer: run, handle, maxAttempts: 3 });
        const all = Promise.all(deliveries.map((message) => untilHandled(() => handler(message))));
        await scheduler.waitFor(all);
        for (const account of new Set(accountOf.values())) {
          const of = [...accountOf.values()].filter((other) => other === account).length;
          expect(await balanceOf(account)).toBe(of);
          expect(await sagaOf(account)).toMatchObject({ steps: of, revision: of });
          const { outbox } = await here.stored(`${account}:account`);
          const sequences = outbox.map((item) => Number(item['sequence']?.N)).sort((a, b) => a - b);
          expect(sequences).toEqual(times(of, (i) => i + 1));
        }
        expect((await here.stored(`"${run}"`)).inbox).toHaveLength(accountOf.size);
      }),
      { numRuns: 40 },
    );
  }, 180_000);
});

describe('phantoms', () => {
  /** Takes a seat where fewer than two are taken, as a query counts them. */
  const booking = (guard: boolean, show: string, wait: (session: Session) => Promise<void>) =>
    messageHandler({
      table: here.shop,
      consumer: show,
      from: { messageOf: (id: string) => ({ id: messageId(id), body: id, header: () => undefined }) },
      handle: async ({ id }, session) => {
        const saga = guard ? await session.saga(Process, show) : undefined;
        const taken = (await here.stored(`${show}seat`)).others.length;
        await wait(session);
        if (taken >= 1) return session.publish({ type: 'seat.refused', detail: { show } });
        if (saga) saga.state.steps++;
        session.add(here.shop.of(Account).unique({ id: `${show}seat${id}`, balance: 1 }));
      },
    });
  const bookTwice = async (guard: boolean): Promise<number> => {
    const show = fresh();
    const both = deferred();
    let arrived = 0;
    const book = booking(guard, show, async ({ attempt }) => {
      if (attempt === 1 && ++arrived === 2) both.resolve();
      if (attempt === 1) await both.promise;
    });
    await Promise.all([retryOnConflict(() => book('m1')), retryOnConflict(() => book('m2'))]);
    return (await here.stored(`${show}seat`)).others.length;
  };

  it('are not kept out of what a handler queried: both of two messages find the seat free', async () => {
    expect(await bookTwice(false)).toBe(2);
  });

  it('are kept out where both commit a saga, or another versioned item, that stands for what was queried', async () => {
    expect(await bookTwice(true)).toBe(1);
  });
});
