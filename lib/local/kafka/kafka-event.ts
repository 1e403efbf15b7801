import type { Buffer } from 'node:buffer';

/** A record as Lambda gives it to a function: key, value and headers are bytes, written as JSON can hold them. */
export interface LocalKafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly timestampType: 'CREATE_TIME' | 'LOG_APPEND_TIME';
  /** Base64; absent where the producer gave none. */
  readonly key?: string;
  /** Base64; null in a tombstone. */
  readonly value: string | null;
  /** Bytes as Java has them, from -128 to 127. */
  readonly headers: readonly Readonly<Record<string, readonly number[] | null>>[];
}

/** A batch, by `topic-partition` (https://docs.aws.amazon.com/lambda/latest/dg/with-kafka.html, …/with-msk.html). */
export interface LocalKafkaEvent {
  readonly eventSource: 'aws:kafka' | 'SelfManagedKafka';
  readonly eventSourceArn?: string;
  /** Joined by commas. */
  readonly bootstrapServers: string;
  readonly records: Readonly<Record<string, readonly LocalKafkaRecord[]>>;
}

/** What the event of each batch of a mapping has. */
export interface EventFrame {
  readonly eventSourceArn: string | undefined;
  readonly bootstrapServers: string;
}

/** What is read of a record on the wire. */
export interface WireRecord {
  readonly timestampDelta: bigint;
  readonly offsetDelta: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[];
}

/** What is read of records that were written together. */
export interface WireBatch {
  readonly attributes: number;
  readonly firstOffset: bigint;
  readonly lastOffsetDelta: number;
  readonly firstTimestamp: bigint;
  readonly maxTimestamp: bigint;
  readonly records: readonly WireRecord[];
}

const LOG_APPEND_TIME = 0x08;
const CONTROL = 0x20;

/** The name of a partition in events and answers. */
export const partitionName = ({ topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${topic}-${partition}`;

const signed = (byte: number): number => (byte < 128 ? byte : byte - 256);

/** The records of a partition that a fetch from `from` on gave; control records, of transactions, are none. */
export const recordsOf = (
  topic: string,
  partition: number,
  batches: readonly WireBatch[],
  from: bigint,
): LocalKafkaRecord[] =>
  batches
    .filter(({ attributes }) => (attributes & CONTROL) === 0)
    .flatMap(({ attributes, firstOffset, firstTimestamp, maxTimestamp, records }) => {
      const appended = (attributes & LOG_APPEND_TIME) !== 0;
      return records.map(({ offsetDelta, timestampDelta, key, value, headers }): LocalKafkaRecord => {
        return {
          topic,
          partition,
          offset: Number(firstOffset) + offsetDelta,
          timestamp: Number(appended ? maxTimestamp : firstTimestamp + timestampDelta),
          timestampType: appended ? 'LOG_APPEND_TIME' : 'CREATE_TIME',
          ...(key !== null && { key: key.toString('base64') }),
          value: value === null ? null : value.toString('base64'),
          headers: headers.map(([name, bytes]) => ({
            [name?.toString() ?? '']: bytes === null ? null : Array.from(bytes, signed),
          })),
        };
      });
    })
    // Records that were written together come together, those before it too.
    .filter(({ offset }) => offset >= from);

/** The event of a batch, whose records stand in the order of their partitions. */
export const kafkaEventOf = (
  records: readonly LocalKafkaRecord[],
  { eventSourceArn, bootstrapServers }: EventFrame,
): LocalKafkaEvent => {
  const partitions: Record<string, LocalKafkaRecord[]> = {};
  for (const record of records) (partitions[partitionName(record)] ??= []).push(record);
  return {
    ...(eventSourceArn === undefined
      ? { eventSource: 'SelfManagedKafka' }
      : { eventSource: 'aws:kafka', eventSourceArn }),
    bootstrapServers,
    records: partitions,
  };
};
