import { entity, integer, string, version, type Item, type VersionedEntityTable } from '../../lib/commands/index.js';
import { readModifyWrite } from '../../lib/recipes/locking/read-modify-write.js';

/** An account whose writes each hold only where nobody wrote since the read. The balance is in cents. */
export const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer().default(0), revision: version() },
});
export type Account = Item<typeof Account>;

type Accounts = VersionedEntityTable<typeof Account>;

/** Adds to the balance; the first deposit opens the account. */
export const deposit = (accounts: Accounts, id: string, cents: number): Promise<Account> =>
  readModifyWrite(accounts, { id }, (account) => ({ ...account, balance: account.balance + cents }), {
    missing: () => ({ id }),
    // Salaries arrive all at once: a caller waits for ten seconds rather than for five runs.
    within: 10_000,
  });

/** Takes from the balance, or gives undefined where it does not suffice. */
export const withdraw = async (accounts: Accounts, seen: Account, cents: number): Promise<Account | undefined> => {
  let suffices = true;
  const account = await readModifyWrite(
    accounts,
    { id: seen.id },
    (current) => {
      suffices = current.balance >= cents;
      return suffices ? { ...current, balance: current.balance - cents } : undefined;
    },
    // What the page showed serves the first run; a run that lost reads again.
    { first: seen, within: 10_000 },
  );
  return suffices ? account : undefined;
};
