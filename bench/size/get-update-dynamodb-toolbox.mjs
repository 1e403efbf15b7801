import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Entity } from 'dynamodb-toolbox/entity';
import { GetItemCommand } from 'dynamodb-toolbox/entity/actions/get';
import { UpdateItemCommand } from 'dynamodb-toolbox/entity/actions/update';
import { item } from 'dynamodb-toolbox/schema/item';
import { number } from 'dynamodb-toolbox/schema/number';
import { string } from 'dynamodb-toolbox/schema/string';
import { Table } from 'dynamodb-toolbox/table';

const Account = new Entity({
  name: 'ACCOUNT',
  table: new Table({
    name: process.env.TABLE_NAME,
    partitionKey: { name: 'pk', type: 'string' },
    sortKey: { name: 'sk', type: 'string' },
    documentClient: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  }),
  schema: item({ id: string().key(), balance: number(), note: string().optional() }),
  computeKey: ({ id }) => ({ pk: `ACCOUNT#${id}`, sk: 'BALANCE' }),
});

export const handler = async ({ id, amount }) => {
  const { Item: account } = await Account.build(GetItemCommand).key({ id }).options({ consistent: true }).send();
  if (account === undefined) return { ok: false };
  await Account.build(UpdateItemCommand)
    .item({ id, balance: account.balance - amount })
    .options({ condition: { attr: 'balance', eq: account.balance } })
    .send();
  return { ok: true };
};
