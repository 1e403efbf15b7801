// A relay behind Powertools: one PutEvents and one delete a record, with partial responses.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import { DeleteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';

const client = new DynamoDBClient({});
const bus = new EventBridgeClient({});
const logger = new Logger();
const processor = new BatchProcessor(EventType.DynamoDBStreams);

const recordHandler = async ({ dynamodb: { Keys, NewImage } }) => {
  const EventBusName = process.env.SAFEWRITES_EVENT_BUS_NAME;
  const Entries = [{ EventBusName, Source: NewImage.source.S, DetailType: NewImage.type.S, Detail: NewImage.detail.S }];
  await bus.send(new PutEventsCommand({ Entries }));
  await client.send(new DeleteItemCommand({ TableName: process.env.TABLE_NAME, Key: Keys }));
  logger.info('sent');
};

export const handler = (event, context) => processPartialResponse(event, recordHandler, processor, { context });
