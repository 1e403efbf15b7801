import { expectTypeOf, test } from 'vitest';
import {
  batchWrite,
  entity,
  integer,
  string,
  version,
  type BatchWritten,
  type Table,
} from '../../lib/commands/index.js';

const Order = entity('ORDER', { pk: 'ORDER#{id}', sk: 'ORDER', attributes: { id: string(), total: integer() } });
const Cart = entity('CART', { pk: 'CART#{id}', sk: 'CART', attributes: { id: string(), revision: version() } });
declare const shop: Table;
const orders = shop.of(Order);
const carts = shop.of(Cart);
const order = { id: 'a', total: 1 };
const cart = { id: 'a' };

test('a batch takes puts and deletes, of a versioned entity without its version', () => {
  const batch = batchWrite(shop, [
    orders.put(order),
    orders.delete({ id: 'b' }),
    carts.put(cart).ignoreVersion(),
    carts.delete(cart).ignoreVersion(),
  ]);
  expectTypeOf(batch.send()).resolves.toExtend<BatchWritten>();
  expectTypeOf(batch).toExtend<Promise<BatchWritten>>();
  expectTypeOf(batch.returnCapacity().trySend()).resolves.toHaveProperty('consumedCapacity');
  expectTypeOf(batch.trySend()).resolves.not.toHaveProperty('consumedCapacity');
});

test('what can stand in no batch is refused', () => {
  // @ts-expect-error -- a condition
  void batchWrite(shop, [orders.put(order).ifNotExists()]);
  // @ts-expect-error -- a condition
  void batchWrite(shop, [orders.unique(order)]);
  // @ts-expect-error -- a condition
  void batchWrite(shop, [orders.delete({ id: 'b' }).if(Order.attrs.total.gt(1))]);
  // @ts-expect-error -- an update
  void batchWrite(shop, [orders.update({ id: 'a' }).set({ total: 2 })]);
  // @ts-expect-error -- the check of a version is a condition (DYNA236)
  void batchWrite(shop, [carts.put(cart)]);
  // @ts-expect-error -- no decision about the version
  void batchWrite(shop, [carts.delete(cart)]);
  // @ts-expect-error -- the check of a version is a condition
  void batchWrite(shop, [carts.delete(cart).ifVersion(1)]);
  // @ts-expect-error -- a read
  void batchWrite(shop, [orders.get({ id: 'a' })]);
});

test('what stays is in the type of trySend only', async () => {
  const result = await batchWrite(shop, [orders.put(order)]).trySend();
  if (!result.complete) expectTypeOf(result.unprocessed).toEqualTypeOf<readonly number[]>();
  expectTypeOf(result.written).toEqualTypeOf<number>();
  // @ts-expect-error -- send throws where writes stay
  void (await batchWrite(shop, [orders.put(order)])).unprocessed;
});
