import type { Context, DynamoDBStreamEvent, MSKEvent, SQSEvent, SelfManagedKafkaEvent } from 'aws-lambda';
import { expectTypeOf, test } from 'vitest';
import { boolean, entity, integer, string, table, timestamp, toTimestamp, version } from '../../lib/commands/index.js';
import {
  batchHandler,
  bytes,
  json,
  kafkaMessages,
  orderedIngest,
  snsMessages,
  sqsMessages,
  streamChanges,
  type BatchContext,
  type BatchEvent,
  type KafkaMessage,
  type SqsMessage,
  type StreamChange,
} from '../../lib/events/index.js';

const shop = table({ name: 'shop', client: undefined as never });
const attributes = {
  id: string(),
  goals: integer().default(0),
  scorer: string().optional(),
  scoreAt: timestamp().optional(),
  status: string().optional(),
  statusAt: timestamp().optional(),
  gone: boolean().optional(),
  goneAt: timestamp().optional(),
};
const Match = entity('MATCH', { pk: 'MATCH#{id}', sk: 'LIVE', attributes });
const Versioned = entity('V', {
  pk: 'V#{id}',
  sk: 'V',
  attributes: { id: string(), n: integer(), revision: version() },
});
const at = toTimestamp('2026-12-01T00:00:00Z');

const base = {
  table: shop,
  entity: Match,
  groups: {
    score: { version: 'scoreAt', fields: ['goals', 'scorer'] },
    status: { version: 'statusAt', fields: ['status'] },
  },
  decode: { sqs: sqsMessages(json<{ id: string }>()) },
  versionOf: () => at,
} as const;
const deletion = { flag: 'gone', version: 'goneAt', revives: true } as const;
const key = { id: 'a' };

test('events and contexts of Lambda fit', () => {
  expectTypeOf<SQSEvent>().toExtend<BatchEvent>();
  expectTypeOf<MSKEvent>().toExtend<BatchEvent>();
  expectTypeOf<SelfManagedKafkaEvent>().toExtend<BatchEvent>();
  expectTypeOf<DynamoDBStreamEvent>().toExtend<BatchEvent>();
  expectTypeOf<Context>().toExtend<BatchContext>();
});

test('a handler gets what the decoders of its sources give', () => {
  batchHandler({
    decode: {
      sqs: sqsMessages(json<{ a: number }>()),
      kafka: kafkaMessages({ value: (data) => Promise.resolve(data.length), key: bytes() }),
      stream: streamChanges(shop, [Match, Versioned]),
    },
    handle: (message) => {
      expectTypeOf(message).toEqualTypeOf<
        | SqsMessage<{ a: number }>
        | KafkaMessage<number, Uint8Array>
        | StreamChange<typeof Match>
        | StreamChange<typeof Versioned>
      >();
    },
  });
  batchHandler({
    decode: { sqs: snsMessages(json<{ a: number }>()) },
    handle: ({ body, envelope }) => {
      expectTypeOf(body).toEqualTypeOf<{ a: number }>();
      expectTypeOf(envelope.TopicArn).toBeString();
    },
  });
  batchHandler({
    decode: { kafka: kafkaMessages({ value: json<{ a: number }>() }) },
    // @ts-expect-error a tombstone has no body
    handle: ({ body }) => body.a,
  });
});

test('an event replaces its whole group, and says nothing else', () => {
  orderedIngest({ ...base, eventOf: () => ({ key, groups: { score: { goals: 1, scorer: undefined } } }) });
  orderedIngest({ ...base, eventOf: ({ body }) => ({ key: body, groups: { status: { status: 'LIVE' } } }) });
  orderedIngest({ ...base, eventOf: () => undefined });
  // @ts-expect-error a part of a group would leave the rest as it was
  orderedIngest({ ...base, eventOf: () => ({ key, groups: { score: { goals: 1 } } }) });
  // @ts-expect-error no such group
  orderedIngest({ ...base, eventOf: () => ({ key, groups: { other: { goals: 1 } } }) });
  // @ts-expect-error nothing can be added
  orderedIngest({ ...base, eventOf: () => ({ key, add: { goals: 1 } }) });
  // @ts-expect-error nothing is set if it is defined
  orderedIngest({ ...base, eventOf: () => ({ key, setIfDefined: { goals: 1 } }) });
  // @ts-expect-error it is no command
  orderedIngest({ ...base, eventOf: () => shop.of(Match).update(key).add(Match.attrs.goals, 1) });
  // @ts-expect-error it waits for nothing
  orderedIngest({ ...base, eventOf: () => Promise.resolve(undefined) });
  // @ts-expect-error the key is whole
  orderedIngest({ ...base, eventOf: () => ({ key: {}, groups: { status: { status: 'LIVE' } } }) });
});

test('only a state with a deletion takes one', () => {
  orderedIngest({ ...base, deletion, eventOf: () => ({ key, deleted: true as const }) });
  // @ts-expect-error there is none
  orderedIngest({ ...base, eventOf: () => ({ key, deleted: true as const }) });
});

test('a version is of the kind that the groups keep', () => {
  // @ts-expect-error an integer is no timestamp
  orderedIngest({ ...base, versionOf: () => 1, eventOf: () => undefined });
  // @ts-expect-error text has no order
  orderedIngest({ ...base, versionOf: () => 'yesterday', eventOf: () => undefined });
  // @ts-expect-error a key can not be in a group
  orderedIngest({ ...base, groups: { a: { version: 'scoreAt', fields: ['id'] } }, eventOf: () => undefined });
});
