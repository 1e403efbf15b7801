import { randomBytes } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ingestHandler } from '../../lambdas/ingest/ingest-handler.js';
import { ingestOptions } from '../../lambdas/ingest/options.js';
import { InvalidInputError } from '../../lib/commands/index.js';
import { batchHandler, json, kafkaMessages, sqsMessages } from '../../lib/events/index.js';
import { readFailureMessage, sqsFailureDestination } from '../../lib/events/targets/sqs/index.js';
import { kafkaEvent, silent, sqsEvent, streamEvent } from '../events/support/events.js';
import { testTable } from '../http/test-table.js';
import { testQueues } from './queues.js';

const decode = { sqs: sqsMessages(json()), kafka: kafkaMessages({ value: json() }), stream: () => undefined };

const failing = async (name = 'failures', maximumBytes?: number) => {
  const queues = await testQueues();
  const queueUrl = await queues.queue(name);
  const failureDestination = sqsFailureDestination({ client: queues.sqs, queueUrl, maximumBytes });
  const handled: unknown[] = [];
  const handler = batchHandler({
    ...{ decode, failureDestination, partialResponses: true, ...silent },
    handle: (message) => void handled.push(message?.body),
  });
  return { handler, handled, failureDestination, received: () => queues.receive(queueUrl) };
};

describe('a poison record', () => {
  test('of SQS is kept whole, with its reason and where it came from, and can be handled again', async () => {
    const { handler, handled, received } = await failing();
    const event = sqsEvent({ id: 'm1', body: '{"broken', headers: { kind: 'new' } }, { id: 'm2', body: { n: 1 } });
    expect(await handler(event)).toEqual({ batchItemFailures: [] });
    expect(handled).toEqual([{ n: 1 }]);
    const [message, ...others] = await received();
    expect(others).toEqual([]);
    expect(message!.MessageAttributes).toMatchObject({
      reason: { StringValue: 'json' },
      source: { StringValue: 'sqs' },
    });
    const failure = readFailureMessage(message!.Body!);
    expect(failure).toMatchObject({
      ...{ source: 'sqs', messageId: 'm1', queueArn: 'arn:aws:sqs:eu-west-1:111122223333:q', reason: 'json' },
      ...{
        message: 'The record can not be handled: it is no JSON.',
        record: event.Records[0],
      },
    });
    expect(failure.failedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
    if (failure.source !== 'sqs') throw new Error('expected one of SQS');
    await handler({ Records: [{ ...failure.record, body: '{"mended":1}' }] });
    expect(handled[1]).toEqual({ mended: 1 });
  });

  test('of Kafka and of a stream names its place', async () => {
    const { handler, failureDestination, received } = await failing();
    const event = kafkaEvent({ offset: 15, partition: 2, key: 'k', value: '{' });
    expect(await handler(event)).toEqual({ batchItemFailures: [] });
    const [record] = streamEvent({ pk: 'a', sequence: '77' }).Records;
    await failureDestination(
      { source: 'stream', reason: 'image', record: record!, error: new Error('no') },
      new AbortController().signal,
    );
    const [kafka, stream] = (await received()).map(({ Body }) => readFailureMessage(Body!));
    expect(kafka).toMatchObject({ source: 'kafka', topic: 'orders', partition: 2, offset: 15, reason: 'json' });
    expect(kafka!.record).toEqual(event.records['orders-2']![0]);
    expect(stream).toMatchObject({ source: 'stream', eventId: '77', sequenceNumber: '77', record });
  });

  test('is kept once in a FIFO queue, however often it comes', async () => {
    const { handler, received } = await failing('failures.fifo');
    const event = kafkaEvent({ offset: 1, key: 'k', value: '{' }, { offset: 2, key: 'k', value: '{' });
    await handler(event);
    await handler(event);
    const messages = await received();
    const offsets = messages.map(({ Body }) => (readFailureMessage(Body!) as { offset: number }).offset);
    expect(offsets).toEqual([1, 2]);
    expect(messages[0]!.Attributes).toMatchObject({ MessageGroupId: 'orders-0' });
  });

  test('is compressed where it is too large, and failed where it is still', async () => {
    const { handler, received } = await failing('failures', 4_000);
    const large = `{${' '.repeat(5_000)}`;
    expect(await handler(sqsEvent({ id: 'm1', body: large }))).toEqual({ batchItemFailures: [] });
    const [message] = await received();
    expect(message!.Body!.length).toBeLessThan(4_000);
    expect(readFailureMessage(message!.Body!).record).toMatchObject({ messageId: 'm1', body: large });
    const noise = randomBytes(5_000).toString('base64');
    expect(await handler(sqsEvent({ id: 'm2', body: noise }))).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm2' }],
    });
    expect(await received()).toEqual([]);
  });

  test('failed where the queue does not take it: nothing is lost', async () => {
    const { sqs, queue } = await testQueues();
    const queueUrl = (await queue('there')).replace('there', 'elsewhere');
    const failureDestination = sqsFailureDestination({ client: sqs, queueUrl });
    const handler = batchHandler({
      ...{ decode, failureDestination, partialResponses: true, ...silent, handle: () => undefined },
    });
    const event = sqsEvent({ id: 'bad', body: '{' }, { id: 'good' });
    expect(await handler(event)).toEqual({ batchItemFailures: [{ itemIdentifier: 'bad' }] });
  });
});

