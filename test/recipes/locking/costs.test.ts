import { expect, test } from 'vitest';
import { entity, integer, string, version } from '../../../lib/commands/index.js';
import { readModifyWrite } from '../../../lib/recipes/locking/read-modify-write.js';
import { embedded } from '../../support/dynamodb.js';
import { fresh, testShop } from '../../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), text: string(), revision: version() },
});
const db = testShop();

test.runIf(embedded)('a run costs twice the write units of its item, also where it loses', async () => {
  const accounts = db.shop.of(Account);
  const id = fresh();
  await accounts.put({ id, balance: 0, text: 'x'.repeat(1500) });
  const first = await accounts.get({ id }).item();
  db.writeUnits();
  const deposit = (account: NonNullable<typeof first>) => ({ ...account, balance: account.balance + 1 });
  await readModifyWrite(accounts, { id }, deposit);
  expect(db.writeUnits()).toEqual([0, 4]);
  await readModifyWrite(accounts, { id }, deposit, { first });
  expect(db.writeUnits()).toEqual([4, 0, 4]);
  await readModifyWrite(accounts, { id }, deposit, { first, repeatable: true });
  expect(db.writeUnits()).toEqual([2, 0, 2]);
});
