import {
  retryOnConflict,
  entity,
  integer,
  string,
  stringSet,
  transactWrite,
  version,
} from '../../../lib/commands/index.js';
import { readModifyUpdate, readModifyWrite } from '../../../lib/recipes/index.js';
import { makeShop, must, shopOf, workload } from '../workload.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), tags: stringSet(), revision: version() },
});

interface Change {
  readonly kind: 'write' | 'update' | 'put' | 'tag' | 'add';
  readonly account: string;
  /** A power of four, so that the balance tells how often each change was applied. */
  readonly amount: number;
}

/** Balances under optimistic locking: each change once, though its answer is lost, and none undone by another. */
export const balances = workload<Change, ReturnType<typeof appOf>>(
  'balances',
  { faults: { late: 0.15, conflict: 0.15 } },
  () => {
    const done = new Map<Change, 'answered' | 'unknown'>();
    return {
      async prepare(world) {
        await makeShop(world);
        for (const id of ['a', 'b']) await accountsOf(world.clientConfig).put({ id, balance: 0, tags: new Set() });
      },
      plan(random) {
        let power = 0;
        return Array.from({ length: random.integer(2, 4) }, () =>
          Array.from({ length: random.integer(1, 3) }, () => ({
            kind: random.pick(['write', 'write', 'update', 'put', 'tag', 'add', 'add']),
            account: random.pick(['a', 'a', 'b']),
            amount: 4 ** power++,
          })),
        );
      },
      start: ({ clientConfig }) => appOf(clientConfig),
      async run({ shop, accounts }, change, { attempt }) {
        // Whoever does not know whether it was applied, and has no key to ask by, leaves it.
        if (attempt > 1) return;
        done.set(change, 'unknown');
        const { kind, amount } = change;
        const key = { id: change.account };
        if (kind === 'write')
          await readModifyWrite(accounts, key, (account) => ({ ...account, balance: account.balance + amount }));
        else if (kind === 'update')
          await readModifyUpdate(accounts, key, ({ balance }, update) => update.set({ balance: balance + amount }));
        else if (kind === 'put') {
          await retryOnConflict(async () => {
            const account = await accounts.get(key).consistent().item();
            if (account !== undefined)
              await accounts.put({ ...account, tags: new Set([...account.tags, String(amount)]) });
          });
        } else if (kind === 'add') {
          // No condition stops it, so its token alone keeps it from being applied twice.
          const account = () => accounts.update(key).ignoreVersion().add(Account.attrs.balance, amount);
          await retryOnConflict(() => transactWrite(shop, { account: account() }).send());
        } else
          await accounts
            .update(key)
            .ignoreVersion()
            .add(Account.attrs.tags, [String(amount)]);
        done.set(change, 'answered');
      },
      async settle({ accounts }) {
        // A copy that was read long ago serves one run, and is read again for the next.
        const first = { id: 'a', balance: 0, tags: new Set<string>(), revision: 0 };
        await readModifyWrite(accounts, { id: 'a' }, (account) => account, { first });
      },
      async check({ clientConfig }) {
        const changes = [...done];
        for (const id of ['a', 'b']) {
          const account = await accountsOf(clientConfig).get({ id }).item();
          const { balance, tags } = account ?? { balance: 0, tags: new Set<string>() };
          let known = 0;
          for (const [{ kind, account, amount }, outcome] of changes) {
            if (account !== id) continue;
            const tagged = kind === 'tag' || kind === 'put';
            const times = tagged ? Number(tags.has(String(amount))) : Math.floor(balance / amount) % 4;
            known += tagged ? 0 : times * amount;
            must(times <= 1, `The change by ${amount} of ${id} is applied ${times} times.`);
            must(times === 1 || outcome === 'unknown', `The change by ${amount} of ${id} was answered, and is lost.`);
          }
          must(known === balance, `The balance of ${id} is ${balance}, which no changes give.`);
        }
      },
    };
  },
);

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return { shop, accounts: shop.of(Account) };
};

const accountsOf = (clientConfig: Parameters<typeof shopOf>[0]) => appOf(clientConfig).accounts;
