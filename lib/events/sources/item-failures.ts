import { isFilledText } from '../../commands/attributes/text.js';
import type { Batch, Delivery } from './delivery.js';
import type { KafkaEventRecord } from './kafka-event.js';
import type { SqsEventRecord } from './sqs-event.js';
import type { StreamEventRecord } from './stream-event.js';

/** A record that must come again, in its source's form. */
export interface BatchItemFailure {
  /** SQS: a message id. Streams: a sequence number. Kafka: partition and offset. */
  readonly itemIdentifier: string | { readonly partition: string; readonly offset: number };
}

/** What Lambda takes as the outcome of a batch; without failures, all of it is acknowledged. */
export interface BatchResponse {
  readonly batchItemFailures: readonly BatchItemFailure[];
}

/** The records that failed, and in a FIFO queue all that come after one in its group. */
export const withFollowers = (batch: Batch, failed: ReadonlySet<Delivery>): ReadonlySet<Delivery> => {
  if (!batch.fifo) return failed;
  const lanes = new Set<string | undefined>();
  return new Set(
    batch.deliveries.filter((delivery) => {
      if (failed.has(delivery)) lanes.add(delivery.lane);
      return lanes.has(delivery.lane);
    }),
  );
};

/** A batch that can't be reported in part: Lambda takes a wrong identifier for a failure of all, or for none. */
const cannotTell = Symbol('cannotTell');
type Told = BatchItemFailure[] | typeof cannotTell;

const sqsFailures = (failed: readonly Delivery[]): Told => {
  const ids = new Set(failed.map(({ record }) => (record as SqsEventRecord).messageId));
  const list = [...ids].map((itemIdentifier) => ({ itemIdentifier }));
  return list.every(({ itemIdentifier: id }) => isFilledText(id)) ? list : cannotTell;
};

const streamFailures = (failed: readonly Delivery[]): Told => {
  let lowest: string | undefined;
  for (const { record } of failed) {
    const number = (record as StreamEventRecord).dynamodb?.SequenceNumber;
    if (typeof number !== 'string' || !/^\d+$/.test(number)) return cannotTell;
    // As integers: as text, 1000 is before 999, and as floating point two of 40 digits look equal.
    if (lowest === undefined || BigInt(number) < BigInt(lowest)) lowest = number;
  }
  return lowest === undefined ? [] : [{ itemIdentifier: lowest }];
};

const kafkaFailures = (failed: readonly Delivery[]): Told => {
  const lowest = new Map<string, number>();
  for (const { record, partition = '' } of failed) {
    const { offset } = record as KafkaEventRecord;
    if (!Number.isSafeInteger(offset) || offset < 0) return cannotTell;
    const known = lowest.get(partition);
    if (known === undefined || offset < known) lowest.set(partition, offset);
  }
  return [...lowest].map(([partition, offset]) => ({ itemIdentifier: { partition, offset } }));
};

const failuresOf = { sqs: sqsFailures, stream: streamFailures, kafka: kafkaFailures };

/**
 * The failed records in their source's exact form; undefined where one of them can't be named, so that only a failure of
 * the whole batch is safe.
 */
export const itemFailures = (batch: Batch, failed: ReadonlySet<Delivery>): BatchItemFailure[] | undefined => {
  const told = failuresOf[batch.source]([...failed]);
  return told === cannotTell ? undefined : told;
};
