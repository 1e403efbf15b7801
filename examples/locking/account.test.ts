import { expect, test } from 'vitest';
import { testShop, twenty } from '../../test/support/recipe-shop.js';
import { Account, deposit, withdraw } from './account.js';

const db = testShop();

test('deposits and withdrawals at once lose nothing, and never overdraw', async () => {
  const accounts = db.shop.of(Account);
  await twenty(() => deposit(accounts, 'alice', 1000));
  const seen = await accounts.get({ id: 'alice' }).consistent().item();
  expect(seen?.balance).toBe(20_000);
  const withdrawn = await twenty(() => withdraw(accounts, seen!, 3000));
  expect(withdrawn.filter((account) => account !== undefined)).toHaveLength(6);
  expect((await accounts.get({ id: 'alice' }).consistent().item())?.balance).toBe(2000);
});
