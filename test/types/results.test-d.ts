import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { describe, expectTypeOf, test } from 'vitest';
import {
  entity,
  integer,
  retryOnConflict,
  string,
  transactWrite,
  version,
  type Committed,
  type EntityTable,
  type Item,
  type Page,
  type Selected,
  type Step,
  type Table,
  type Update,
} from '../../lib/commands/index.js';

const Order = entity('ORDER', {
  pk: 'C#{customer}',
  sk: 'O#{number:10}',
  attributes: { customer: string(), number: integer(), total: integer(), note: string().optional() },
});
type Order = Item<typeof Order>;
const Cart = entity('CART', { pk: 'CART#{id}', sk: 'CART', attributes: { id: string(), revision: version() } });
type Cart = Item<typeof Cart>;
declare const shop: Table;
const orders = shop.of(Order);
const carts = shop.of(Cart);
const key = { customer: 'a', number: 1 };
const put = () => orders.put({ ...key, total: 1 });
const update = () => orders.update(key);

describe('a write', () => {
  test('holds an item only where it was asked for', async () => {
    const plain = await put().send();
    expectTypeOf(plain.conditionMet).toEqualTypeOf<true>();
    // @ts-expect-error -- no item was asked for
    void plain.item;
    // @ts-expect-error -- nor capacity
    void plain.consumedCapacity;
    expectTypeOf((await put().returnOld().send()).item).toEqualTypeOf<Order | undefined>();
    expectTypeOf((await update().returnOld().send()).item).toEqualTypeOf<Order | undefined>();
    expectTypeOf((await update().returnNew().send()).item).toEqualTypeOf<Order>();
    expectTypeOf((await orders.delete(key).returnOld().send()).item).toEqualTypeOf<Order | undefined>();
    expectTypeOf((await put().returnCapacity().send()).consumedCapacity).toEqualTypeOf<ConsumedCapacity>();
    // @ts-expect-error -- returnOldOnFailure() gives nothing for a success
    void (await put().returnOldOnFailure().send()).item;
  });

  test('that may fail has to be asked which it was', async () => {
    const result = await update().returnNew().returnOldOnFailure().trySend();
    // Both sides have an item here, of different types.
    if (result.conditionMet) expectTypeOf(result.item).toEqualTypeOf<Order>();
    else expectTypeOf(result.item).toEqualTypeOf<Order | undefined>();
    const plain = await update().trySend();
    // @ts-expect-error -- neither asked for one
    void plain.item;
    const failure = await update().returnOldOnFailure().trySend();
    // @ts-expect-error -- a success has none
    void failure.item;
    if (!failure.conditionMet) expectTypeOf(failure.item).toEqualTypeOf<Order | undefined>();
  });

  test('says its version only where it knows one', async () => {
    expectTypeOf((await carts.put({ id: 'a' }).send()).version).toEqualTypeOf<number>();
    expectTypeOf((await carts.put({ id: 'a' }).ignoreVersion().send()).version).toEqualTypeOf<number>();
    expectTypeOf((await carts.update({ id: 'a' }).ifVersion(1).send()).version).toEqualTypeOf<number>();
    // @ts-expect-error -- it advanced a version that it did not read
    void (await carts.update({ id: 'a' }).ignoreVersion().send()).version;
    // @ts-expect-error -- a delete stores none
    void (await carts.delete({ id: 'a' }).ifVersion(1).send()).version;
    // @ts-expect-error -- nor does an entity without
    void (await put().send()).version;
    const tried = await carts.put({ id: 'a' }).trySend();
    // @ts-expect-error -- the condition may not have held
    void tried.version;
    if (tried.conditionMet) expectTypeOf(tried.version).toEqualTypeOf<number>();
  });

  test('may be awaited', async () => {
    expectTypeOf((await put()).conditionMet).toEqualTypeOf<true>();
    expectTypeOf((await carts.put({ id: 'a' })).version).toEqualTypeOf<number>();
    expectTypeOf(await update().add(Order.attrs.total, 1).return(Order.attrs.total)).toEqualTypeOf<number>();
    expectTypeOf(await update().return(Order.attrs.note)).toEqualTypeOf<string | undefined>();
  });
});

