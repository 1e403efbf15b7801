import { expectTypeOf, test } from 'vitest';
import { batchGet, entity, integer, string, type Table } from '../../lib/commands/index.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer() },
});
const Limit = entity('LIMIT', { pk: 'LIMIT#{id}', sk: 'LIMIT', attributes: { id: string(), daily: integer() } });
type Account = (typeof Account)['~item'];
type Limit = (typeof Limit)['~item'];
declare const shop: Table;
const accounts = shop.of(Account);
const limits = shop.of(Limit);

test('a get answers its item, an array of them theirs', async () => {
  const { items, requests } = await batchGet(shop, {
    one: accounts.get({ id: 'a' }),
    many: ['a', 'b'].map((id) => limits.get({ id }).project('daily')),
    both: [accounts.get({ id: 'a' }), limits.get({ id: 'a' })],
  }).send();
  expectTypeOf(items.one).toEqualTypeOf<Account | undefined>();
  expectTypeOf(items.many).items.toEqualTypeOf<Pick<Limit, 'daily'> | undefined>();
  expectTypeOf(items.both[0]).toEqualTypeOf<Account | undefined>();
  expectTypeOf(items.both[1]).toEqualTypeOf<Limit | undefined>();
  expectTypeOf(requests).toEqualTypeOf<number>();
});

test('what stays is in the type of trySend only', async () => {
  const reads = { one: accounts.get({ id: 'a' }), many: [limits.get({ id: 'b' })] };
  const result = await batchGet(shop, reads).returnCapacity().trySend();
  expectTypeOf(result.consumedCapacity[0]?.CapacityUnits).toEqualTypeOf<number | undefined>();
  if (!result.complete) {
    expectTypeOf(result.unprocessed[0]?.name).toEqualTypeOf<'one' | 'many' | undefined>();
    expectTypeOf(result.items.one).toEqualTypeOf<Account | undefined>();
  }
  // @ts-expect-error -- of an incomplete one only
  void result.unprocessed;
  // @ts-expect-error -- send throws where keys stay
  void (await batchGet(shop, reads).send()).unprocessed;
});

test('what is no get of items is refused', () => {
  // @ts-expect-error -- a selected value is no item
  batchGet(shop, { a: accounts.get({ id: 'a' }).select(Account.attrs.balance) });
  // @ts-expect-error -- a write
  batchGet(shop, { a: [accounts.put({ id: 'a', balance: 1 })] });
  // @ts-expect-error -- a read is sent by its terminal only
  void batchGet(shop, { a: accounts.get({ id: 'a' }) }).then;
});
