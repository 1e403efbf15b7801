import { describe, expect, test } from 'vitest';
import {
  batchHandler,
  bytes,
  eventBridgeMessages,
  json,
  kafkaMessages,
  snsMessages,
  sqsMessages,
  text,
  type KafkaEventRecord,
  type SqsEventRecord,
} from '../../lib/events/index.js';
import { kafkaEvent, kafkaRecord, silent, sqsEvent, sqsRecord } from './support/events.js';
import { reasonOf } from './support/reason.js';

describe('SQS', () => {
  const sqs = sqsMessages(json<unknown>()).decode;

  test('bodies are JSON, text, bytes, or what a function makes of them', async () => {
    const record = sqsRecord({ id: 'm', body: '[1]' });
    expect(await sqs(record)).toMatchObject({ source: 'sqs', body: [1] });
    expect(await sqsMessages(text()).decode(record)).toMatchObject({ body: '[1]' });
    expect(await sqsMessages(bytes()).decode(record)).toMatchObject({ body: Buffer.from('[1]') });
    expect(await sqsMessages((body) => Promise.resolve(body.length)).decode(record)).toMatchObject({ body: 3 });
  });

  test('headers are message attributes of the message itself', async () => {
    const message = await sqs(sqsRecord({ id: 'm', body: '1', headers: { kind: 'new' } }));
    expect([message?.header('kind'), message?.header('none'), message?.header('toString')]).toEqual([
      'new',
      undefined,
      undefined,
    ]);
    const { messageAttributes: _, ...bare } = sqsRecord({ id: 'm', body: '1' });
    expect((await sqs(bare))?.header('kind')).toBeUndefined();
  });

  test('a body that is absent, or no JSON, is poison', async () => {
    expect(await reasonOf(() => sqs(sqsRecord({ id: 'm', body: '{' })))).toBe('json');
    expect(await reasonOf(() => sqs(sqsRecord({ id: 'm', body: '' })))).toBe('json');
    expect(await reasonOf(() => sqs({ messageId: 'm' } as SqsEventRecord))).toBe('body');
    expect(await reasonOf(() => sqs({ messageId: 'm', body: null } as unknown as SqsEventRecord))).toBe('body');
  });
});

describe('SNS', () => {
  const envelope = {
    Type: 'Notification',
    MessageId: 'n-1',
    TopicArn: 'arn:aws:sns:eu-west-1:111122223333:t',
    Message: '{"id":7}',
    Timestamp: '2026-12-01T00:00:00.000Z',
    MessageAttributes: {
      kind: { Type: 'String', Value: 'new' },
      raw: { Type: 'Binary', Value: 'AAA=' },
    },
  };
  const sns = snsMessages(json<{ id: number }>()).decode;

  test('a message is taken from its envelope, with the attributes of the topic', async () => {
    const message = await sns(sqsRecord({ id: 'm', body: envelope, headers: { kind: 'queue', raw: 'q', only: 'o' } }));
    expect(message).toMatchObject({ body: { id: 7 }, envelope: { MessageId: 'n-1' } });
    expect(['kind', 'raw', 'only', 'none'].map((name) => message?.header(name))).toEqual(['new', 'q', 'o', undefined]);
  });

  test.each([
    ['raw message delivery', { id: 7 }],
    ['a confirmation of a subscription', { ...envelope, Type: 'SubscriptionConfirmation' }],
    ['a message that is no text', { ...envelope, Message: {} }],
    ['null', null],
  ])('%s is poison', async (_, body) => {
    expect(await reasonOf(() => sns(sqsRecord({ id: 'm', body: JSON.stringify(body) })))).toBe('envelope');
  });

  test('an envelope without attributes, and one around no JSON', async () => {
    const { MessageAttributes: _, ...bare } = envelope;
    expect((await sns(sqsRecord({ id: 'm', body: bare })))?.header('kind')).toBeUndefined();
    expect(await reasonOf(() => sns(sqsRecord({ id: 'm', body: { ...bare, Message: 'x' } })))).toBe('json');
  });
});

describe('EventBridge', () => {
  const event = { id: 'e', source: 's', 'detail-type': 't', time: '2026-12-01T00:00:00Z', detail: { id: 7 } };
  const { decode } = eventBridgeMessages<{ id: number }>();

  test('an event is the body, whole', async () => {
    expect(await decode(sqsRecord({ id: 'm', body: event }))).toMatchObject({ body: event });
  });

  test.each([[{ id: 7 }], ['x'], [{ ...event, detail: undefined }], [{ ...event, id: 7 }], [[]]])(
    'another body is poison: %#',
    async (body) => {
      expect(await reasonOf(() => decode(sqsRecord({ id: 'm', body: JSON.stringify(body) })))).toBe('envelope');
    },
  );
});