describe('a message that is read', () => {
  const written = { format: 1, source: 'sqs', encoding: 'base64', record: Buffer.from('{}').toString('base64') };
  test.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['no record', JSON.stringify({ ...written, record: undefined })],
    ['a record that is no JSON', JSON.stringify({ ...written, record: 'AAAA' })],
    ['an unknown encoding', JSON.stringify({ ...written, encoding: 'zstd' })],
    ['a record that is not compressed', JSON.stringify({ ...written, encoding: 'gzip+base64' })],
    ['a newer format', JSON.stringify({ ...written, format: 2 })],
  ])('is refused where it is %s', (_, body) => {
    expect(() => readFailureMessage(body)).toThrow(InvalidInputError);
  });
});

test.each([
  ['no queue', { queueUrl: '' }],
  ['a queue that takes nothing', { maximumBytes: 10 }],
  ['no time', { timeoutMs: -1 }],
])('%s is refused', (_, options) => {
  const client = new SQSClient({ region: 'eu-west-1' });
  expect(() => sqsFailureDestination({ client, queueUrl: 'https://queue', ...options })).toThrow(InvalidInputError);
});

describe('the ingest function', () => {
  beforeEach(() => vi.stubEnv('AWS_REGION', 'eu-west-1'));
  afterEach(() => vi.unstubAllEnvs());

  test('sends poison to the queue that its environment names', async () => {
    const { queue, receive } = await testQueues();
    const queueUrl = await queue('failures');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', new URL(queueUrl).origin);
    const { table } = await testTable();
    const options = await ingestOptions({ SAFEWRITES_FAILURE_QUEUE_URL: queueUrl });
    const handler = ingestHandler(table, { ...options, partialResponses: true, ...silent });
    const event = sqsEvent({ id: 'm1', body: { type: 'foul', matchId: 'x' } });
    expect(await handler(event)).toEqual({ batchItemFailures: [] });
    const [message] = await receive(queueUrl);
    expect(readFailureMessage(message!.Body!)).toMatchObject({ messageId: 'm1', reason: 'content' });
  });

  test('takes the lateness from its environment', async () => {
    expect(await ingestOptions({})).toEqual({ latenessDays: undefined });
    expect(await ingestOptions({ SAFEWRITES_LATENESS_DAYS: '7' })).toEqual({ latenessDays: 7 });
    for (const value of ['soon', '-1', '0'])
      await expect(ingestOptions({ SAFEWRITES_LATENESS_DAYS: value })).rejects.toThrow('is no number of days');
  });
});
