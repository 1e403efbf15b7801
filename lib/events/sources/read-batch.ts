import { invalid } from '../../commands/errors/errors.js';
import type { Batch, Delivery } from './delivery.js';
import type { KafkaEventRecord } from './kafka-event.js';
import type { SqsEventRecord } from './sqs-event.js';
import type { StreamEventRecord, StreamImage } from './stream-event.js';

type Known = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Known =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const records = (value: unknown): Known[] =>
  Array.isArray(value) && value.every(isObject) ? value : invalid('event', 'its records are no list of objects');

/** By the queue's name; also by what only a FIFO queue numbers, since not every emulator names the queue. */
const isFifo = ({ eventSourceARN, attributes }: Partial<SqsEventRecord>): boolean =>
  (typeof eventSourceARN === 'string' && eventSourceARN.endsWith('.fifo')) || attributes?.SequenceNumber !== undefined;

const sqsBatch = (list: readonly Known[]): Batch => {
  const messages = list as unknown as SqsEventRecord[];
  const fifo = messages.some(isFifo);
  return {
    source: 'sqs',
    fifo,
    deliveries: messages.map((record) => ({
      source: 'sqs',
      record,
      // A message without group keeps its place among its like.
      lane: fifo ? (record.attributes?.MessageGroupId ?? '') : undefined,
    })),
  };
};

const itemOf = (keys: StreamImage | undefined): string =>
  JSON.stringify(Object.entries(keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));

const streamBatch = (list: readonly Known[]): Batch => ({
  source: 'stream',
  fifo: false,
  deliveries: (list as readonly StreamEventRecord[]).map((record) => ({
    source: 'stream',
    record,
    lane: itemOf(record.dynamodb?.Keys),
  })),
});

const kafkaBatch = (partitions: Known): Batch => ({
  source: 'kafka',
  fifo: false,
  deliveries: Object.entries(partitions).flatMap(([partition, list]) =>
    (records(list) as unknown as KafkaEventRecord[]).map((record): Delivery => {
      // Records without key are only ordered by their partition; an empty key is a key.
      const { key } = record;
      const lane = JSON.stringify(key === undefined || key === null ? [partition] : [partition, key]);
      return { source: 'kafka', record, lane, partition };
    }),
  ),
});

/**
 * Reads an event as a batch.
 *
 * @throws InvalidInputError for an event of another source, or of several
 */
export const readBatch = (event: unknown): Batch => {
  if (!isObject(event)) return invalid('event', 'expected a batch of SQS, Kafka or a DynamoDB stream');
  const { eventSource } = event;
  if (eventSource === 'aws:kafka' || eventSource === 'SelfManagedKafka') {
    return isObject(event['records']) ? kafkaBatch(event['records']) : invalid('event', 'has no records by partition');
  }
  if (eventSource !== undefined || event['Records'] === undefined) {
    return invalid('event', 'expected a batch of SQS, Kafka or a DynamoDB stream');
  }
  const list = records(event['Records']);
  const sources = new Set(list.map((record) => record['eventSource']));
  // Without records there is nothing to tell a source by, and nothing to do.
  if (list.length === 0 || (sources.size === 1 && sources.has('aws:sqs'))) return sqsBatch(list);
  if (sources.size === 1 && sources.has('aws:dynamodb')) return streamBatch(list);
  return invalid('event', 'expected records of one source: SQS or a DynamoDB stream');
};
