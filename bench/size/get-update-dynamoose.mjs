import { DynamoDB } from '@aws-sdk/client-dynamodb';
import dynamoose from 'dynamoose';

dynamoose.aws.ddb.set(new DynamoDB({}));
const Account = dynamoose.model(
  process.env.TABLE_NAME,
  new dynamoose.Schema({
    pk: { type: String, hashKey: true },
    sk: { type: String, rangeKey: true },
    id: { type: String, required: true },
    balance: { type: Number, required: true },
    note: String,
  }),
  { create: false, waitForActive: false, update: false },
);

export const handler = async ({ id, amount }) => {
  const key = { pk: `ACCOUNT#${id}`, sk: 'BALANCE' };
  const account = await Account.get(key, { consistent: true });
  if (account === undefined) return { ok: false };
  const condition = new dynamoose.Condition().where('balance').eq(account.balance);
  await Account.update(key, { $SET: { balance: account.balance - amount } }, { condition });
  return { ok: true };
};
