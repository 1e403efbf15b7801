// Entities of eight attributes, each with one get and one conditional update, as each library writes them.
const each = (count, write) => Array.from({ length: count }, (_, i) => write(i)).join('\n');

export const sources = {
  safewrites: (count) => `
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { boolean, entity, instant, integer, list, map, number, oneOf, string, table } from 'safewrites';
const shop = table({ name: 'shop', client: new DynamoDBClient({}) });
${each(
  count,
  (i) => `
const Order${i} = entity('ORDER${i}', {
  pk: 'CUSTOMER${i}#{customer}', sk: 'ORDER#{placed}',
  attributes: { customer: string(), placed: instant(), status: oneOf('OPEN', 'PAID'), total: number(), count: integer(),
    paid: boolean(), lines: list(map({ sku: string(), price: number() })), shipTo: map({ city: string(), zip: string() }) },
});
const orders${i} = shop.of(Order${i});
export const run${i} = async () => {
  const item = await orders${i}.get({ customer: 'a', placed: new Date() }).consistent().item();
  const total: number | undefined = item?.total;
  const result = await orders${i}.update({ customer: 'a', placed: new Date() }).set({ status: 'PAID', total: 3 }).if(Order${i}.attrs.total.lt(5)).returnNew().trySend();
  return [total, result.conditionMet && result.item.shipTo.city];
};`,
)}`,
  electrodb: (count) => `
import { Entity } from 'electrodb';
${each(
  count,
  (i) => `
const Order${i} = new Entity({
  model: { entity: 'order${i}', version: '1', service: 'shop' },
  attributes: { customer: { type: 'string', required: true }, placed: { type: 'string', required: true },
    status: { type: ['OPEN', 'PAID'] as const, required: true }, total: { type: 'number', required: true }, count: { type: 'number', required: true },
    paid: { type: 'boolean', required: true },
    lines: { type: 'list', required: true, items: { type: 'map', properties: { sku: { type: 'string' }, price: { type: 'number' } } } },
    shipTo: { type: 'map', required: true, properties: { city: { type: 'string' }, zip: { type: 'string' } } } },
  indexes: { order: { pk: { field: 'pk', composite: ['customer'] }, sk: { field: 'sk', composite: ['placed'] } } },
} as const, { table: 'shop' });
export const run${i} = async () => {
  const { data } = await Order${i}.get({ customer: 'a', placed: 'b' }).go({ consistent: true });
  const total: number | undefined = data?.total;
  const { data: updated } = await Order${i}.update({ customer: 'a', placed: 'b' }).set({ status: 'PAID', total: 3 }).where(({ total }, { lt }) => lt(total, 5)).go({ response: 'all_new' });
  return [total, updated.shipTo?.city];
};`,
)}`,
  'dynamodb-toolbox': (count) => `
import { Entity, GetItemCommand, Table, UpdateItemCommand, boolean, item, list, map, number, string } from 'dynamodb-toolbox';
const shop = new Table({ name: 'shop', partitionKey: { name: 'pk', type: 'string' }, sortKey: { name: 'sk', type: 'string' } });
${each(
  count,
  (i) => `
const Order${i} = new Entity({
  name: 'ORDER${i}', table: shop,
  schema: item({ customer: string().key(), placed: string().key(), status: string().enum('OPEN', 'PAID'), total: number(), count: number(),
    paid: boolean(), lines: list(map({ sku: string(), price: number() })), shipTo: map({ city: string(), zip: string() }) }),
  computeKey: ({ customer, placed }) => ({ pk: customer, sk: placed }),
});
export const run${i} = async () => {
  const { Item } = await Order${i}.build(GetItemCommand).key({ customer: 'a', placed: 'b' }).options({ consistent: true }).send();
  const total: number | undefined = Item?.total;
  const { Attributes } = await Order${i}.build(UpdateItemCommand).item({ customer: 'a', placed: 'b', status: 'PAID', total: 3 }).options({ condition: { attr: 'total', lt: 5 }, returnValues: 'ALL_NEW' }).send();
  return [total, Attributes?.shipTo?.city];
};`,
)}`,
  'dynamodb-onetable': (count) => `
import { Table, type Entity } from 'dynamodb-onetable';
const schema = { format: 'onetable:1.1.0', version: '0.0.1', indexes: { primary: { hash: 'pk', sort: 'sk' } }, models: {
${each(
  count,
  (
    i,
  ) => `  Order${i}: { pk: { type: String, value: 'CUSTOMER${i}#\${customer}' }, sk: { type: String, value: 'ORDER#\${placed}' },
    customer: { type: String, required: true }, placed: { type: String, required: true }, status: { type: String, enum: ['OPEN', 'PAID'] as const, required: true },
    total: { type: Number, required: true }, count: { type: Number, required: true }, paid: { type: Boolean, required: true },
    lines: { type: Array, required: true, items: { type: Object, schema: { sku: { type: String }, price: { type: Number } } } },
    shipTo: { type: Object, required: true, schema: { city: { type: String }, zip: { type: String } } } },`,
)}
} } as const;
const table = new Table({ name: 'shop', partial: true, schema });
${each(
  count,
  (i) => `
const model${i} = table.getModel<Entity<typeof schema.models.Order${i}>>('Order${i}');
export const run${i} = async () => {
  const item = await model${i}.get({ customer: 'a', placed: 'b' }, { consistent: true });
  const total: number | undefined = item?.total;
  const updated = await model${i}.update({ customer: 'a', placed: 'b', status: 'PAID', total: 3 }, { where: '\${total} < {5}' });
  return [total, updated?.shipTo?.city];
};`,
)}`,
};

/** What is instantiated by the import alone is taken off. */
export const baseline = (library) => sources[library](0);
