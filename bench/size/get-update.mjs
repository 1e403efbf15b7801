import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { entity, integer, string, table } from 'safewrites';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), note: string().optional() },
});
const accounts = table({ name: process.env.TABLE_NAME, client: new DynamoDBClient({}) }).of(Account);

export const handler = async ({ id, amount }) => {
  const account = await accounts.get({ id }).consistent().item();
  if (account === undefined) return { ok: false };
  const { conditionMet } = await accounts
    .update({ id })
    .set({ balance: account.balance - amount })
    .if(Account.attrs.balance.eq(account.balance))
    .trySend();
  return { ok: conditionMet };
};
