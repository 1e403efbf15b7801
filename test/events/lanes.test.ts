import { describe, expect, test } from 'vitest';
import {
  BatchFailedError,
  batchHandler,
  json,
  kafkaMessages,
  sqsMessages,
  type BatchContext,
  type BatchEvent,
} from '../../lib/events/index.js';
import { kafkaEvent, silent, sqsEvent, streamEvent, type Change, type Kafka, type Sqs } from './support/events.js';
import { gate, turn } from './support/until.js';

interface Body {
  readonly id: string;
}

/** A handler that tells in which order it was called, and fails for some. */
const recorder = (fails: readonly string[] = [], partialResponses = true) => {
  const seen: string[] = [];
  const handler = batchHandler({
    ...silent,
    partialResponses,
    decode: {
      sqs: sqsMessages(json<Body>()),
      kafka: kafkaMessages({ value: json<Body>() }),
      stream: (record) => ({ source: 'stream' as const, body: { id: record.dynamodb?.SequenceNumber ?? '' } }),
    },
    handle: async ({ body }) => {
      await turn();
      const id = body?.id ?? 'tombstone';
      seen.push(id);
      if (fails.includes(id)) throw new Error('not now');
    },
  });
  return { handler, seen };
};

const failures = async (fails: readonly string[], event: BatchEvent): Promise<unknown[]> => {
  const { batchItemFailures } = await recorder(fails).handler(event);
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
};

const m = (...ids: readonly string[]): Sqs[] => ids.map((id) => ({ id }));
const g = (group: string, ...ids: readonly string[]): Sqs[] => ids.map((id) => ({ id, group }));
const k = (partition: number, key: string | null, ...offsets: readonly number[]): Kafka[] =>
  offsets.map((offset) => ({ partition, key, offset, value: { id: `${partition}-${offset}` } }));
const s = (pk: string, ...sequences: readonly string[]): Change[] => sequences.map((sequence) => ({ pk, sequence }));

describe('failures are reported in the form of', () => {
  test('SQS: the ids of the messages that failed', async () => {
    expect(await failures(['b', 'd'], sqsEvent(...m('a', 'b', 'c', 'd')))).toEqual(['b', 'd']);
  });

  test('a FIFO queue: the failed one and all after it in its group, while other groups go on', async () => {
    const event = sqsEvent(...g('x', 'x1', 'x2'), ...g('y', 'y1'), ...g('x', 'x3'), ...g('y', 'y2'));
    const { handler, seen } = recorder(['x2']);
    const { batchItemFailures } = await handler(event);
    expect(batchItemFailures).toEqual([{ itemIdentifier: 'x2' }, { itemIdentifier: 'x3' }]);
    expect(seen.toSorted()).toEqual(['x1', 'x2', 'y1', 'y2']);
  });

  test('a FIFO queue that is not named: known by its sequence numbers', async () => {
    const { Records } = sqsEvent(...g('x', 'x1', 'x2'), ...g('y', 'y1'));
    const unnamed = Records.map(({ eventSourceARN: _, ...record }) => record);
    expect(await failures(['x1'], { Records: unnamed })).toEqual(['x1', 'x2']);
  });

  test('Kafka: the lowest offset of each partition, as partition and number', async () => {
    const event = kafkaEvent(...k(0, 'a', 15, 17), ...k(0, 'b', 16, 18), ...k(1, 'a', 3), ...k(2, 'a', 9));
    expect(await failures(['0-16', '0-17', '2-9'], event)).toEqual([
      { partition: 'orders-0', offset: 16 },
      { partition: 'orders-2', offset: 9 },
    ]);
  });

  test('Kafka: the lowest offset, though another lane failed first', async () => {
    const event = kafkaEvent(...k(0, 'a', 20), ...k(0, 'b', 3));
    expect(await failures(['0-20', '0-3'], event)).toEqual([{ partition: 'orders-0', offset: 3 }]);
  });

  test('a stream: the lowest sequence number, as integers of any length', async () => {
    const [low, high] = ['999999999999999999999999999999999999999', '1000000000000000000000000000000000000000'];
    expect(await failures([low, high], streamEvent(...s('a', high), ...s('b', low)))).toEqual([low]);
    const near = ['111111111111111111111111111111111111112', '111111111111111111111111111111111111111'] as const;
    expect(await failures(near, streamEvent(...s('a', near[0]), ...s('b', near[1])))).toEqual([near[1]]);
  });

  test('everything, where everything failed', async () => {
    expect(await failures(['a', 'b'], sqsEvent(...m('a', 'b')))).toEqual(['a', 'b']);
  });
});

