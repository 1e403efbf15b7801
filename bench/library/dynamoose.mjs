import { DynamoDB } from '@aws-sdk/client-dynamodb';
import dynamoose from 'dynamoose';
import { changes, item, pageReader, storedKey } from './order.mjs';
import { config } from './stub.mjs';

dynamoose.aws.ddb.set(new DynamoDB(config));
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
// Reading has no public method that runs without a request. It asks the client for a method of the operation's name.
const { Item } = await put();
export const reads = () => dynamoose.aws.ddb.set({ query: pageReader(Item).send });
export const parse = () => Order.query('pk').eq(storedKey.pk).exec();
export const send = () => Order.update(storedKey, { $SET: changes }, { condition: condition() });
