// Written by hand on the client: no library does less.
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expression, page, received } from './order.mjs';
import { config } from './stub.mjs';

const client = new DynamoDBClient(config);
const Key = (customer, number) => ({
  pk: { S: `CUSTOMER#${customer}` },
  sk: { S: `ORDER#${String(number).padStart(10, '0')}` },
});
export const update = () =>
  new UpdateItemCommand({
    TableName: 'bench',
    Key: Key('alice', 1),
    ...expression,
    ExpressionAttributeValues: {
      ':a': { S: 'PAID' },
      ':b': { N: String(3) },
      ':c': { S: 'paid' },
      ':d': { N: String(5) },
      ':t': { S: 'ORDER' },
    },
  });
export const put = () =>
  new PutItemCommand({
    TableName: 'bench',
    Item: {
      ...Key('alice', 1),
      _type: { S: 'ORDER' },
      customer: { S: 'alice' },
      number: { N: String(1) },
      status: { S: 'OPEN' },
      total: { N: String(12.5) },
      note: { S: 'leave at the door' },
      paid: { BOOL: false },
      quantity: { N: String(3) },
      rank: { N: String(4) },
      lines: {
        L: [
          { M: { sku: { S: 'KB-01' }, quantity: { N: String(1) }, price: { N: String(79.5) } } },
          { M: { sku: { S: 'KB-02' }, quantity: { N: String(2) }, price: { N: String(3.25) } } },
        ],
      },
      shipTo: { M: { city: { S: 'Bern' }, zip: { S: '3000' }, street: { S: 'Kramgasse 1' } } },
    },
  });
const stored = Array(page).fill(received(put().input.Item));
const line = ({ M: { sku, quantity, price } }) => ({
  sku: sku.S,
  quantity: Number(quantity.N),
  price: Number(price.N),
});
export const parse = () =>
  stored.map(({ customer, number, status, total, note, paid, quantity, rank, lines, shipTo: { M: shipTo } }) => ({
    customer: customer.S,
    number: Number(number.N),
    status: status.S,
    total: Number(total.N),
    note: note.S,
    paid: paid.BOOL,
    quantity: Number(quantity.N),
    rank: Number(rank.N),
    lines: lines.L.map(line),
    shipTo: { city: shipTo.city.S, zip: shipTo.zip.S, street: shipTo.street.S },
  }));
export const send = () => client.send(update());
