import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Table } from 'dynamodb-onetable';
import { schema as common } from '../lib/onetable.mjs';
import { changes, item, key, pageReader } from './order.mjs';
import { config } from './stub.mjs';

const schema = {
  ...common,
  models: {
    Order: {
      pk: { type: String, value: 'CUSTOMER#${customer}' },
      sk: { type: String, value: 'ORDER#${number:10:0}' },
      customer: { type: String, required: true },
      number: { type: Number, required: true },
      status: { type: String, required: true, enum: ['OPEN', 'PAID'] },
      total: { type: Number, required: true },
      note: { type: String, required: true },
      paid: { type: Boolean, required: true },
      quantity: { type: Number, required: true },
      rank: { type: Number, required: true },
      lines: {
        type: Array,
        required: true,
        items: {
          type: Object,
          schema: { sku: { type: String }, quantity: { type: Number }, price: { type: Number } },
        },
      },
      shipTo: {
        type: Object,
        required: true,
        schema: { city: { type: String }, zip: { type: String }, street: { type: String } },
      },
    },
  },
  params: { isoDates: true, timestamps: false },
};
const modelBy = (client) => new Table({ name: 'bench', partial: true, client, schema }).getModel('Order');
const Order = modelBy(new DynamoDBClient(config));
const where = { where: '${total} < {5}' };
export const update = () => Order.update({ ...key, ...changes }, { ...where, execute: false });
export const put = () => Order.create({ ...item }, { exists: null, execute: false });
// Reading has no public method that runs without a request.
const { Item } = await put();
const Read = modelBy(pageReader(Item));
export const parse = () => Read.find({ customer: 'alice' });
export const send = () => Order.update({ ...key, ...changes }, { ...where, return: 'NONE' });
