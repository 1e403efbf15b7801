import { createHash } from 'node:crypto';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError, LimitExceededError, transactWrite } from '../../lib/commands/index.js';
import { outboxRelay, type StreamEventRecord } from '../../lib/events/index.js';
import { eventBridgeTarget } from '../../lib/events/targets/eventbridge/index.js';
import { snsTarget } from '../../lib/events/targets/sns/index.js';
import { sqsTarget } from '../../lib/events/targets/sqs/index.js';
import { cloudEventsId, fromSqs } from '../../lib/messaging/index.js';
import { outbox, type Publisher } from '../../lib/recipes/index.js';
import { drainAll } from '../../lib/recipes/index.js';
import { testQueues, type Queues } from './queues.js';
import { relayedEvent } from './relayed-event.js';
import { testShop } from './relay-shop.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** A target with a queue in which its messages arrive. */
const places: Record<string, (queues: Queues, name: string) => Promise<{ target: Publisher; queueUrl: string }>> = {
  SQS: async ({ sqs, queue }, name) => {
    const queueUrl = await queue(name);
    return { target: sqsTarget({ client: sqs, queueUrl }), queueUrl };
  },
  SNS: async ({ sns, topic }, name) => {
    const { topicArn, queueUrl } = await topic(name);
    return { target: snsTarget({ client: sns, topicArn }), queueUrl };
  },
};

