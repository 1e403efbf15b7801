import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  kafkaSource,
  type KafkaFailureRecord,
  type KafkaSourceOptions,
  type LocalKafkaEvent,
} from '../../../lib/local/index.js';
import { brokers, committed, missing, newTopic, produce } from './kafka.js';

type Source = Awaited<ReturnType<typeof kafkaSource>>;

const open: Source[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((source) => source.stop()));
});

const text = (value: string | null | undefined): string | null | undefined =>
  typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value;

/** Where the records of an event are, and what they say. */
const seen = ({ records }: LocalKafkaEvent) =>
  Object.entries(records).map(([partition, list]): [partition: number, values: unknown[]] => [
    Number(partition.slice(partition.lastIndexOf('-') + 1)),
    list.map(({ value }) => text(value)),
  ]);

const source = async (
  options: Partial<KafkaSourceOptions> & Pick<KafkaSourceOptions, 'topic' | 'handler'>,
): Promise<Source> => {
  const made = await kafkaSource({
    brokers,
    consumerGroupId: `${options.topic}-group`,
    maximumBatchingWindowInSeconds: 0,
    sessionTimeoutMs: 1000,
    ...options,
  });
  open.push(made);
  return made;
};

/** Drains until it has called the function so often, past the pauses before retries. */
const drain = async (made: Source, calls: number): Promise<void> => {
  for (let done = 0; done < calls;) {
    done += await made.drain();
    if (done < calls) await pause(50);
  }
};

/** A clock that jumps to the next retry whenever it is asked. */
const eager = () => {
  let ahead = 0;
  return { clock: () => Date.now() + (ahead += 500), since: () => ahead };
};

