import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entity, integer, oneOf, string } from '../../lib/commands/index.js';
import {
  batchHandler,
  bytes,
  changeRelay,
  eventBridgeMessages,
  json,
  kafkaMessages,
  outboxRelay,
  snsMessages,
  sqsMessages,
  streamChanges,
  text,
  type BatchResponse,
} from '../../lib/events/index.js';
import {
  bodyPath,
  cloudEventsId,
  eventBridgeId,
  fromEventBridge,
  fromKafka,
  fromSqs,
  headerId,
  messageHandler,
} from '../../lib/messaging/index.js';
import { kafkaEvent, sqsEvent, streamEvent } from '../events/support/events.js';
import { matchIngest } from '../events/support/matches.js';
import { target } from '../recipes/outbox/relay-target.js';
import { hostileShop } from './hostile-shop.js';
import { expectNoSecret, expectRefusal, mutated } from './hostile-values.js';

const Order = entity('ORDER', {
  pk: 'ORDER#{id}',
  sk: 'ORDER',
  attributes: { id: string(), status: oneOf('OPEN', 'PAID'), total: integer().default(0) },
});

const here = hostileShop();

const image = {
  pk: { S: 'ORDER#a' },
  sk: { S: 'ORDER' },
  _type: { S: 'ORDER' },
  id: { S: 'a' },
  status: { S: 'PAID' },
};
const outboxKeys = { pk: { S: 'OUTBOX#0' }, sk: { S: 'a#0000000000000001' } };
const [wakeUp] = streamEvent({ pk: 'x', sequence: '7', kind: 'INSERT' }).Records;
const goods: Record<string, unknown> = {
  SQS: sqsEvent({ id: 'a', body: { id: 'm', goals: 1, at: 1 }, headers: { key: 'k', 'message-id': 'i' } }, { id: 'b' }),
  'SQS FIFO': sqsEvent(
    { id: 'a', body: { goals: 1, at: 1 }, group: 'g', headers: { key: 'k' } },
    { id: 'b', group: 'g' },
  ),
  'SNS by SQS': sqsEvent({
    id: 'a',
    body: {
      ...{ Type: 'Notification', MessageId: 'm', TopicArn: 't', Message: '{"goals":1,"at":1}' },
      MessageAttributes: { key: { Type: 'String', Value: 'k' } },
    },
  }),
  'EventBridge by SQS': sqsEvent({
    id: 'a',
    body: { id: 'e', source: 's', 'detail-type': 't', time: '2026-12-01T00:00:00Z', detail: { goals: 1 } },
  }),
  Kafka: kafkaEvent(
    { offset: 1, key: 'k', value: { id: 'm', goals: 1, at: 1 }, headers: { key: 'k', 'message-id': 'i' } },
    { offset: 2, key: null, value: null },
    { offset: 3, partition: 1, key: 'k', value: 'x' },
  ),
  'a stream': streamEvent(
    { pk: 'ORDER#a', sequence: '1', newImage: image, oldImage: image },
    { pk: 'b', sequence: '2' },
  ),
  "the outbox's stream": { Records: [{ ...wakeUp, dynamodb: { ...wakeUp?.dynamodb, Keys: outboxKeys } }] },
  'a schedule': {
    ...{ version: '0', id: 'i', 'detail-type': 'Scheduled Event', source: 'aws.events', account: '1' },
    ...{ time: '2026-12-01T00:00:00Z', region: 'eu-west-1', resources: ['arn:aws:events:x:1:rule/r'], detail: {} },
  },
};

/** Looks at a message as a handler does, which must not be more dangerous than decoding it. */
const touch = (message: unknown): void => {
  const { header, headerBytes } = message as Record<string, ((name: string) => unknown) | undefined>;
  for (const name of ['key', 'constructor', '__proto__']) {
    header?.(name);
    headerBytes?.(name);
  }
};

type Handler = (event: never) => Promise<BatchResponse>;
const lines: unknown[] = [];
const log = (line: unknown): void => void lines.push(line);
const settings = {
  log,
  partialResponses: true,
  failureDestination: ({ error }: { error: Error }) => expectRefusal(error),
};

const handlers: Record<string, () => Handler> = {
  batchHandler: () =>
    batchHandler({
      ...settings,
      decode: {
        sqs: sqsMessages(json()),
        kafka: kafkaMessages({ value: json(), key: bytes() }),
        stream: streamChanges(here.shop, [Order]),
      },
      handle: touch,
    }),
  'batchHandler of SNS': () =>
    batchHandler({
      ...settings,
      decode: { sqs: snsMessages(text()), kafka: kafkaMessages({ value: text() }), stream: (record) => record },
      handle: touch,
    }),
  'batchHandler of EventBridge': () =>
    batchHandler({ ...settings, decode: { sqs: eventBridgeMessages() }, handle: touch }),
  orderedIngest: () => {
    const ingest = matchIngest(here.shop, { failureDestination: settings.failureDestination });
    return async (event) => {
      const answer = await ingest.handler(event);
      expectNoSecret(...ingest.lines.splice(0));
      return answer;
    };
  },
  outboxRelay: () => outboxRelay({ ...settings, table: here.shop, target: target() }),
  changeRelay: () =>
    changeRelay({
      ...settings,
      ...{ table: here.shop, entities: [Order], source: 'shop', target: target() },
      map: ({ newItem }: { newItem?: { total: number } }) =>
        newItem && { type: 'order.paid', detail: { total: newItem.total } },
    } as never),
};

/** What a source takes as an answer: places of records, in its own form. */
const checkAnswer = (answer: BatchResponse): void => {
  for (const { itemIdentifier: place } of answer.batchItemFailures) {
    if (typeof place === 'string') expect(place).not.toBe('');
    else expect(Number.isSafeInteger(place.offset)).toBe(true);
  }
};

describe.each(Object.keys(goods))('an event of %s with hostile parts', (source) => {
  it.each(Object.keys(handlers))('is handled, or refused by an error of the kit, by %s', async (name) => {
    const handler = handlers[name]!();
    await fc.assert(
      fc.asyncProperty(mutated(goods[source]), async (event) => {
        try {
          checkAnswer(await handler(event as never));
        } catch (error) {
          expectRefusal(error);
        }
        expectNoSecret(...lines.splice(0));
      }),
      { numRuns: 60 },
    );
  });

  it('is a message, or unreadable', async () => {
    const sources = [
      fromSqs({ id: bodyPath('id') }),
      fromSqs({ id: headerId('message-id') }),
      fromKafka({ id: headerId('message-id') }),
      fromKafka({ id: cloudEventsId }),
      fromEventBridge({ id: eventBridgeId }),
    ];
    const records = (event: unknown): unknown[] => {
      const { Records, records: partitions } = (event ?? {}) as { Records?: unknown; records?: unknown };
      const list = Array.isArray(Records)
        ? (Records as unknown[])
        : Object.values((partitions ?? {}) as Record<string, unknown[]>).flat();
      return [event, ...list];
    };
    const handler = messageHandler({
      table: here.shop,
      consumer: 'hostile',
      from: fromSqs({ id: bodyPath('id') }),
      handle: () => undefined,
    });
    await fc.assert(
      fc.asyncProperty(mutated(goods[source]), async (event) => {
        for (const record of records(event)) {
          for (const from of sources) {
            try {
              from.messageOf(record as never);
            } catch (error) {
              expectRefusal(error);
            }
          }
          await handler(record as never).catch(expectRefusal);
        }
      }),
      { numRuns: 40 },
    );
  });
});
