// A charge behind Powertools: an idempotent handler with a logger, its effect a conditional put.
import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency';
import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';

const client = new DynamoDBClient({});
const logger = new Logger();
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.TABLE_NAME, awsSdkV3Client: client });
const config = new IdempotencyConfig({
  eventKeyJmesPath: 'headers."idempotency-key"',
  payloadValidationJmesPath: 'body',
  throwOnNoIdempotencyKey: true,
});

export const handler = middy(async (event) => {
  const { id, amount } = JSON.parse(event.body);
  const Item = { pk: { S: `CHARGE#${id}` }, sk: { S: 'CHARGE' }, amount: { N: String(amount) } };
  await client.send(new PutItemCommand({ TableName: process.env.TABLE_NAME, Item }));
  logger.info('charged');
  return { statusCode: 201, body: JSON.stringify({ id }) };
}).use(makeHandlerIdempotent({ persistenceStore, config }));
