import type { KafkaEvent, KafkaEventRecord } from './kafka-event.js';
import type { SqsEvent, SqsEventRecord } from './sqs-event.js';
import type { StreamEvent, StreamEventRecord } from './stream-event.js';

/** What a handler of batches takes. */
export type BatchEvent = SqsEvent | KafkaEvent | StreamEvent;

/** Where a record came from. */
export type EventSource = 'sqs' | 'kafka' | 'stream';

/** The records of the sources. */
export interface RecordOf {
  readonly sqs: SqsEventRecord;
  readonly kafka: KafkaEventRecord;
  readonly stream: StreamEventRecord;
}

/** A record of any source. */
export type AnyEventRecord = RecordOf[EventSource];

/** A record with its place in the batch. */
export interface Delivery {
  readonly source: EventSource;
  readonly record: AnyEventRecord;
  /** Equal for the records whose order is kept; undefined where there is none. Holds a key. */
  readonly lane: string | undefined;
  /** Kafka: the name of the partition, as the event has it. */
  readonly partition?: string;
}

/** A batch, read. */
export interface Batch {
  readonly source: EventSource;
  /** SQS: whether the queue is FIFO. */
  readonly fifo: boolean;
  /** In the order of the source. */
  readonly deliveries: readonly Delivery[];
}