describe.each(Object.entries(places))('%s', (_, placeOf) => {
  test('takes an event as a CloudEvent with attributes, whose id survives that it is sent twice', async () => {
    const queues = await testQueues();
    const { target, queueUrl } = await placeOf(queues, 'orders');
    const event = relayedEvent({ traceparent, detail: '{"total":5,"\u00e9":"\uffff"}' });
    expect(await target.publish([event])).toEqual([{ ok: true }]);
    expect(await target.publish([event])).toEqual([{ ok: true }]);
    const messages = await queues.receive(queueUrl);
    expect(messages).toHaveLength(2);
    const [first, second] = messages.map(({ Body = '', MessageAttributes = {} }) => {
      expect(JSON.parse(Body)).toMatchObject({
        id: 'e1',
        subject: 'order:1',
        traceparent,
        data: { total: 5, é: '\uffff' },
      });
      const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
      expect(Object.fromEntries(attributes)).toEqual({
        ...{ id: 'e1', type: 'order.paid', source: 'shop.orders', traceparent },
      });
      return fromSqs({ id: cloudEventsId }).messageOf({ body: Body }).id;
    });
    expect(first).toBe(second);
  });

  test('FIFO keeps the order of an aggregate, and drops what is sent again', async () => {
    const queues = await testQueues();
    const { target, queueUrl } = await placeOf(queues, 'orders.fifo');
    const here = await testShop();
    const events = outbox(here.shop, { source: 'shop' });
    for (let sequence = 1; sequence <= 12; sequence++) {
      for (const aggregate of ['order 1', 'order:2']) {
        const event = { id: `${aggregate.at(-1)}-${sequence}`, type: 'order.changed', detail: { sequence } };
        await transactWrite(here.shop, { event: events.publish({ aggregate, sequence, events: [event] }) });
      }
    }
    const records: StreamEventRecord[] = await here.records();
    const relay = outboxRelay({ table: here.shop, target, partialResponses: true, log: () => undefined });
    expect(await relay({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(await here.left()).toBe(0);
    await target.publish([relayedEvent({ id: '1-12', aggregate: 'order 1' })]);
    const messages = await queues.receive(queueUrl);
    const groups = Map.groupBy(messages, ({ Attributes }) => Attributes?.MessageGroupId);
    const hash = `sha256:${createHash('sha256').update('order 1').digest('hex')}`;
    expect(new Set(groups.keys())).toEqual(new Set(['order:2', hash]));
    for (const ofGroup of groups.values()) {
      const sequences = ofGroup.map(
        ({ Body = '' }) => (JSON.parse(Body) as { data: { sequence: number } }).data.sequence,
      );
      expect(sequences).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }
  });

  test('publishes what waits in batches of ten over all aggregates', async () => {
    const queues = await testQueues();
    const { target, queueUrl } = await placeOf(queues, 'orders');
    const here = await testShop();
    const events = outbox(here.shop, { source: 'shop' });
    for (let i = 0; i < 40; i++)
      await events.publish({ aggregate: `a${i}`, sequence: 1, events: [{ type: 't', detail: { i } }] }).send();
    const sizes: number[] = [];
    const counted: Publisher = {
      ...target,
      publish: (batch) => {
        sizes.push(batch.length);
        return target.publish(batch);
      },
    };
    await drainAll({ table: here.shop, shards: 8 }, counted, { concurrency: 40 });
    expect(sizes.length).toBeLessThanOrEqual(12);
    expect(Math.max(...sizes)).toBe(10);
    expect(await queues.receive(queueUrl)).toHaveLength(40);
  });
});

describe('failures', () => {
  const Failed = [
    { Id: '1', SenderFault: true, Code: 'InvalidMessageContents' },
    { Id: '2', SenderFault: false, Code: 'InternalError' },
    { Id: '3', SenderFault: true, Code: 'KmsAccessDenied' },
  ];
  const expected = [
    { ok: true },
    { ok: false, retryable: false, reason: 'InvalidMessageContents' },
    { ok: false, retryable: true, reason: 'InternalError' },
    { ok: false, retryable: true, reason: 'KmsAccessDenied' },
    { ok: false, retryable: true, reason: 'NoAnswer' },
  ];
  const events = Array.from({ length: 5 }, (_, i) => relayedEvent({ id: `e${i}` }));
  const fake = { Failed, Successful: [{ Id: '0', MessageId: 'm', MD5OfMessageBody: 'x' }] };
  const config = { region: 'eu-west-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

  test('of the entries of SQS are told apart', async () => {
    const client = new SQSClient(config);
    mockClient(client).on(SendMessageBatchCommand).resolves(fake);
    expect(await sqsTarget({ client, queueUrl: 'https://queue' }).publish(events)).toEqual(expected);
  });

  test('of the entries of SNS are told apart', async () => {
    const client = new SNSClient(config);
    mockClient(client).on(PublishBatchCommand).resolves(fake);
    expect(await snsTarget({ client, topicArn: 'arn:topic' }).publish(events)).toEqual(expected);
  });

  test('a queue that is not there fails the request, and counts against no event', async () => {
    const { sqs, queue } = await testQueues();
    const queueUrl = (await queue('there')).replace('there', 'elsewhere');
    await expect(sqsTarget({ client: sqs, queueUrl }).publish(events)).rejects.toThrow('does not exist');
  });

  test('a request that hangs is ended', async () => {
    const client = new SQSClient({
      ...config,
      requestHandler: {
        handle: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
          new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error))),
      } as never,
    });
    await expect(sqsTarget({ client, queueUrl: 'https://queue', timeoutMs: 5 }).publish(events)).rejects.toThrow();
  });
});

describe('sizes', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 });
  const aws = { region: 'eu-west-1' };
  const targets = {
    sqs: sqsTarget({ client: new SQSClient(aws), queueUrl: 'https://queue' }),
    sns: snsTarget({ client: new SNSClient(aws), topicArn: 'arn:topic' }),
    eventbridge: eventBridgeTarget({ client: new EventBridgeClient(aws), eventBusName: 'shop' }),
  };

  test.each(Object.entries(targets))('what the outbox takes for %s, the target takes too', async (name, target) => {
    const { shop } = await testShop();
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.record({ type: text, source: text, aggregate: text, detail: fc.object(), pad: fc.nat(300) }),
        ({ type, source, aggregate, detail, pad }) => {
          const maximumBytes = 1_500;
          const events = outbox(shop, { source: 's', target: { maximumBytes } });
          const sized = { ...detail, pad: '€'.repeat(pad) };
          try {
            void events
              .publish({ aggregate, sequence: 1, traceparent, events: [{ type, source, detail: sized }] })
              .toRequest();
          } catch (error) {
            // Too large, or text that no key takes.
            if (error instanceof LimitExceededError || error instanceof InvalidInputError) return;
            throw error;
          }
          accepted++;
          const event = { id: 'x'.repeat(36), type, source, aggregate, traceparent, detail: JSON.stringify(sized) };
          expect(target.sizeOf!(relayedEvent({ ...event, sequence: 2 ** 53 - 1 })), name).toBeLessThanOrEqual(
            maximumBytes,
          );
        },
      ),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  test('an event over the size that a topic was given is refused without a request', async () => {
    const target = snsTarget({ client: new SNSClient({}), topicArn: 'arn:topic', maximumBytes: 300 });
    const large = relayedEvent({ detail: JSON.stringify({ text: 'x'.repeat(300) }) });
    expect(await target.publish([large])).toEqual([{ ok: false, retryable: false, reason: 'TooLarge' }]);
  });
});

test.each([
  ['no queue', () => sqsTarget({ client: new SQSClient({}), queueUrl: '' })],
  ['a queue of no size', () => sqsTarget({ client: new SQSClient({}), queueUrl: 'https://queue', maximumBytes: 0 })],
  ['no client', () => snsTarget({ client: undefined as never, topicArn: 'arn:topic' })],
  ['no topic', () => snsTarget({ client: new SNSClient({}), topicArn: '' })],
  ['a topic of no size', () => snsTarget({ client: new SNSClient({}), topicArn: 'arn:topic', maximumBytes: NaN })],
])('%s is refused', (_, make) => {
  expect(make).toThrow(InvalidInputError);
});
