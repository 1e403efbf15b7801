import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  Entity,
  EntityFormatter,
  PutItemCommand,
  Table,
  UpdateItemCommand,
  boolean,
  item as schema,
  list,
  map,
  number,
  string,
} from 'dynamodb-toolbox';
import { marshalledPut, marshalledUpdate, unmarshalledPage } from './document-marshalling.mjs';
import { changes, item, key, page, received } from './order.mjs';
import { config } from './stub.mjs';

const shop = new Table({
  name: 'bench',
  partitionKey: { name: 'pk', type: 'string' },
  sortKey: { name: 'sk', type: 'string' },
  documentClient: DynamoDBDocumentClient.from(new DynamoDBClient(config), {
    marshallOptions: { removeUndefinedValues: true },
  }),
});
const Order = new Entity({
  name: 'ORDER',
  table: shop,
  schema: schema({
    customer: string().key(),
    number: number().key(),
    status: string().enum('OPEN', 'PAID'),
    total: number(),
    note: string(),
    paid: boolean(),
    quantity: number(),
    rank: number(),
    lines: list(map({ sku: string(), quantity: number(), price: number() })),
    shipTo: map({ city: string(), zip: string(), street: string() }),
  }),
  computeKey: ({ customer, number: n }) => ({ pk: `CUSTOMER#${customer}`, sk: `ORDER#${String(n).padStart(10, '0')}` }),
});
const chain = () =>
  Order.build(UpdateItemCommand)
    .item({ ...key, ...changes })
    .options({ condition: { attr: 'total', lt: 5 } });
export const update = () => marshalledUpdate(chain().params());
export const put = () => marshalledPut(Order.build(PutItemCommand).item(item).params());
const { Item } = await put();
const stored = received(Item);
const formatter = Order.build(EntityFormatter);
export const parse = async () => (await unmarshalledPage(Array(page).fill(stored))).map((one) => formatter.format(one));
export const send = () => chain().send();
