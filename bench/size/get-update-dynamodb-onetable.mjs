import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Table } from 'dynamodb-onetable';
import { schema as common } from '../lib/onetable.mjs';

const bank = new Table({
  name: process.env.TABLE_NAME,
  partial: true,
  client: new DynamoDBClient({}),
  schema: {
    ...common,
    models: {
      Account: {
        pk: { type: String, value: 'ACCOUNT#${id}' },
        sk: { type: String, value: 'BALANCE' },
        id: { type: String, required: true },
        balance: { type: Number, required: true },
        note: { type: String },
      },
    },
  },
});
const Account = bank.getModel('Account');

export const handler = async ({ id, amount }) => {
  const account = await Account.get({ id }, { consistent: true });
  if (account === undefined) return { ok: false };
  await Account.update({ id, balance: account.balance - amount }, { where: `\${balance} = {${account.balance}}` });
  return { ok: true };
};
