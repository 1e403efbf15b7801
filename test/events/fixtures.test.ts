import { expect, test } from 'vitest';
import {
  batchHandler,
  eventBridgeMessages,
  json,
  kafkaMessages,
  snsMessages,
  sqsMessages,
  streamChanges,
} from '../../lib/events/index.js';
import { entity, integer, string, table } from '../../lib/commands/index.js';
import { silent } from './support/events.js';

// As the Lambda Developer Guide documents them: with-sqs, with-ddb, with-msk, with-kafka.
const sqs = {
  messageId: 'm-1',
  receiptHandle: 'rh',
  body: '{"id":7}',
  attributes: {
    ApproximateReceiveCount: '2',
    SentTimestamp: '1796000000000',
    SenderId: 'AIDAX',
    ApproximateFirstReceiveTimestamp: '1796000000050',
  },
  messageAttributes: { kind: { stringValue: 'new', dataType: 'String' } },
  md5OfBody: 'x',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:q',
  awsRegion: 'eu-west-1',
};
const fifo = {
  ...sqs,
  attributes: {
    ...sqs.attributes,
    SequenceNumber: '18890000000000000001',
    MessageGroupId: 'g-7',
    MessageDeduplicationId: 'd-7',
  },
  eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:q.fifo',
};
const stream = {
  eventID: 'e1',
  eventName: 'MODIFY' as const,
  eventVersion: '1.1',
  eventSource: 'aws:dynamodb',
  awsRegion: 'eu-west-1',
  dynamodb: {
    ApproximateCreationDateTime: 1_796_000_000,
    Keys: { pk: { S: 'THING#a' }, sk: { S: 'THING' } },
    NewImage: { pk: { S: 'THING#a' }, sk: { S: 'THING' }, _type: { S: 'THING' }, n: { N: '2' } },
    OldImage: { pk: { S: 'THING#a' }, sk: { S: 'THING' }, _type: { S: 'THING' }, n: { N: '1' } },
    SequenceNumber: '111',
    SizeBytes: 18,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
  eventSourceARN: 'arn:aws:dynamodb:eu-west-1:111122223333:table/t/stream/2026-01-01T00:00:00.000',
};
const kafka = {
  topic: 'orders',
  partition: 0,
  offset: 15,
  timestamp: 1_796_000_000_000,
  timestampType: 'CREATE_TIME',
  key: 'aw==',
  value: 'eyJpZCI6N30=',
  headers: [{ trace: [97, 98] }],
};
const msk = {
  eventSource: 'aws:kafka',
  eventSourceArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/c/u',
  bootstrapServers: 'b1:9098,b2:9098',
  records: { 'orders-0': [kafka] },
};
// A queue with fair sharing names a group, which orders nothing; a message that a redrive brought back names its queue.
const fair = {
  ...sqs,
  attributes: {
    ...sqs.attributes,
    MessageGroupId: 'tenant-1',
    AWSTraceHeader: 'Root=1-5759e988-bd862e3fe1be46a994272793',
    DeadLetterQueueSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:q',
  },
};
const { NewImage: _new, OldImage: _old, ...keysOnly } = stream.dynamodb;
const { NewImage: _gone, ...oldImage } = { ...stream.dynamodb, StreamViewType: 'OLD_IMAGE' };
const removed = { ...stream, eventName: 'REMOVE' as const, dynamodb: oldImage };
const expired = { ...removed, userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } };
const { value: _value, ...tombstone } = { ...kafka, headers: [{ trace: [-61, -68] }] };
const { key: _key, ...keyless } = { ...kafka, headers: [] };
const { eventSourceArn: _arn, ...selfManaged } = { ...msk, eventSource: 'SelfManagedKafka' };

const Thing = entity('THING', { pk: 'THING#{id}', sk: 'THING', attributes: { id: string(), n: integer() } });
const shop = table({ name: 'shop', client: { send: () => undefined } as never });

const handled = async (event: object, fails: boolean) => {
  const messages: unknown[] = [];
  const handler = batchHandler({
    ...silent,
    partialResponses: true,
    decode: {
      sqs: sqsMessages(json<{ id: number }>()),
      kafka: kafkaMessages({ value: json<{ id: number }>() }),
      stream: streamChanges(shop, [Thing]),
    },
    handle: (message) => {
      messages.push(
        message.source === 'stream'
          ? [message.type, message.kind, message.key, message.newItem, message.oldItem, message.expired]
          : [message.body, message.header(message.source === 'sqs' ? 'kind' : 'trace')],
      );
      if (fails) throw new Error('not now');
    },
  });
  const { batchItemFailures } = await handler(event as never);
  return [messages, batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)];
};

