import { describe, expect, test } from 'vitest';
import {
  PoisonRecordError,
  batchHandler,
  json,
  kafkaMessages,
  sqsMessages,
  type BatchEvent,
  type BatchLine,
  type BatchOptions,
  type PoisonRecord,
} from '../../lib/events/index.js';
import { kafkaEvent, sqsEvent } from './support/events.js';

const run = async (event: BatchEvent, options: BatchOptions & { refuse?: string } = {}) => {
  const seen: string[] = [];
  const aside: PoisonRecord[] = [];
  const lines: BatchLine[] = [];
  const handler = batchHandler({
    partialResponses: true,
    failureDestination: (poison) => void aside.push(poison),
    ...options,
    log: (line) => lines.push(line),
    decode: { sqs: sqsMessages(json<{ id: string }>()), kafka: kafkaMessages({ value: json<{ id: string }>() }) },
    handle: ({ body }) => {
      seen.push(body?.id ?? '');
      if (body?.id === options.refuse) throw new PoisonRecordError('content', 'it makes no sense');
    },
  });
  const { batchItemFailures } = await handler(event);
  const failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return { seen, aside, failed, line: lines[0] };
};
const fifo = sqsEvent({ id: 'a', group: 'g' }, { id: 'b', group: 'g', body: '{' }, { id: 'c', group: 'g' });

describe('a record that can not be decoded', () => {
  test('goes to the failure destination at once with its reason, and those behind it go on', async () => {
    const { seen, aside, failed, line } = await run(fifo);
    expect(seen).toEqual(['a', 'c']);
    expect(aside).toHaveLength(1);
    expect(aside[0]).toMatchObject({ source: 'sqs', reason: 'json', record: fifo.Records[1] });
    expect(failed).toEqual([]);
    expect(line).toMatchObject({ level: 'WARN', done: 2, poison: 1, poisonReasons: { json: 1 }, source: 'sqs-fifo' });
  });

  test('of Kafka does not block its key either', async () => {
    const event = kafkaEvent({ offset: 1, key: 'k', value: '{' }, { offset: 2, key: 'k', value: { id: 'x' } });
    const { seen, aside, failed } = await run(event);
    expect([seen, aside.map(({ reason }) => reason), failed]).toEqual([['x'], ['json'], []]);
  });

  test('failed where the destination fails', async () => {
    const failureDestination = () => Promise.reject(new Error('no such queue'));
    const { seen, failed, line } = await run(fifo, { failureDestination });
    expect([seen, failed]).toEqual([['a'], ['b', 'c']]);
    expect(line).toMatchObject({ level: 'ERROR', done: 1, poison: 0, failed: 1, unfinished: 1 });
    const throws = (): void => {
      throw new Error('no such queue');
    };
    expect((await run(fifo, { failureDestination: throws })).failed).toEqual(['b', 'c']);
  });

  test('failed where there is no destination', async () => {
    expect((await run(fifo, { failureDestination: undefined })).failed).toEqual(['b', 'c']);
  });

  test('is handed over before it is acknowledged', async () => {
    let done = false;
    const failureDestination = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done = true;
    };
    await run(fifo, { failureDestination });
    expect(done).toBe(true);
  });
});

test('in SQS a poison may wait for so many receives; a count that is missing is not waited for', async () => {
  const at = (receives: number) => run(sqsEvent({ id: 'b', body: '{', receives }), { poisonAfterReceives: 3 });
  expect((await at(2)).failed).toEqual(['b']);
  expect((await at(2)).aside).toEqual([]);
  expect((await at(3)).failed).toEqual([]);
  expect((await at(3)).aside).toHaveLength(1);
  const Records = sqsEvent({ id: 'b', body: '{' }).Records.map(({ attributes: _, ...record }) => record);
  expect((await run({ Records }, { poisonAfterReceives: 3 })).aside).toHaveLength(1);
  const kafka = await run(kafkaEvent({ offset: 1, value: '{' }), { poisonAfterReceives: 3 });
  expect(kafka.aside).toHaveLength(1);
});

test('a handler may find a record to be poison', async () => {
  const { aside, failed } = await run(sqsEvent({ id: 'a' }, { id: 'b' }), { refuse: 'a' });
  expect(aside).toMatchObject([{ reason: 'content', error: { name: 'PoisonRecordError' } }]);
  expect(failed).toEqual([]);
});

test('a line tells no payload, whatever was thrown', async () => {
  const lines: BatchLine[] = [];
  const handler = batchHandler({
    partialResponses: true,
    log: (line) => lines.push(line),
    decode: { sqs: sqsMessages(json<{ id: string }>()) },
    handle: ({ body }) => {
      if (body.id === 'secret-1') throw new TypeError(`no such thing: ${body.id}`);
      if (body.id === 'secret-2') throw Object.assign(new Error('x'), { name: `Error of ${body.id}` });
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- some code does
      throw body.id;
    },
  });
  await handler(sqsEvent(...['secret-1', 'secret-2', 'secret-3', 'secret-1'].map((id) => ({ id }))));
  expect(JSON.stringify(lines)).not.toContain('secret');
  expect(lines[0]?.errors.map(({ name, count }) => [name, count])).toEqual([
    ['TypeError', 2],
    ['Error', 1],
    ['string', 1],
  ]);
  expect(lines[0]?.errors[0]?.at?.[0]).toContain('poison.test.ts');
});
