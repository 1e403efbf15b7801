import { randomUUID } from 'node:crypto';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';

/** The same charge: its three items in one transaction, behind an idempotent handler. */
export const powertoolsCharge = (client, TableName) => {
  const persistenceStore = new DynamoDBPersistenceLayer({
    tableName: TableName,
    keyAttr: 'pk',
    sortKeyAttr: 'sk',
    awsSdkV3Client: client,
  });
  const config = new IdempotencyConfig({
    eventKeyJmesPath: 'headers."idempotency-key"',
    payloadValidationJmesPath: 'body',
    throwOnNoIdempotencyKey: true,
  });
  const handler = async (event) => {
    const { customerId, amount, currency } = JSON.parse(event.body);
    const id = randomUUID();
    const createdAt = new Date().toISOString();
    const detail = JSON.stringify({ chargeId: id, customerId, amount, currency, createdAt });
    const values = {
      customerId: { S: customerId },
      amount: { N: String(amount) },
      currency: { S: currency },
      createdAt: { S: createdAt },
    };
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName, Item: { pk: { S: `CHARGE#${id}` }, sk: { S: 'CHARGE' }, ...values } } },
          {
            ConditionCheck: {
              TableName,
              Key: { pk: { S: `CUSTOMER#${customerId}` }, sk: { S: 'STANDING' } },
              ConditionExpression: 'NOT blocked = :b',
              ExpressionAttributeValues: { ':b': { BOOL: true } },
            },
          },
          { Put: { TableName, Item: { pk: { S: 'OUTBOX#1' }, sk: { S: id }, detail: { S: detail } } } },
        ],
      }),
    );
    return { statusCode: 201, headers: { location: `/charges/${id}` }, body: detail };
  };
  return makeIdempotent(handler, { persistenceStore, config });
};

/** A conditional update for each record, which holds the newest score. */
export const powertoolsIngest = (client, TableName) => {
  const processor = new BatchProcessor(EventType.SQS);
  const store = async ({ body }) => {
    const { matchId, home, away, at } = JSON.parse(body);
    const update = new UpdateItemCommand({
      TableName,
      Key: { pk: { S: `MATCH#${matchId}` }, sk: { S: 'MATCH' } },
      UpdateExpression: 'SET homeGoals = :h, awayGoals = :w, scoreAt = :a',
      ConditionExpression: 'attribute_not_exists(scoreAt) OR scoreAt < :a',
      ExpressionAttributeValues: { ':h': { N: String(home) }, ':w': { N: String(away) }, ':a': { S: at } },
    });
    try {
      await client.send(update);
    } catch (error) {
      // Older than what is stored: done.
      if (error.name !== 'ConditionalCheckFailedException') throw error;
    }
  };
  return (event, context) => processPartialResponse(event, store, processor, { context });
};
