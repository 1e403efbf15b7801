import { expectTypeOf, test } from 'vitest';
import {
  entity,
  integer,
  string,
  transactGet,
  type Found,
  type NotFound,
  type Table,
} from '../../lib/commands/index.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer() },
});
type Account = (typeof Account)['~item'];
declare const shop: Table;
const accounts = shop.of(Account);

test('each read is typed by its name', async () => {
  const result = await transactGet(shop, {
    whole: accounts.get({ id: 'a' }),
    part: accounts.get({ id: 'b' }).project('balance'),
  }).send();
  expectTypeOf(result.whole).toEqualTypeOf<Found<Account> | NotFound>();
  if (result.part.found) expectTypeOf(result.part.item).toEqualTypeOf<Pick<Account, 'balance'>>();
  // @ts-expect-error -- not asked for
  void result.consumedCapacity;
  // @ts-expect-error -- no such read
  void result.other;
  const { consumedCapacity } = await transactGet(shop, { a: accounts.get({ id: 'a' }) })
    .returnCapacity()
    .send();
  expectTypeOf(consumedCapacity[0]?.CapacityUnits).toEqualTypeOf<number | undefined>();
});

test('what is no get of items is refused', () => {
  // @ts-expect-error -- a selected value is no item
  transactGet(shop, { a: accounts.get({ id: 'a' }).select(Account.attrs.balance) });
  // @ts-expect-error -- a write
  transactGet(shop, { a: accounts.put({ id: 'a', balance: 1 }) });
  // @ts-expect-error -- the result's own member
  transactGet(shop, { consumedCapacity: accounts.get({ id: 'a' }) });
  // @ts-expect-error -- a read is sent by its terminal only
  void transactGet(shop, { a: accounts.get({ id: 'a' }) }).then;
});
