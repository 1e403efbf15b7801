import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { boolean, entity, integer, list, map, number, oneOf, string, table } from '../../dist/esm/commands/index.js';
import { changes, item, key, pageReader } from './order.mjs';
import { config } from './stub.mjs';

const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:10}',
  attributes: {
    customer: string(),
    number: integer(),
    status: oneOf('OPEN', 'PAID'),
    total: number(),
    note: string(),
    paid: boolean(),
    quantity: integer(),
    rank: integer(),
    lines: list(map({ sku: string(), quantity: integer(), price: number() })),
    shipTo: map({ city: string(), zip: string(), street: string() }),
  },
});

const orders = table({ name: 'bench', client: new DynamoDBClient(config) }).of(Order);
// Reading has no method that runs without a request.
const read = table({ name: 'bench', client: pageReader(orders.put(item).toRequest().Item) }).of(Order);

export const update = () =>
  new UpdateItemCommand(orders.update(key).set(changes).if(Order.attrs.total.lt(5)).toRequest());
export const put = () => new PutItemCommand(orders.put(item).toRequest());
export const parse = () => read.query({ customer: 'alice' }).all();
export const send = () => orders.update(key).set(changes).if(Order.attrs.total.lt(5)).send();