describe('a lane', () => {
  test('is a message of a standard queue, though it has a group', async () => {
    const event = sqsEvent({ id: 'a' }, { id: 'b' });
    const grouped = event.Records.map((record) => ({ ...record, attributes: { MessageGroupId: 'fair' } }));
    expect(await failures(['a'], { Records: grouped })).toEqual(['a']);
  });

  test('is the whole queue where a FIFO message has no group', async () => {
    const Records = sqsEvent(...g('x', 'a', 'b')).Records.map((record) => ({ ...record, attributes: {} }));
    expect(await failures(['a'], { Records })).toEqual(['a', 'b']);
  });

  test('is a key of a partition: another key, another partition and no key at all go on', async () => {
    const event = kafkaEvent(...k(0, 'a', 1, 2), ...k(0, null, 3, 4), ...k(0, '', 5), ...k(1, 'a', 1));
    const { handler, seen } = recorder(['0-1', '0-3']);
    await handler(event);
    expect(seen.toSorted()).toEqual(['0-1', '0-3', '0-5', '1-1']);
  });

  test('is an item, whatever the order of its key attributes', async () => {
    const event = streamEvent(...s('a', '1', '2'), ...s('b', '3'));
    const [first, second, third] = event.Records;
    const swapped = { ...second, dynamodb: { ...second?.dynamodb, Keys: { sk: { S: 'S' }, pk: { S: 'a' } } } };
    const { handler, seen } = recorder(['1']);
    await handler({ Records: [first!, swapped, third!] });
    expect(seen.toSorted()).toEqual(['1', '3']);
  });

  test.each([
    ['the one that was given', { concurrency: 3 }, 3],
    ['25', {}, 25],
  ])('keeps its order, and shares a bound with the others: %s', async (_, options, bound) => {
    let [running, most] = [0, 0];
    const seen: string[] = [];
    const handler = batchHandler({
      ...silent,
      ...options,
      decode: { sqs: sqsMessages(json<Body>()) },
      handle: async ({ body }) => {
        most = Math.max(most, ++running);
        await turn();
        seen.push(body.id);
        running--;
      },
    });
    const groups = Array.from({ length: 30 }, (_, i) => g(`g${i}`, `${i}-1`, `${i}-2`, `${i}-3`)).flat();
    await handler(sqsEvent(...groups));
    expect(most).toBe(bound);
    for (let i = 0; i < 30; i++) {
      expect(seen.filter((id) => id.startsWith(`${i}-`))).toEqual([`${i}-1`, `${i}-2`, `${i}-3`]);
    }
  });
});

describe('without partial responses', () => {
  test('a batch with failures throws, and one without does not', async () => {
    const { handler } = recorder(['b'], false);
    const error: unknown = await handler(sqsEvent(...m('a', 'b', 'c'))).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BatchFailedError);
    expect((error as BatchFailedError).failed).toBe(1);
    expect((error as BatchFailedError).message).toBe(
      '1 of 3 records were not done, and the mapping was not said to take partial responses: the whole batch must come again.',
    );
    expect(await handler(sqsEvent(...m('a')))).toEqual({ batchItemFailures: [] });
  });
});

describe('near the deadline', () => {
  const within = (left: () => number): BatchContext => ({ getRemainingTimeInMillis: left });

  test('nothing is begun, and what was not done is reported', async () => {
    let left = 10_000;
    const seen: string[] = [];
    const handler = batchHandler({
      ...silent,
      concurrency: 1,
      deadlineMarginMs: 1000,
      partialResponses: true,
      decode: { sqs: sqsMessages(json<Body>()) },
      handle: ({ body }) => {
        seen.push(body.id);
        if (body.id === 'b') left = 900;
      },
    });
    const { batchItemFailures } = await handler(
      sqsEvent(...m('a', 'b', 'c', 'd')),
      within(() => left),
    );
    expect(seen).toEqual(['a', 'b']);
    expect(batchItemFailures).toEqual([{ itemIdentifier: 'c' }, { itemIdentifier: 'd' }]);
  });

  test('what runs is aborted, then given up, and counts as failed though it ends later', async () => {
    const { opened, open } = gate();
    let aborted = false;
    const handler = batchHandler({
      ...silent,
      deadlineMarginMs: 40,
      partialResponses: true,
      decode: { sqs: sqsMessages(json<Body>()) },
      handle: async ({ body }, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        if (body.id === 'slow') await opened;
      },
    });
    const answer = await handler(
      sqsEvent(...m('slow', 'quick')),
      within(() => 60),
    );
    expect(aborted).toBe(true);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'slow' }] });
    open();
    await turn();
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'slow' }] });
  });

  test('a batch that comes with no time left is not begun', async () => {
    const { handler, seen } = recorder();
    const answer = await handler(
      sqsEvent(...g('x', 'a', 'b')),
      within(() => 0),
    );
    expect(seen).toEqual([]);
    expect(answer.batchItemFailures).toHaveLength(2);
  });
});
