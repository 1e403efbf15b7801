import { expectTypeOf, test } from 'vitest';
import { collection, entity, integer, string, type Table } from '../../lib/commands/index.js';

const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'PROFILE',
  attributes: { customer: string(), name: string() },
});
const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:6}',
  attributes: { customer: string(), number: integer(), total: integer() },
});
const Product = entity('PRODUCT', { pk: 'PRODUCT#{sku}', sk: 'PRODUCT', attributes: { sku: string() } });
declare const shop: Table;

test('rows are a union that _type tells apart', () => {
  const rows = collection(shop, [Customer, Order]).query({ customer: 'alice' }).all();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<
    | ({ readonly _type: 'CUSTOMER' } & (typeof Customer)['~item'])
    | ({ readonly _type: 'ORDER' } & (typeof Order)['~item'])
  >();
  void rows.then(([row]) => {
    if (row?._type === 'ORDER') expectTypeOf(row.total).toEqualTypeOf<number>();
    else if (row !== undefined) expectTypeOf(row.name).toEqualTypeOf<string>();
    // @ts-expect-error -- not of every row
    void row?.total;
  });
});

test('a row may be put back', () => {
  void collection(shop, [Customer, Order])
    .query({ customer: 'alice' })
    .first()
    .then((row) => (row?._type === 'ORDER' ? shop.of(Order).put(row) : undefined));
});

test('entities that share no partition are refused', () => {
  // @ts-expect-error -- another partition key template
  collection(shop, [Customer, Product]);
  // @ts-expect-error -- no entities
  collection(shop, []);
  // @ts-expect-error -- inputs of the partition key only
  collection(shop, [Customer, Order]).query({ customer: 'alice', number: 1 });
  // @ts-expect-error -- the partition key's input is missing
  collection(shop, [Customer, Order]).query({});
  // @ts-expect-error -- a read is sent by its terminal only
  void collection(shop, [Customer, Order]).query({ customer: 'alice' }).then;
});
