import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynamoose from 'dynamoose';
import { changes, item, storedKey } from './order.mjs';
import { config } from './stub.mjs';

dynamoose.aws.ddb.set(new DynamoDBClient(config));
const Order = dynamoose.model(
  'bench',
  new dynamoose.Schema({
    pk: { type: String, hashKey: true },
    sk: { type: String, rangeKey: true },
    customer: { type: String, required: true },
    number: { type: Number, required: true },
    status: { type: String, required: true, enum: ['OPEN', 'PAID'] },
    total: { type: Number, required: true },
    note: { type: String, required: true },
    paid: { type: Boolean, required: true },
    quantity: { type: Number, required: true },
    rank: { type: Number, required: true },
    lines: { type: Array, schema: [{ type: Object, schema: { sku: String, quantity: Number, price: Number } }] },
    shipTo: { type: Object, schema: { city: String, zip: String, street: String } },
  }),
  { create: false, waitForActive: false, update: false },
);
const condition = () => new dynamoose.Condition().where('total').lt(5);
export const update = () => Order.update(storedKey, { $SET: changes }, { condition: condition(), return: 'request' });
export const put = () => new Order({ ...item, ...storedKey }).save({ return: 'request' });
export const send = () => Order.update(storedKey, { $SET: changes }, { condition: condition() });
