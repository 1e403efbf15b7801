import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { SchemaType, kafkaConsumer } from '@aws-lambda-powertools/kafka';
import { bareCharge, bareIngest, bareRelay } from '../load/bare.mjs';

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
  return makeIdempotent(bareCharge(client, TableName), { persistenceStore, config });
};

const batch = (type, store) => {
  const processor = new BatchProcessor(type);
  return (event, context) => processPartialResponse(event, store, processor, { context });
};

/** A conditional update for each record, which holds the newest score. */
export const powertoolsIngest = (client, TableName) => batch(EventType.SQS, bareIngest(client, TableName));

/** A PutEvents and a delete for each record, all at once: no order. */
export const powertoolsRelay = (client, bus, TableName) =>
  batch(EventType.DynamoDBStreams, bareRelay(client, bus, TableName));

/** The same for each record of Kafka, one after the other: the order of a partition is the handler's matter. */
export const powertoolsKafka = (client, TableName) => {
  const store = bareIngest(client, TableName);
  return kafkaConsumer(
    async ({ records }) => {
      for (const { value } of records) await store({ body: JSON.stringify(value) });
    },
    { value: { type: SchemaType.JSON } },
  );
};
