import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../lib/commands/index.js';
import {
  UnreadableMessageError,
  bodyPath,
  cloudEventsId,
  eventBridgeId,
  fromEventBridge,
  fromInvocation,
  fromKafka,
  fromSqs,
  headerId,
  messageId,
} from '../../lib/messaging/index.js';

const sqsRecord = (body: string, more: Partial<SQSRecord> = {}): SQSRecord => ({
  messageId: 'queue-1',
  receiptHandle: 'rh',
  body,
  attributes: {
    ApproximateReceiveCount: '2',
    SentTimestamp: '1796000000000',
    SenderId: 'AIDAX',
    ApproximateFirstReceiveTimestamp: '1796000000050',
  },
  messageAttributes: {},
  md5OfBody: 'x',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:q',
  awsRegion: 'eu-west-1',
  ...more,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const caught = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error');
};

describe('fromSqs', () => {
  it('decodes the body as JSON and takes the identity from it', () => {
    const message = fromSqs<{ order: { id: string } }>({ id: bodyPath('order', 'id') }).messageOf(
      sqsRecord('{"order":{"id":"o-1"}}'),
    );
    expect(message.id).toBe('o-1');
    expect(message.body.order.id).toBe('o-1');
  });

  it('takes the identity from a message attribute', () => {
    const record = sqsRecord('{}', { messageAttributes: { 'message-id': { stringValue: 'h-1', dataType: 'String' } } });
    const message = fromSqs({ id: headerId('message-id') }).messageOf(record);
    expect(message.id).toBe('h-1');
    expect(message.header('toString')).toBeUndefined();
  });

  it("refuses the queue's own id, which a redrive changes", () => {
    const source = fromSqs({ id: ({ body }) => messageId((body as { id: string }).id) });
    const error = caught(() => source.messageOf(sqsRecord('{"id":"queue-1"}')));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as Error).message).toContain("is the queue's own messageId");
  });

  it('takes a decoder of the caller', () => {
    const source = fromSqs({ decode: (text) => ({ id: text.slice(1) }), id: ({ body }) => messageId(body.id) });
    expect(source.messageOf(sqsRecord('xo-2'))).toMatchObject({ id: 'o-2', body: { id: 'o-2' } });
  });

  it.each([
    ['body', '{ "secret": oops'],
    ['identity', '{"secret":"oops"}'],
    ['identity', '{"id":""}'],
    ['identity', '{"id":{}}'],
    ['identity', '{"id":1.5}'],
    ['identity', 'null'],
    ['identity', '"oops"'],
  ])('refuses a record without %s as unreadable, and says nothing of it', (reason, body) => {
    const error = caught(() => fromSqs({ id: bodyPath('id') }).messageOf(sqsRecord(body)));
    expect(error).toBeInstanceOf(UnreadableMessageError);
    expect(error).toMatchObject({ reason });
    expect((error as Error).message).not.toMatch(/oops|secret/);
    expect((error as Error).cause).toBeUndefined();
  });

  it('refuses an identity that is none, also from JavaScript', () => {
    for (const id of [undefined, '', 5, '\ud800']) {
      const source = fromSqs({ id: () => id as never });
      expect(caught(() => source.messageOf(sqsRecord('{}')))).toMatchObject({ reason: 'identity' });
    }
    const throwing = fromSqs({ id: ({ body }) => messageId((body as { a: { b: string } }).a.b) });
    expect(caught(() => throwing.messageOf(sqsRecord('{}')))).toMatchObject({ reason: 'identity' });
    const telling = fromSqs({
      id: ({ body }) => {
        throw new Error(`no id in ${JSON.stringify(body)}`);
      },
    });
    expect((caught(() => telling.messageOf(sqsRecord('{"a":"oops"}'))) as Error).message).not.toContain('oops');
  });

  it('takes a whole number for an identity', () => {
    expect(fromSqs({ id: bodyPath('id') }).messageOf(sqsRecord('{"id":7}')).id).toBe('7');
  });

  it('takes no inherited member for an identity', () => {
    expect(caught(() => fromSqs({ id: bodyPath('constructor', 'name') }).messageOf(sqsRecord('{}')))).toMatchObject({
      reason: 'identity',
    });
  });
});

describe('fromKafka', () => {
  const source = fromKafka<{ id: number }>({ id: headerId('message-id') });

  it('decodes value and headers, negative bytes among them; the last of a name counts', () => {
    const headers = [{ 'message-id': [97] }, { trace: [1] }, { 'message-id': [-61, -68] }];
    const message = source.messageOf({ value: base64('{"id":7}'), headers });
    expect(message.id).toBe('ü');
    expect(message.body).toEqual({ id: 7 });
  });

  it.each([undefined, null])('gives a tombstone as undefined', (value) => {
    expect(source.messageOf({ value, headers: [{ 'message-id': [98] }] }).body).toBeUndefined();
  });

  it('takes records without headers, or with a null one', () => {
    for (const headers of [undefined, null, [], [{ 'message-id': null }]]) {
      expect(caught(() => source.messageOf({ value: base64('{}'), headers }))).toMatchObject({ reason: 'identity' });
    }
  });

  it('refuses an id that is no text, rather than taking two for one', () => {
    for (const last of [130, 200]) {
      const headers = [{ 'message-id': [0, 0, 0, 0, 0, 0, 0, last] }];
      expect(caught(() => source.messageOf({ value: base64('{}'), headers }))).toMatchObject({ reason: 'identity' });
    }
  });

  it.each(['{', '\ufffd{}'])('refuses a value that is no JSON', (text) => {
    expect(caught(() => source.messageOf({ value: base64(text), headers: [] }))).toMatchObject({ reason: 'body' });
    const binary = Buffer.from([0x22, 0xff, 0x22]).toString('base64');
    expect(caught(() => source.messageOf({ value: binary, headers: [] }))).toMatchObject({ reason: 'body' });
  });

  it('hands bytes to a decoder of the caller', () => {
    const bytes = fromKafka({ id: () => messageId('k'), decode: (value) => value?.byteLength });
    expect(bytes.messageOf({ value: base64('abc') }).body).toBe(3);
  });
});

