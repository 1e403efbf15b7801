import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshalledPut, marshalledUpdate, unmarshalledPage } from './document-marshalling.mjs';
import { expression, item, page, received, storedKey } from './order.mjs';
import { config } from './stub.mjs';

const client = DynamoDBDocumentClient.from(new DynamoDBClient(config), {
  marshallOptions: { removeUndefinedValues: true },
});
const request = () => ({
  TableName: 'bench',
  Key: storedKey,
  ...expression,
  ExpressionAttributeValues: { ':a': 'PAID', ':b': 3, ':c': 'paid', ':d': 5, ':t': 'ORDER' },
});
export const update = () => marshalledUpdate(request());
export const put = () => marshalledPut({ TableName: 'bench', Item: { ...item, ...storedKey, _type: 'ORDER' } });
const { Item } = await put();
const stored = received(Item);
export const parse = () => unmarshalledPage(Array(page).fill(stored));
export const send = () => client.send(new UpdateCommand(request()));
