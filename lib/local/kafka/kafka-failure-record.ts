import { Buffer } from 'node:buffer';
import { failureRecord, type Discarded, type FailureRecord } from '../sources/mapping/failure-record.js';
import {
  kafkaEventOf,
  partitionName,
  type EventFrame,
  type LocalKafkaEvent,
  type LocalKafkaRecord,
} from './kafka-event.js';

/** Where the records of a partition are, for a destination that gets none of them. */
export interface KafkaRecordsInfo {
  readonly firstRecordOffset: string;
  readonly lastRecordOffset: string;
  readonly firstRecordTimestamp: string;
  readonly lastRecordTimestamp: string;
}

/** What a failure destination gets of records that are given up (https://docs.aws.amazon.com/lambda/latest/dg/kafka-on-failure.html). */
export interface KafkaFailureRecord extends FailureRecord {
  readonly KafkaBatchInfo: {
    readonly batchSize: number;
    readonly eventSourceArn?: string;
    readonly bootstrapServers: string;
    /** In bytes. */
    readonly payloadSize: number;
    /** By `topic-partition`. */
    readonly recordsInfo?: Readonly<Record<string, KafkaRecordsInfo>>;
    /** In a topic, whose messages hold one record each. */
    readonly recordInfo?: { readonly offset: string; readonly timestamp: string };
  };
  /** In a topic only. */
  readonly payload?: LocalKafkaEvent;
}

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

const infoOf = (records: readonly LocalKafkaRecord[]): KafkaRecordsInfo => {
  const [first, last] = [records[0]!, records.at(-1)!];
  return {
    firstRecordOffset: String(first.offset),
    lastRecordOffset: String(last.offset),
    firstRecordTimestamp: time(first.timestamp),
    lastRecordTimestamp: time(last.timestamp),
  };
};

const batchInfo = (event: LocalKafkaEvent, batchSize: number): KafkaFailureRecord['KafkaBatchInfo'] => ({
  batchSize,
  ...(event.eventSourceArn !== undefined && { eventSourceArn: event.eventSourceArn }),
  bootstrapServers: event.bootstrapServers,
  payloadSize: Buffer.byteLength(JSON.stringify(event)),
});

/** What a queue or a topic of SNS gets. */
export const batchFailure = (
  discarded: Discarded<LocalKafkaRecord>,
  frame: EventFrame,
  functionArn: string,
  now: number,
): KafkaFailureRecord => {
  const { records } = discarded;
  const partitions = Map.groupBy(records, partitionName);
  return {
    ...failureRecord(discarded, functionArn, now),
    KafkaBatchInfo: {
      ...batchInfo(kafkaEventOf(records, frame), records.length),
      recordsInfo: Object.fromEntries([...partitions].map(([name, list]) => [name, infoOf(list)])),
    },
  };
};

/** What a topic of Kafka gets of each record: it and all that is known. */
export const recordFailure = (
  record: LocalKafkaRecord,
  discarded: Discarded<LocalKafkaRecord>,
  frame: EventFrame,
  functionArn: string,
  now: number,
): KafkaFailureRecord => {
  const payload = kafkaEventOf([record], frame);
  return {
    ...failureRecord(discarded, functionArn, now),
    KafkaBatchInfo: {
      ...batchInfo(payload, 1),
      recordInfo: { offset: String(record.offset), timestamp: time(record.timestamp) },
    },
    payload,
  };
};
