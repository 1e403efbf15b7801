import { expect, test } from 'vitest';
import { batchHandler, json, kafkaMessages, sqsMessages, streamChanges } from '../../lib/events/index.js';
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
  [
    'a DynamoDB stream',
    { Records: [stream] },
    ['THING', 'MODIFY', { id: 'a' }, { id: 'a', n: 2 }, { id: 'a', n: 1 }, false],
    '111',
  ],
])('the documented event of %s is read and reported', async (_, event, message, identifier) => {
  expect(await handled(event, false)).toEqual([[message], []]);
  expect(await handled(event, true)).toEqual([[message], [identifier]]);
});
