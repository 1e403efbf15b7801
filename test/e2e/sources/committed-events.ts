import { entity, integer, string, transactWrite, version, type Table } from '../../../lib/commands/index.js';
import { outbox } from '../../../lib/recipes/index.js';
import type { SeededRandom } from '../../../lib/local/simulation/random.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});

/** Events that were committed, by aggregate, in the order of their commits; and those that were not. */
export interface CommittedEvents {
  readonly committed: ReadonlyMap<string, readonly string[]>;
  readonly refused: ReadonlySet<string>;
}

/** Writers that race on accounts: each transaction changes one and publishes one to three events, and some are refused. */
export const commitEvents = async (
  shop: Table,
  random: SeededRandom,
  { aggregates = 30, writers = 6, transactions = 60 } = {},
): Promise<CommittedEvents> => {
  const accounts = shop.of(Account);
  const events = outbox(shop, { source: 'shop.accounts' });
  const bySequence = new Map<string, Map<number, string[]>>();
  const refused = new Set<string>();
  const write = async (writer: number, n: number): Promise<void> => {
    const id = `a${random.integer(1, aggregates)}`;
    const stale = random.chance(0.1);
    const found = await accounts.get({ id }).consistent().item();
    const revision = (found?.revision ?? 0) - (stale && found !== undefined ? 1 : 0);
    const names = Array.from({ length: random.integer(1, 3) }, (_, i) => `${writer}-${n}-${i}`);
    let isCommitted = false;
    try {
      const { committed } = await transactWrite(shop, {
        account: accounts.put({ id, balance: n, revision }),
        event: events.publish({
          aggregate: id,
          sequence: revision + 1,
          events: names.map((name) => ({ type: 'account.changed', detail: { name } })),
        }),
      }).trySend();
      isCommitted = committed;
    } catch (error) {
      // Another transaction holds the account: nothing was written.
      if ((error as Error).name !== 'TransactionCanceledException' && !/Conflict/.test(String(error))) throw error;
    }
    if (!isCommitted) {
      for (const name of names) refused.add(name);
      return;
    }
    const known = bySequence.get(id);
    if (known === undefined) bySequence.set(id, new Map([[revision + 1, names]]));
    else known.set(revision + 1, names);
  };
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; n < transactions; n++) await write(writer, n);
    }),
  );
  const committed = [...bySequence].map(([id, sequences]) => {
    const ordered = [...sequences].sort(([a], [b]) => a - b);
    return [id, ordered.flatMap(([, names]) => names)] as const;
  });
  return { committed: new Map(committed), refused };
};