describe.skipIf(missing !== undefined)('a Kafka mapping', () => {
  test('gives records as Lambda does', async () => {
    const topic = await newTopic(1);
    await produce(topic, [
      { key: 'k', value: 'v', timestamp: 1_796_000_000_000, headers: { h: new Uint8Array([1, 255, 128]), '': 'x' } },
      { key: '', value: '' },
      { key: 'gone' },
      { value: 'no key' },
    ]);
    const events: LocalKafkaEvent[] = [];
    const reports: unknown[] = [];
    const handler = (event: LocalKafkaEvent) => void events.push(event);
    const made = await source({ topic, handler, onCall: ({ records, failed }) => reports.push({ records, failed }) });
    expect(await made.drain()).toBe(1);
    expect(reports).toEqual([{ records: 4, failed: 0 }]);
    const now = expect.closeTo(Date.now(), -5) as number;
    expect(events).toEqual([
      {
        eventSource: 'SelfManagedKafka',
        bootstrapServers: brokers.join(','),
        records: {
          [`${topic}-0`]: [
            {
              ...{ topic, partition: 0, offset: 0, timestamp: 1_796_000_000_000, timestampType: 'CREATE_TIME' },
              ...{ key: 'aw==', value: 'dg==', headers: [{ h: [1, -1, -128] }, { '': [120] }] },
            },
            {
              ...{ topic, partition: 0, offset: 1, timestamp: now, timestampType: 'CREATE_TIME' },
              ...{ key: '', value: '', headers: [] },
            },
            {
              ...{ topic, partition: 0, offset: 2, timestamp: now, timestampType: 'CREATE_TIME' },
              ...{ key: 'Z29uZQ==', value: null, headers: [] },
            },
            {
              ...{ topic, partition: 0, offset: 3, timestamp: now, timestampType: 'CREATE_TIME' },
              ...{ value: 'bm8ga2V5', headers: [] },
            },
          ],
        },
      },
    ]);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 4 });
  });

  test('names the cluster of MSK, and tells the time of the log from that of the producer', async () => {
    const topic = await newTopic(1, { 'message.timestamp.type': 'LogAppendTime' });
    await produce(topic, [{ value: 'v', timestamp: 1000 }]);
    let event: LocalKafkaEvent | undefined;
    const eventSourceArn = 'arn:aws:kafka:us-east-1:000000000000:cluster/c/1';
    const made = await source({ topic, eventSourceArn, handler: (given: LocalKafkaEvent) => void (event = given) });
    await made.drain();
    expect(event).toMatchObject({ eventSource: 'aws:kafka', eventSourceArn });
    const [record] = event!.records[`${topic}-0`]!;
    expect(record).toMatchObject({ timestampType: 'LOG_APPEND_TIME' });
    expect(record!.timestamp).toBeGreaterThan(1_700_000_000_000);
  });

  test('fills batches up to their size, over partitions, each in its order', async () => {
    const topic = await newTopic(2);
    await produce(
      topic,
      Array.from({ length: 25 }, (_, i) => ({ partition: i % 2, value: String(i) })),
    );
    const batches: ReturnType<typeof seen>[] = [];
    const made = await source({
      topic,
      batchSize: 10,
      maximumBatchingWindowInSeconds: 1,
      handler: (event: LocalKafkaEvent) => void batches.push(seen(event)),
    });
    await drain(made, 3);
    const sizes = batches.map((batch) => batch.reduce((sum, [, list]) => sum + list.length, 0));
    expect(sizes).toEqual([10, 10, 5]);
    for (const partition of [0, 1]) {
      const values = batches.flatMap((batch) => batch.flatMap(([p, list]) => (p === partition ? list : [])));
      expect(values).toEqual(
        Array.from({ length: 25 }, (_, i) => i)
          .filter((i) => i % 2 === partition)
          .map(String),
      );
    }
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 13, 1: 12 });
  });

  test('gathers for the window', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'a' }]);
    const batches: unknown[] = [];
    let now = 1_000_000;
    const made = await source({
      topic,
      clock: () => now,
      maximumBatchingWindowInSeconds: 300,
      handler: (event: LocalKafkaEvent) => void batches.push(seen(event)),
    });
    expect(await made.drain()).toBe(0);
    await produce(topic, [{ value: 'b' }]);
    expect(await made.drain()).toBe(0);
    now = made.nextDue()!;
    expect(now).toBe(1_300_000);
    expect(await made.drain()).toBe(1);
    expect(batches).toEqual([[[0, ['a', 'b']]]]);
  });

  test('begins where it is told, and after a restart where it ended', async () => {
    const topic = await newTopic(1);
    const old = Date.UTC(2026, 0, 1);
    await produce(topic, [
      { value: 'a', timestamp: old },
      { value: 'b', timestamp: old + 1000 },
      { value: 'c', timestamp: old + 2000 },
    ]);
    const values: Record<string, unknown[]> = {};
    const positions = {
      horizon: { startingPosition: 'TRIM_HORIZON' },
      latest: { startingPosition: 'LATEST' },
      timestamp: { startingPosition: 'AT_TIMESTAMP', startingPositionTimestamp: new Date(old + 500) },
      future: { startingPosition: 'AT_TIMESTAMP', startingPositionTimestamp: new Date(old + 9000) },
    } as const;
    const run = async (name: keyof typeof positions): Promise<void> => {
      const made = await source({
        ...{ topic, consumerGroupId: `${topic}-${name}`, ...positions[name] },
        handler: (event: LocalKafkaEvent) => void (values[name] ??= []).push(...seen(event)[0]![1]),
      });
      await made.drain();
      await made.stop();
    };
    const all = Object.keys(positions) as (keyof typeof positions)[];
    await Promise.all(all.map(run));
    // While nobody polls.
    await produce(topic, [{ value: 'd', timestamp: old + 3000 }]);
    await Promise.all(all.map(run));
    expect(values).toEqual({
      horizon: ['a', 'b', 'c', 'd'],
      latest: ['d'],
      timestamp: ['b', 'c', 'd'],
      future: ['d'],
    });
  });

  test('tries a batch again until the function does not throw, before anything newer', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'a' }, { value: 'b' }]);
    const batches: unknown[] = [];
    const at: unknown[] = [];
    const made = await source({
      topic,
      clock: eager().clock,
      handler: async (event: LocalKafkaEvent) => {
        batches.push(seen(event)[0]![1]);
        if (batches.length === 1) await produce(topic, [{ value: 'newer' }]);
        at.push(await committed(topic, `${topic}-group`));
        if (batches.length < 3) throw new Error('not yet');
      },
    });
    await drain(made, 4);
    expect(batches).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['newer']]);
    expect(at).toEqual([{}, {}, {}, { 0: 2 }]);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 3 });
  });

  test('takes each partition from its lowest reported offset on, and commits what is before it', async () => {
    const topic = await newTopic(2);
    await produce(
      topic,
      [0, 1].flatMap((partition) => ['a', 'b', 'c'].map((value) => ({ partition, value }))),
    );
    const batches: unknown[] = [];
    const at: unknown[] = [];
    const made = await source({
      topic,
      clock: eager().clock,
      reportBatchItemFailures: true,
      handler: async (event: LocalKafkaEvent) => {
        batches.push(Object.fromEntries(seen(event)));
        at.push(await committed(topic, `${topic}-group`));
        const failures = batches.length === 1 ? [2, 1] : [];
        return {
          batchItemFailures: failures.map((offset) => ({ itemIdentifier: { partition: `${topic}-1`, offset } })),
        };
      },
    });
    await drain(made, 2);
    expect(batches).toEqual([{ 0: ['a', 'b', 'c'], 1: ['a', 'b', 'c'] }, { 1: ['b', 'c'] }]);
    expect(at).toEqual([{}, { 0: 3, 1: 1 }]);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 3, 1: 3 });
  });

  test('ignores a report where it is not told to read one', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'a' }]);
    const made = await source({
      topic,
      handler: () => ({ batchItemFailures: [{ itemIdentifier: { partition: `${topic}-0`, offset: 0 } }] }),
    });
    expect(await made.drain()).toBe(1);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 1 });
  });

  test('splits a batch that throws, and gives up alone what keeps failing', async () => {
    const topic = await newTopic(1);
    const dead = await newTopic(1);
    await produce(
      topic,
      ['a', 'b', 'poison', 'd'].map((value) => ({ key: 'k', value })),
    );
    const done: unknown[] = [];
    const made = await source({
      topic,
      clock: eager().clock,
      bisectBatchOnFunctionError: true,
      maximumRetryAttempts: 2,
      onFailure: `kafka://${dead}`,
      handler: (event: LocalKafkaEvent) => {
        const values = seen(event)[0]![1];
        if (values.includes('poison')) throw new Error('no');
        done.push(...values);
      },
    });
    // All, a and b, poison and d, three times poison, d.
    await drain(made, 7);
    expect(done).toEqual(['a', 'b', 'd']);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 4 });
    const failures: { key: unknown; failure: KafkaFailureRecord }[] = [];
    const reader = await source({
      topic: dead,
      handler: ({ records }: LocalKafkaEvent) => {
        for (const { key, value } of records[`${dead}-0`]!) {
          failures.push({ key: text(key), failure: JSON.parse(text(value)!) as KafkaFailureRecord });
        }
      },
    });
    await reader.drain();
    expect(failures).toMatchObject([
      {
        key: 'k',
        failure: {
          requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 3 },
          responseContext: { statusCode: 200, functionError: 'Unhandled' },
          KafkaBatchInfo: { batchSize: 1, recordInfo: { offset: '2' } },
          payload: { records: { [`${topic}-0`]: [{ offset: 2, value: Buffer.from('poison').toString('base64') }] } },
        },
      },
    ]);
  });

  test('gives up records that are too old without calling the function', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'old', timestamp: Date.now() - 120_000 }, { value: 'young' }]);
    const values: unknown[] = [];
    const failures: KafkaFailureRecord[] = [];
    const made = await source({
      topic,
      maximumRecordAgeInSeconds: 60,
      onFailure: (failure) => void failures.push(failure),
      handler: (event: LocalKafkaEvent) => void values.push(...seen(event)[0]![1]),
    });
    await made.drain();
    await made.drain();
    expect(values).toEqual(['young']);
    expect(failures).toMatchObject([
      {
        requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 0 },
        KafkaBatchInfo: {
          batchSize: 1,
          bootstrapServers: brokers.join(','),
          recordsInfo: { [`${topic}-0`]: { firstRecordOffset: '0', lastRecordOffset: '0' } },
        },
      },
    ]);
    expect(failures[0]).not.toHaveProperty('payload');
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 2 });
  });

  test('keeps what its destination does not take', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'a' }]);
    let sent = 0;
    const made = await source({
      topic,
      clock: eager().clock,
      maximumRetryAttempts: 0,
      onError: () => undefined,
      onFailure: () => {
        if (++sent < 2) throw new Error('the queue is away');
      },
      handler: () => {
        throw new Error('no');
      },
    });
    await expect(made.drain()).rejects.toThrow('the queue is away');
    expect(await committed(topic, `${topic}-group`)).toEqual({});
    await drain(made, 1);
    expect(sent).toBe(2);
    expect(await committed(topic, `${topic}-group`)).toEqual({ 0: 1 });
  });

  test('shares the partitions with pollers that come, and takes over from those that go', async () => {
    const topic = await newTopic(4);
    const by: Record<string, Set<number>> = {};
    const values: unknown[] = [];
    const handlerOf = (name: string) => (event: LocalKafkaEvent) => {
      for (const [partition, list] of seen(event)) {
        (by[name] ??= new Set()).add(partition);
        values.push(...list);
      }
    };
    const send = (round: string) =>
      produce(
        topic,
        [0, 1, 2, 3].map((partition) => ({ partition, value: `${round}${partition}` })),
      );
    const until = async (count: number): Promise<void> => {
      while (values.length < count) await pause(20);
    };
    const first = await source({ topic, handler: handlerOf('first') });
    first.start();
    await send('a');
    await until(4);
    expect(by).toEqual({ first: new Set([0, 1, 2, 3]) });
    const second = await source({ topic, pollers: 2, handler: handlerOf('second') });
    second.start();
    // It has some of them once it gets a record.
    for (let round = 0; by['second'] === undefined; round++) {
      await send(`b${round}-`);
      await pause(100);
    }
    await second.stop();
    const before = new Set(values);
    await send('c');
    while (['c0', 'c1', 'c2', 'c3'].some((value) => !values.includes(value))) await pause(20);
    expect(before.has('c0')).toBe(false);
    // At least once: none is missing, whoever had it.
    const wanted = await committed(topic, `${topic}-group`);
    expect(Object.values(wanted).reduce((sum, offset) => sum + offset, 0)).toBe(new Set(values).size);
  });

  test('leaves what failed where it is when it stops', async () => {
    const topic = await newTopic(1);
    await produce(topic, [{ value: 'a' }]);
    let called = (): void => undefined;
    let fail = (): void => undefined;
    const isCalled = new Promise<void>((resolve) => (called = resolve));
    const failed = new Promise<void>((_, reject) => (fail = () => reject(new Error('no'))));
    const first = await source({
      topic,
      handler: () => {
        called();
        return failed;
      },
    });
    first.start();
    await isCalled;
    const stopped = first.stop();
    fail();
    await stopped;
    expect(await committed(topic, `${topic}-group`)).toEqual({});
    const values: unknown[] = [];
    const second = await source({ topic, handler: (event: LocalKafkaEvent) => void values.push(...seen(event)) });
    await second.drain();
    expect(values).toEqual([[0, ['a']]]);
  });

  test('tells of a broker that is away, and tries again', async () => {
    const errors: unknown[] = [];
    const away = await source({
      topic: 'nothing',
      brokers: ['127.0.0.1:1'],
      onError: (error) => errors.push(error),
      handler: () => undefined,
    });
    away.start();
    while (errors.length === 0) await pause(20);
    await away.stop();
    expect(errors[0]).toBeInstanceOf(Error);
  });
});