describe('what is no record', () => {
  const sqs = fromSqs({ id: bodyPath('id') });
  const kafka = fromKafka({ id: bodyPath('id') });
  it.each<[string, () => unknown, string]>([
    ['undefined of SQS', () => sqs.messageOf(undefined as never), 'body'],
    ['null of SQS', () => sqs.messageOf(null as never), 'body'],
    ['an SQS record without a body', () => sqs.messageOf({} as never), 'body'],
    ['an SQS record whose body is no text', () => sqs.messageOf({ body: 5 } as never), 'body'],
    [
      'an SQS record with malformed attributes',
      () => fromSqs({ id: headerId('id') }).messageOf({ body: '{}', messageAttributes: { id: null } } as never),
      'identity',
    ],
    [
      'an SQS record whose attribute is no text',
      () =>
        fromSqs({ id: headerId('id') }).messageOf({
          body: '{}',
          messageAttributes: { id: { stringValue: 5 } },
        } as never),
      'identity',
    ],
    ['undefined of Kafka', () => kafka.messageOf(undefined as never), 'identity'],
    ['a Kafka value that is no text', () => kafka.messageOf({ value: 5 } as never), 'body'],
    [
      'Kafka headers of another form',
      () => fromKafka({ id: headerId('id') }).messageOf({ value: null, headers: {} } as never),
      'identity',
    ],
    [
      'a Kafka header of another form',
      () => fromKafka({ id: headerId('id') }).messageOf({ value: null, headers: [null, { id: 'x' }] } as never),
      'identity',
    ],
    ['undefined of an invocation', () => fromInvocation({ id: bodyPath('id') }).messageOf(undefined), 'identity'],
    [
      'an event that holds a function',
      () => fromInvocation({ id: bodyPath('id') }).messageOf({ id: 'a', f: () => 1 }),
      'body',
    ],
  ])('is refused as unreadable: %s', (_what, read, reason) => {
    const error = caught(read);
    expect(error).toBeInstanceOf(UnreadableMessageError);
    expect(error).toMatchObject({ reason });
  });

  it('or no option is refused where the source is made', () => {
    for (const source of [fromSqs, fromKafka, fromInvocation, fromEventBridge] as ((options: unknown) => unknown)[]) {
      expect(caught(() => source(undefined))).toMatchObject({ name: 'InvalidInputError', path: 'id' });
      expect(caught(() => source({ id: 'text' }))).toMatchObject({ path: 'id' });
    }
    expect(caught(() => fromSqs({ id: bodyPath('id'), decode: 'json' as never }))).toMatchObject({ path: 'decode' });
    expect(caught(() => (bodyPath as () => unknown)())).toBeInstanceOf(InvalidInputError);
    expect(caught(() => headerId(''))).toBeInstanceOf(InvalidInputError);
  });
});

describe('identities', () => {
  const event = { version: '0', id: 'e-1', 'detail-type': 'order.placed', source: 'shop', detail: { id: 'o-1' } };

  it('of EventBridge are the id of the envelope, directly and in SQS, or a member of the detail', () => {
    expect(fromEventBridge({ id: eventBridgeId }).messageOf(event).id).toBe('e-1');
    expect(fromSqs({ id: eventBridgeId }).messageOf(sqsRecord(JSON.stringify(event))).id).toBe('e-1');
    expect(fromEventBridge({ id: bodyPath('detail', 'id') }).messageOf(event).id).toBe('o-1');
    expect(caught(() => fromInvocation({ id: eventBridgeId }).messageOf({ id: 'x' }))).toMatchObject({
      reason: 'identity',
    });
  });

  it('of CloudEvents are source and id, structured and binary', () => {
    const source = fromSqs({ id: cloudEventsId });
    const structured = { specversion: '1.0', id: 'c-1', source: '/a', type: 't', data: {} };
    const id = source.messageOf(sqsRecord(JSON.stringify(structured))).id;
    const bytes = (text: string): number[] => [...Buffer.from(text)];
    const kafka = fromKafka({ id: cloudEventsId }).messageOf({
      value: base64('{}'),
      headers: [{ ce_specversion: bytes('1.0') }, { ce_id: bytes('c-1') }, { ce_source: bytes('/a') }],
    });
    expect(kafka.id).toBe(id);
    const other = { ...structured, source: '/b' };
    expect(source.messageOf(sqsRecord(JSON.stringify(other))).id).not.toBe(id);
    expect(caught(() => source.messageOf(sqsRecord('{"id":"c-1","source":"/a"}')))).toMatchObject({
      reason: 'identity',
    });
    expect(caught(() => source.messageOf(sqsRecord('{"specversion":"1.0","id":"c-1"}')))).toMatchObject({
      reason: 'identity',
    });
  });
});
