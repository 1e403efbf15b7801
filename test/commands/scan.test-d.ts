import { expectTypeOf, test } from 'vitest';
import { entity, integer, scan, string, type Page, type Table } from '../../lib/commands/index.js';

const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:6}',
  attributes: { customer: string(), number: integer(), total: integer(), note: string().optional() },
  indexes: { byTotal: { pk: 'TOTAL#{total}', sk: '{number:6}' } },
});
const Customer = entity('CUSTOMER', { pk: 'C#{id}', sk: 'C', attributes: { id: string() } });
declare const shop: Table;
const orders = shop.of(Order);

test('a scan gives the items of its entity', () => {
  expectTypeOf(scan(orders).all()).resolves.toEqualTypeOf<(typeof Order)['~item'][]>();
  expectTypeOf(scan(orders).items()).toEqualTypeOf<AsyncIterable<(typeof Order)['~item']>>();
  expectTypeOf(scan(orders.index('byTotal')).all()).resolves.toEqualTypeOf<(typeof Order)['~item'][]>();
  expectTypeOf(scan(orders).count()).resolves.toEqualTypeOf<number>();
});

test('what it asked for is in the type', () => {
  expectTypeOf(scan(orders).project('total', 'note').page()).resolves.toExtend<
    Page<{ total: number; note?: string | undefined }>
  >();
  expectTypeOf(scan(orders).select(Order.attrs.total).segments(4).all()).resolves.toEqualTypeOf<number[]>();
  expectTypeOf(scan(orders).returnCapacity().page()).resolves.toHaveProperty('consumedCapacity');
  expectTypeOf(scan(orders).page()).resolves.not.toHaveProperty('consumedCapacity');
});

test('what can not be is refused', () => {
  // @ts-expect-error -- an attribute of another entity
  scan(orders).filter(Customer.attrs.id.eq('a'));
  // @ts-expect-error -- no attribute
  scan(orders).project('nothing');
  // @ts-expect-error -- a table is no entity
  scan(shop);
  const parallel = scan(orders).segments(4);
  // @ts-expect-error -- many requests
  void parallel.toRequest;
  // @ts-expect-error -- many requests
  void parallel.toRequestJson;
  // @ts-expect-error -- many requests
  void parallel.page;
  // @ts-expect-error -- a read is sent by its terminal only
  void scan(orders).then;
});