describe('Kafka', () => {
  const kafka = kafkaMessages({ value: json<unknown>() }).decode;
  const record = kafkaRecord({ offset: 7, key: 'k', value: { id: 1 } });

  test('value and key are JSON, text or bytes, or what a schema makes of their bytes', async () => {
    expect(await kafka(record)).toMatchObject({ body: { id: 1 }, key: 'k', topic: 'orders', partition: 0, offset: 7 });
    const asBytes = await kafkaMessages({ value: bytes(), key: bytes() }).decode(record);
    expect([Buffer.from(asBytes!.body!).toString(), Buffer.from(asBytes!.key!).toString()]).toEqual(['{"id":1}', 'k']);
    const schema = kafkaMessages({
      value: (data, { topic }) => Promise.resolve(`${topic}:${data.length}`),
      key: ([first]) => first,
    });
    expect(await schema.decode(record)).toMatchObject({ body: 'orders:8', key: 107 });
  });

  test('a null or absent value is a tombstone, an empty one is not', async () => {
    expect(await kafka(kafkaRecord({ offset: 1, key: 'k', value: null }))).toMatchObject({ body: undefined, key: 'k' });
    expect(await kafka(kafkaRecord({ offset: 1, key: 'k' }))).toMatchObject({ body: undefined, key: 'k' });
    const empty = await kafkaMessages({ value: text() }).decode(kafkaRecord({ offset: 1, value: '' }));
    expect(empty).toMatchObject({ body: '', key: undefined });
    expect(await reasonOf(() => kafka(kafkaRecord({ offset: 1, value: '' })))).toBe('json');
  });

  test('an absent, a null and an empty key', async () => {
    const keys = [undefined, null, ''].map((key) =>
      kafkaRecord({ offset: 1, value: 1, ...(key !== undefined && { key }) }),
    );
    expect(await Promise.all(keys.map(async (one) => (await kafka(one))?.key))).toEqual([undefined, undefined, '']);
  });

  test('headers may have negative bytes, be null, given twice, or absent', async () => {
    const umlaut = [...Buffer.from('ü')].map((byte) => byte - 256);
    const headers = [{ name: [97] }, { name: umlaut }, { none: null }, { empty: [] }];
    const message = await kafka({ ...record, headers });
    expect(['name', 'none', 'empty', 'other'].map((name) => message?.header(name))).toEqual([
      'ü',
      undefined,
      '',
      undefined,
    ]);
    expect([...message!.headerBytes('name')!]).toEqual([0xc3, 0xbc]);
    for (const absent of [null, undefined]) {
      expect((await kafka({ ...record, headers: absent }))?.header('name')).toBeUndefined();
    }
  });

  test.each([
    ['no base64', { value: '*' }, 'encoding'],
    ['a number', { value: 7 }, 'encoding'],
    ['a key that is no base64', { key: 'a b' }, 'encoding'],
    ['no UTF-8', { value: Buffer.from([0xff]).toString('base64') }, 'encoding'],
    ['a key that is no UTF-8', { key: Buffer.from([0xff]).toString('base64') }, 'encoding'],
    ['no JSON', { value: Buffer.from('{').toString('base64') }, 'json'],
  ])('%s is poison', async (_, part, reason) => {
    expect(await reasonOf(() => kafka({ ...record, ...part } as KafkaEventRecord))).toBe(reason);
  });
});

test('what a decoder of the user throws is poison, and not quoted', async () => {
  const found: unknown[] = [];
  const handler = batchHandler({
    ...silent,
    decode: {
      kafka: kafkaMessages({
        value: () => {
          throw new TypeError('bad value: secret');
        },
      }),
      sqs: () => Promise.reject(new Error('secret')),
    },
    handle: () => undefined,
    failureDestination: ({ reason, error }) => void found.push(reason, error.message, error.cause),
  });
  await handler(kafkaEvent({ offset: 1, value: 1 }));
  await handler(sqsEvent({ id: 'm' }));
  const message = 'The record can not be handled: its decoder threw.';
  expect(found).toEqual(['decoder', message, undefined, 'decoder', message, undefined]);
});
