import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const TableName = process.env.TABLE_NAME;

export const handler = async ({ id, amount }) => {
  const Key = { pk: `ACCOUNT#${id}`, sk: 'BALANCE' };
  const { Item: account } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (account === undefined) return { ok: false };
  await client.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET #b = :b',
      ConditionExpression: '#b = :o',
      ExpressionAttributeNames: { '#b': 'balance' },
      ExpressionAttributeValues: { ':b': account.balance - amount, ':o': account.balance },
    }),
  );
  return { ok: true };
};
