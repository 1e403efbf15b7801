// The same effects by the client alone, written by hand.
import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';

/** A charge's items in one transaction, with no record of its answer: what no idempotent endpoint can do less than. */
export const bareCharge = (client, TableName) => async (event) => {
  const { customerId, amount, currency } = JSON.parse(event.body);
  const id = randomUUID();
  const createdAt = new Date().toISOString();
  const body = JSON.stringify({ chargeId: id, customerId, amount, currency, createdAt });
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
        { Put: { TableName, Item: { pk: { S: 'OUTBOX#1' }, sk: { S: id }, detail: { S: body } } } },
      ],
    }),
  );
  return { statusCode: 201, headers: { location: `/charges/${id}` }, body };
};

/** One conditional update, which holds the newest score. */
export const bareIngest =
  (client, TableName) =>
  async ({ body }) => {
    const { matchId, home, away, at } = JSON.parse(body);
    try {
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: { S: `MATCH#${matchId}` }, sk: { S: 'MATCH' } },
          UpdateExpression: 'SET homeGoals = :h, awayGoals = :w, scoreAt = :a',
          ConditionExpression: 'attribute_not_exists(scoreAt) OR scoreAt < :a',
          ExpressionAttributeValues: { ':h': { N: String(home) }, ':w': { N: String(away) }, ':a': { S: at } },
        }),
      );
    } catch (error) {
      // Older than what is stored: done.
      if (error.name !== 'ConditionalCheckFailedException') throw error;
    }
  };

/** One PutEvents for an outbox item that a stream record shows, then its removal. */
export const bareRelay =
  (client, bus, TableName) =>
  async ({ dynamodb: { Keys, NewImage } }) => {
    const { M: event } = NewImage.events.L[0];
    await bus.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: 'bench',
            Source: event.source.S,
            DetailType: event.type.S,
            Detail: JSON.stringify({ id: event.id.S, data: JSON.parse(event.detail.S) }),
          },
        ],
      }),
    );
    await client.send(new DeleteItemCommand({ TableName, Key: Keys }));
  };
