// An ingest behind Powertools: one conditional update a record, with partial responses.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({});
const logger = new Logger();
const processor = new BatchProcessor(EventType.SQS);

const recordHandler = async ({ body }) => {
  const { id, at, state } = JSON.parse(body);
  await client.send(
    new UpdateItemCommand({
      TableName: process.env.TABLE_NAME,
      Key: { pk: { S: `STATE#${id}` }, sk: { S: 'STATE' } },
      UpdateExpression: 'SET #s = :s, #a = :a',
      ConditionExpression: 'attribute_not_exists(#a) OR #a < :a',
      ExpressionAttributeNames: { '#s': 'state', '#a': 'at' },
      ExpressionAttributeValues: { ':s': { S: state }, ':a': { S: at } },
    }),
  );
  logger.info('stored');
};

export const handler = (event, context) => processPartialResponse(event, recordHandler, processor, { context });