test.each([
  ['SQS', { Records: [sqs] }, [{ id: 7 }, 'new'], 'm-1'],
  ['SQS FIFO', { Records: [fifo] }, [{ id: 7 }, 'new'], 'm-1'],
  ['MSK', msk, [{ id: 7 }, 'ab'], { partition: 'orders-0', offset: 15 }],
  ['self-managed Kafka', selfManaged, [{ id: 7 }, 'ab'], { partition: 'orders-0', offset: 15 }],
  ['a fair queue of SQS', { Records: [fair] }, [{ id: 7 }, 'new'], 'm-1'],
  [
    'Kafka with a tombstone',
    { ...msk, records: { 'orders-0': [tombstone] } },
    [undefined, 'ü'],
    { partition: 'orders-0', offset: 15 },
  ],
  [
    'Kafka with a null value',
    { ...msk, records: { 'orders-0': [{ ...tombstone, value: null }] } },
    [undefined, 'ü'],
    { partition: 'orders-0', offset: 15 },
  ],
  [
    'Kafka without key and headers',
    { ...msk, records: { 'orders-0': [keyless] } },
    [{ id: 7 }, undefined],
    { partition: 'orders-0', offset: 15 },
  ],
  [
    'a DynamoDB stream',
    { Records: [stream] },
    ['THING', 'MODIFY', { id: 'a' }, { id: 'a', n: 2 }, { id: 'a', n: 1 }, false],
    '111',
  ],
  [
    'a stream of keys only',
    { Records: [{ ...stream, dynamodb: { ...keysOnly, StreamViewType: 'KEYS_ONLY' } }] },
    ['THING', 'MODIFY', { id: 'a' }, undefined, undefined, false],
    '111',
  ],
  [
    'a removal, of old images',
    { Records: [removed] },
    ['THING', 'REMOVE', { id: 'a' }, undefined, { id: 'a', n: 1 }, false],
    '111',
  ],
  [
    'a removal by time to live',
    { Records: [expired] },
    ['THING', 'REMOVE', { id: 'a' }, undefined, { id: 'a', n: 1 }, true],
    '111',
  ],
])('the documented event of %s is read and reported', async (_, event, message, identifier) => {
  expect(await handled(event, false)).toEqual([[message], []]);
  expect(await handled(event, true)).toEqual([[message], [identifier]]);
});

// As the SNS and EventBridge guides document what they send to a queue.
const notification = {
  Type: 'Notification',
  MessageId: 'b4a7c4f0-3f0a-5f3e-8a5f-1f0d2f3a4b5c',
  TopicArn: 'arn:aws:sns:eu-west-1:111122223333:orders',
  Subject: 'an order',
  Message: '{"id":7}',
  Timestamp: '2026-12-01T20:40:00.123Z',
  SignatureVersion: '1',
  Signature: 'c2lnbmF0dXJl',
  SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
  UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=arn',
  MessageAttributes: { kind: { Type: 'String', Value: 'new' } },
};
const ordered = {
  ...{ Type: 'Notification', MessageId: notification.MessageId, SequenceNumber: '10000000000000003000' },
  ...{ TopicArn: `${notification.TopicArn}.fifo`, Message: '{"id":7}', Timestamp: notification.Timestamp },
  ...{ UnsubscribeURL: notification.UnsubscribeURL, MessageAttributes: notification.MessageAttributes },
};
const busEvent = {
  version: '0',
  id: '6a7e8feb-b491-4cf7-a9f1-bf3703467718',
  'detail-type': 'order.paid',
  source: 'shop.orders',
  account: '111122223333',
  time: '2026-12-01T20:40:00Z',
  region: 'eu-west-1',
  resources: [],
  detail: { id: 7 },
};

test.each([
  ['SNS', notification],
  ['SNS FIFO, unsigned', ordered],
])('the documented notification of %s is read', async (_, envelope) => {
  const { decode } = snsMessages(json<{ id: number }>());
  const message = await decode({ ...sqs, messageAttributes: {}, body: JSON.stringify(envelope) });
  expect([message?.body, message?.header('kind'), message?.envelope]).toEqual([{ id: 7 }, 'new', envelope]);
});

test('the documented event of EventBridge is read', async () => {
  const message = await eventBridgeMessages<{ id: number }>().decode({ ...sqs, body: JSON.stringify(busEvent) });
  expect(message?.body).toEqual(busEvent);
});
