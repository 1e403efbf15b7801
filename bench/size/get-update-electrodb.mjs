import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Entity } from 'electrodb';

const Account = new Entity(
  {
    model: { entity: 'account', version: '1', service: 'bank' },
    attributes: {
      id: { type: 'string', required: true },
      balance: { type: 'number', required: true },
      note: { type: 'string' },
    },
    indexes: {
      account: {
        pk: { field: 'pk', composite: ['id'], template: 'ACCOUNT#${id}' },
        sk: { field: 'sk', composite: [], template: 'BALANCE' },
      },
    },
  },
  { table: process.env.TABLE_NAME, client: new DynamoDBClient({}) },
);

export const handler = async ({ id, amount }) => {
  const { data: account } = await Account.get({ id }).go({ consistent: true });
  if (account === null) return { ok: false };
  await Account.update({ id })
    .set({ balance: account.balance - amount })
    .where(({ balance }, { eq }) => eq(balance, account.balance))
    .go();
  return { ok: true };
};