describe('a read', () => {
  test('gives the item, or undefined', async () => {
    expectTypeOf(await orders.get(key).item()).toEqualTypeOf<Order | undefined>();
    const result = await orders.get(key).send();
    if (result.found) expectTypeOf(result.item).toEqualTypeOf<Order>();
    else expectTypeOf(result.item).toEqualTypeOf<undefined>();
    // @ts-expect-error -- was not asked for
    void result.consumedCapacity;
    expectTypeOf((await orders.get(key).returnCapacity().send()).consumedCapacity).toEqualTypeOf<ConsumedCapacity>();
  });

  test('gives what it projects', async () => {
    expectTypeOf(await orders.get(key).project('total').item()).toEqualTypeOf<Pick<Order, 'total'> | undefined>();
    expectTypeOf(await orders.query({ customer: 'a' }).project('note').all()).toEqualTypeOf<Pick<Order, 'note'>[]>();
  });

  test('gives what it selects, once it is known to be there', async () => {
    const total = await orders.get(key).select(Order.attrs.total).send();
    expectTypeOf(total).toEqualTypeOf<Selected<number>>();
    if (total.found) expectTypeOf(total.value).toEqualTypeOf<number>();
    expectTypeOf(total.valueOr('none')).toEqualTypeOf<number | string>();
    expectTypeOf(total.valueOr(0)).toEqualTypeOf<number>();
    // Found, and yet without the attribute.
    expectTypeOf(await orders.get(key).select(Order.attrs.note).send()).toEqualTypeOf<Selected<string | undefined>>();
    expectTypeOf(await orders.query({ customer: 'a' }).select(Order.attrs.note).all()).toEqualTypeOf<
      (string | undefined)[]
    >();
  });

  test('gives pages, items and counts', async () => {
    const query = () => orders.query({ customer: 'a' });
    expectTypeOf(await query().page()).toExtend<Page<Order>>();
    expectTypeOf(query().items()).toEqualTypeOf<AsyncIterable<Order>>();
    expectTypeOf(await query().all()).toEqualTypeOf<Order[]>();
    expectTypeOf(await query().first()).toEqualTypeOf<Order | undefined>();
    expectTypeOf(await query().count()).toEqualTypeOf<number>();
    expectTypeOf((await query().returnCapacity().page()).consumedCapacity).toEqualTypeOf<ConsumedCapacity>();
  });
});

describe('a transaction', () => {
  test('holds an item of a failed step only where the step asked for it', async () => {
    const outcome = await transactWrite(shop, {
      asked: orders.unique({ ...key, total: 1 }).returnOldOnFailure(),
      plain: carts.put({ id: 'a' }),
      update: carts.update({ id: 'b' }).ifVersion(1).returnOldOnFailure(),
    }).trySend();
    if (outcome.committed) {
      expectTypeOf(outcome).toEqualTypeOf<Committed>();
      return;
    }
    expectTypeOf(outcome.failed.asked?.item).toEqualTypeOf<Order | undefined>();
    expectTypeOf(outcome.failed.update?.item).toEqualTypeOf<Cart | undefined>();
    // @ts-expect-error -- the step did not ask
    void outcome.failed.plain?.item;
  });
});

describe('a helper', () => {
  const countOrder = (table: EntityTable<typeof Order>) => table.update(key).add(Order.attrs.total, 1);

  test('returns a command that the caller finishes', async () => {
    expectTypeOf((await countOrder(orders).ifExists().returnNew().send()).item).toEqualTypeOf<Order>();
    expectTypeOf(countOrder(orders)).toExtend<Update<typeof Order, unknown, unknown>>();
    expectTypeOf(countOrder(orders)).toExtend<Step<unknown>>();
  });

  test('that is async gives the result of the command, not the command', async () => {
    const lost = async () => {
      await Promise.resolve();
      return countOrder(orders);
    };
    // @ts-expect-error -- it was sent when the helper returned
    void (await lost()).ifExists;
    expectTypeOf((await lost()).conditionMet).toEqualTypeOf<true>();
  });

  test('may be run by retryOnConflict()', async () => {
    expectTypeOf(await retryOnConflict(({ run }) => Promise.resolve(run))).toEqualTypeOf<number>();
    expectTypeOf(await retryOnConflict(() => put().trySend())).toExtend<{ conditionMet: boolean }>();
  });
});
