import type { KafkaEvent, KafkaEventRecord, SqsEvent, SqsEventRecord } from '../../../lib/events/index.js';
import type { StreamEvent, StreamEventRecord, StreamImage } from '../../../lib/events/index.js';

/** What a test says of a message of a queue. */
export interface Sqs {
  readonly id: string;
  readonly body?: unknown;
  /** Makes the queue FIFO. */
  readonly group?: string;
  readonly receives?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

let sequence = 18_890_000_000_000_000_001n;

export const sqsRecord = ({ id, body, group, receives = 1, headers = {} }: Sqs): SqsEventRecord => ({
  messageId: id,
  body: typeof body === 'string' ? body : JSON.stringify(body ?? { id }),
  attributes: {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: '1796000000000',
    ...(group !== undefined && { MessageGroupId: group, SequenceNumber: String(sequence++) }),
  },
  messageAttributes: Object.fromEntries(
    Object.entries(headers).map(([name, stringValue]) => [name, { stringValue, dataType: 'String' }]),
  ),
  eventSource: 'aws:sqs',
  eventSourceARN: `arn:aws:sqs:eu-west-1:111122223333:q${group === undefined ? '' : '.fifo'}`,
});

export const sqsEvent = (...messages: readonly Sqs[]): SqsEvent => ({ Records: messages.map(sqsRecord) });

/** What a test says of a record of a topic; null is absent for Kafka. */
export interface Kafka {
  readonly offset: number;
  readonly partition?: number;
  readonly key?: string | null;
  readonly value?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const kafkaRecord = ({ offset, partition = 0, key, value, headers = {} }: Kafka): KafkaEventRecord => ({
  topic: 'orders',
  partition,
  offset,
  timestamp: 1_796_000_000_000,
  timestampType: 'CREATE_TIME',
  ...(key !== undefined && { key: key === null ? null : base64(key) }),
  ...(value !== undefined && {
    value: value === null ? null : base64(typeof value === 'string' ? value : JSON.stringify(value)),
  }),
  headers: Object.entries(headers).map(([name, text]) => ({ [name]: [...Buffer.from(text)] })),
});

export const kafkaEvent = (...list: readonly Kafka[]): KafkaEvent => {
  const records: Record<string, KafkaEventRecord[]> = {};
  for (const one of list) (records[`orders-${one.partition ?? 0}`] ??= []).push(kafkaRecord(one));
  return { eventSource: 'aws:kafka', records };
};

/** What a test says of a change of an item. */
export interface Change {
  readonly pk: string;
  readonly sequence: string;
  readonly kind?: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly newImage?: StreamImage;
  readonly oldImage?: StreamImage;
}

export const streamRecord = ({ pk, sequence, kind = 'MODIFY', newImage, oldImage }: Change): StreamEventRecord => ({
  eventID: sequence,
  eventName: kind,
  eventSource: 'aws:dynamodb',
  dynamodb: {
    ApproximateCreationDateTime: 1_796_000_000,
    Keys: { pk: { S: pk }, sk: { S: 'S' } },
    ...(newImage && { NewImage: newImage }),
    ...(oldImage && { OldImage: oldImage }),
    SequenceNumber: sequence,
  },
});

export const streamEvent = (...list: readonly Change[]): StreamEvent => ({ Records: list.map(streamRecord) });

/** Swallows the line of a batch. */
export const silent = { log: () => undefined } as const;
