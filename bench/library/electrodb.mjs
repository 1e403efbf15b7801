import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Entity } from 'electrodb';
import { marshalledPut, marshalledUpdate, unmarshalledPage } from './document-marshalling.mjs';
import { changes, item, key, page, received } from './order.mjs';
import { config } from './stub.mjs';

const text = { type: 'string' };
const amount = { type: 'number' };
const Order = new Entity(
  {
    model: { entity: 'order', version: '1', service: 'shop' },
    attributes: {
      customer: { ...text, required: true },
      number: { ...amount, required: true, padding: { length: 10, char: '0' } },
      status: { type: ['OPEN', 'PAID'], required: true },
      total: { ...amount, required: true },
      note: { ...text, required: true },
      paid: { type: 'boolean', required: true },
      quantity: { ...amount, required: true },
      rank: { ...amount, required: true },
      lines: {
        type: 'list',
        required: true,
        items: { type: 'map', properties: { sku: text, quantity: amount, price: amount } },
      },
      shipTo: { type: 'map', required: true, properties: { city: text, zip: text, street: text } },
    },
    indexes: {
      order: {
        pk: { field: 'pk', composite: ['customer'], template: 'CUSTOMER#${customer}', casing: 'none' },
        sk: { field: 'sk', composite: ['number'], template: 'ORDER#${number}', casing: 'none' },
      },
    },
  },
  {
    table: 'bench',
    client: DynamoDBDocumentClient.from(new DynamoDBClient(config), {
      marshallOptions: { removeUndefinedValues: true },
    }),
  },
);
const chain = () =>
  Order.update(key)
    .set(changes)
    .where(({ total }, { lt }) => lt(total, 5));
export const update = () => marshalledUpdate(chain().params());
export const put = () => marshalledPut(Order.put(item).params());
const { Item } = await put();
const stored = received(Item);
export const parse = async () => Order.parse({ Items: await unmarshalledPage(Array(page).fill(stored)) });
export const send = () => chain().go();
