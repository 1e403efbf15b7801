import { afterAll, beforeAll, expect, it } from 'vitest';
import { entity, integer, retryOnConflict, string, transactWrite, version } from '../../../lib/commands/index.js';
import {
  OutboxItem,
  drainAll,
  outbox,
  publishEach,
  type Outbox,
  type RelayedEvent,
} from '../../../lib/recipes/index.js';
import { recipeShop, twenty, type RecipeShop } from '../../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const accounts = 4;

/** Adds to an account and tells of it, in one transaction; runs again where another writer was faster. */
const deposit = (events: Outbox, id: string, by: number): Promise<unknown> =>
  retryOnConflict(
    async () => {
      const table = events.table.of(Account);
      const { balance, revision } = (await table.get({ id }).consistent().item())!;
      await transactWrite(events.table, {
        account: table.put({ id, balance: balance + 1, revision }),
        event: events.publish({
          aggregate: id,
          sequence: revision + 1,
          events: [
            { type: 'deposited', detail: { by }, id: `${id}-${revision + 1}-a` },
            { type: 'told', detail: { by }, id: `${id}-${revision + 1}-b` },
          ],
        }),
      }).send();
    },
    { maxAttempts: 1000 },
  );

it('first arrivals are in order for 20 publishers and several relays at once; nothing is lost, nothing is left', async () => {
  let sent = 0;
  // Responses of publishers and relays are lost now and then; the write took effect.
  const shop = here.faulty(() => ++sent % 23 === 0);
  const events = outbox(shop, { source: 'shop.accounts', shards: 3 });
  for (let i = 0; i < accounts; i++) await here.shop.of(Account).put({ id: `a${i}`, balance: 0 });
  const arrived: RelayedEvent[] = [];
  let calls = 0;
  const publisher = publishEach(async (event) => {
    // A target that takes its time and is down now and then, before or after it took the event.
    await new Promise((resolve) => setTimeout(resolve, calls % 3));
    const fault = ++calls % 17;
    if (fault === 0) throw new Error('down');
    arrived.push(event);
    if (fault === 5) throw new Error('the response was lost');
  });

  let publishing = true;
  const relay = async (): Promise<void> => {
    while (publishing) await drainAll(events, publisher, { sends: 2, parkAfter: { attempts: 1000 } });
  };
  const relays = [relay(), relay(), relay()];
  await twenty(async (i) => {
    for (let n = 0; n < 3; n++) await deposit(events, `a${(i + n) % accounts}`, i);
  });
  publishing = false;
  await Promise.all(relays);
  const isEmpty = async (): Promise<boolean> => {
    for (let shard = 0; shard < 3; shard++) {
      const { items } = await here.shop.of(OutboxItem).query({ shard }).consistent().page();
      if (items.length > 0) return false;
    }
    return true;
  };
  // What failed in the last pass is left to the next one.
  for (let pass = 0; pass < 50 && !(await isEmpty()); pass++) {
    await Promise.all([drainAll(events, publisher, { sends: 2 }), drainAll(events, publisher, { sends: 2 })]);
  }
  expect(await isEmpty()).toBe(true);

  let all = 0;
  for (let i = 0; i < accounts; i++) {
    const id = `a${i}`;
    const revision = (await here.shop.of(Account).get({ id }).consistent().item())!.revision;
    const first = [...new Set(arrived.filter(({ aggregate }) => aggregate === id).map((event) => event.id))];
    const expected = Array.from({ length: revision - 1 }, (_, n) => [`${id}-${n + 2}-a`, `${id}-${n + 2}-b`]).flat();
    expect(first).toEqual(expected);
    all += first.length;
  }
  expect(all).toBeGreaterThanOrEqual(2 * 60);
});
