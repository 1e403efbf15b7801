import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import {
  BatchFailedError,
  outboxRelay,
  SweepFailedError,
  type BatchResponse,
  type OutboxRelayOptions,
  type RelayLine,
  type StreamEventRecord,
} from '../../lib/events/index.js';
import { InvalidInputError, scan, table, transactWrite } from '../../lib/commands/index.js';
import {
  drainAll,
  outbox,
  ParkedEvent,
  parkedEvents,
  retryParked,
  type OutboxEvent,
  type Publisher,
} from '../../lib/recipes/index.js';
import { streamEvent } from '../events/support/events.js';
import { failed, ids, ok, target } from '../recipes/outbox/relay-target.js';
import { testShop, type RelayShop } from './relay-shop.js';

const scheduled = { 'detail-type': 'Scheduled Event' } as const;

const commit = (here: RelayShop, aggregate: string, sequence: number, ids: string[], more: Partial<OutboxEvent> = {}) =>
  transactWrite(here.shop, {
    event: outbox(here.shop, { source: 'test' }).publish({
      ...{ aggregate, sequence },
      events: ids.map((id) => ({ id, type: 'happened', detail: { id }, ...more })),
    }),
  });

const relay = async (options: Partial<OutboxRelayOptions> = {}) => {
  const here = await testShop();
  const to = target();
  const lines: RelayLine[] = [];
  const handler = outboxRelay({
    ...{ table: here.shop, target: to, partialResponses: true, log: (line: RelayLine) => void lines.push(line) },
    ...options,
  });
  const wake = async (): Promise<BatchResponse> => handler({ Records: await here.records() });
  return { here, to, lines, handler, wake };
};

const sequenceOf = (record: StreamEventRecord | undefined): string => record?.dynamodb?.SequenceNumber ?? '';

describe('woken by the stream', () => {
  test('publishes what was committed, in order, and removes it', async () => {
    const { here, to, lines, wake } = await relay();
    await commit(here, 'a', 1, ['a1', 'a2']);
    await commit(here, 'b', 1, ['b1']);
    await commit(here, 'a', 2, ['a3']);
    expect(await wake()).toEqual({ batchItemFailures: [] });
    const arrived = ids(to.arrived);
    expect(arrived.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
    expect(arrived).toContain('b1');
    expect(await here.left()).toBe(0);
    expect(lines).toMatchObject([
      { level: 'INFO', source: 'stream', records: 3, Published: 4, PublishFailures: 0, Parked: 0, Failed: 0 },
    ]);
    // The removals, which are records of their own, are passed over.
    expect(await wake()).toEqual({ batchItemFailures: [] });
    expect(to.arrived).toHaveLength(4);
  });

  describe('from a table that throttles', () => {
    const throttled = async (throttles: (request: number) => boolean, publish?: Publisher['publish']) => {
      const { here, to } = await relay();
      if (publish !== undefined) Object.assign(to, { publish });
      const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
      for (const name of names) await commit(here, name, 1, [name]);
      const records = await here.records();
      let requests = 0;
      here.local.setFaults(() => (throttles(requests++) ? { at: 'before', error: 'TransactionThrottled' } : undefined));
      const client = new DynamoDBClient({ ...here.local.clientConfig, maxAttempts: 1 });
      const options = { target: to, partialResponses: true, log: () => undefined };
      const answer = await outboxRelay({ table: table({ name: 'shop', client }), ...options })({ Records: records });
      here.local.setFaults(undefined);
      return { here, to, names, answer, requests };
    };

    test('reads and removes again what was throttled, and sends no event again for it', async () => {
      const { here, to, names, answer } = await throttled((request) => request % 2 === 0);
      expect(answer).toEqual({ batchItemFailures: [] });
      expect(ids(to.arrived).sort()).toEqual(names.toSorted());
      expect(await here.left()).toBe(0);
    });

    test('parks what its target refuses, and goes on', async () => {
      const refused = (events: readonly unknown[]) =>
        Promise.resolve(events.map(() => ({ ok: false, retryable: false, reason: 'MalformedDetail' }) as const));
      const { here, answer } = await throttled((request) => request % 2 === 0, refused);
      expect(answer).toEqual({ batchItemFailures: [] });
      expect(await scan(here.shop.of(ParkedEvent)).all()).toHaveLength(20);
    });

    test('gives up soon where nothing gets through', async () => {
      const { here, to, answer, requests } = await throttled(() => true);
      expect(answer.batchItemFailures).toHaveLength(1);
      expect(to.arrived).toEqual([]);
      expect(await here.left()).toBe(20);
      // One for each aggregate, and the batch's allowance.
      expect(requests).toBeLessThanOrEqual(20 + 50);
    });
  });

  test('takes many wake-ups of one aggregate as one drain', async () => {
    const { here, to, handler } = await relay();
    for (let i = 1; i <= 5; i++) await commit(here, 'a', i, [`a${i}`]);
    const requests: string[] = [];
    const records = await here.records();
    here.local.onRequest(({ operation }) => requests.push(operation));
    expect(await handler({ Records: records.toReversed() })).toEqual({ batchItemFailures: [] });
    expect(ids(to.arrived)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    expect(requests.filter((operation) => operation === 'Query')).toHaveLength(1);
    expect(requests.filter((operation) => operation === 'DeleteItem')).toHaveLength(5);
    // Delivered again, it finds nothing to do.
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(to.arrived).toHaveLength(5);
  });

  test('fills the batches of a target by what it says of itself: that it keeps order, how many it takes and how large', async () => {
    const { here, to, lines } = await relay();
    const batches: string[][] = [];
    const handlerOf = (of: Partial<Publisher>) =>
      outboxRelay({
        ...{ table: here.shop, partialResponses: true, log: (line) => void lines.push(line) },
        target: {
          ...of,
          publish(events) {
            batches.push(ids(events));
            return to.publish(events);
          },
        },
      });
    const sentBy = async (of: Partial<Publisher>, aggregate: string): Promise<string[][]> => {
      batches.length = 0;
      await commit(
        here,
        aggregate,
        1,
        ['1', '2', '3', '4'].map((n) => aggregate + n),
      );
      expect(await handlerOf(of)({ Records: await here.records() })).toEqual({ batchItemFailures: [] });
      return batches;
    };
    expect(await sentBy({ maximumEvents: 3, keepsOrder: true }, 'a')).toEqual([['a1', 'a2', 'a3'], ['a4']]);
    expect(await sentBy({ maximumEvents: 3 }, 'b')).toEqual([['b1'], ['b2'], ['b3'], ['b4']]);
    const halves = { keepsOrder: true, maximumBytes: 10, sizeOf: () => 5 };
    expect(await sentBy(halves, 'c')).toEqual([
      ['c1', 'c2'],
      ['c3', 'c4'],
    ]);
  });

  test('publishes what surfaces late with what surfaced first, and nothing beyond a committed sequence', async () => {
    const { here, to, handler } = await relay();
    await commit(here, 'a', 1, ['a1']);
    await commit(here, 'a', 2, ['a2']);
    const [first, second] = await here.records();
    await handler({ Records: [second!] });
    expect(ids(to.arrived)).toEqual(['a1', 'a2']);
    expect(await handler({ Records: [first!] })).toEqual({ batchItemFailures: [] });
    expect(to.arrived).toHaveLength(2);
  });

  test('reports the lowest sequence number of what failed, and lets others through', async () => {
    const { here, to, lines, handler } = await relay({ sends: 1 });
    to.answer = ({ aggregate }) => (aggregate === 'bad' ? failed(true, 'ThrottlingException') : ok);
    await commit(here, 'good', 1, ['g1']);
    await commit(here, 'bad', 1, ['b1']);
    await commit(here, 'bad', 2, ['b2']);
    await commit(here, 'good', 2, ['g2']);
    const records = (await here.records()).sort((a, b) => Number(BigInt(sequenceOf(a)) - BigInt(sequenceOf(b))));
    const answer = await handler({ Records: records.toReversed() });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: sequenceOf(records[1]) }] });
    expect(ids(to.arrived)).toEqual(['g1', 'g2']);
    expect(lines).toMatchObject([
      { level: 'ERROR', Published: 2, PublishFailures: 1, Failed: 1, reasons: { ThrottlingException: 1 } },
    ]);
    to.answer = () => ok;
    expect(await handler({ Records: records.slice(1) })).toEqual({ batchItemFailures: [] });
    expect(ids(to.arrived)).toEqual(['g1', 'g2', 'b1', 'b2']);
  });

  test('throws where the mapping takes no partial responses', async () => {
    const { here, to, handler } = await relay({ sends: 1, partialResponses: false });
    to.answer = () => failed(true);
    await commit(here, 'a', 1, ['a1']);
    await expect(handler({ Records: await here.records() })).rejects.toThrow(BatchFailedError);
    expect(await here.left()).toBe(1);
  });

  test('parks what is refused for good, and acknowledges it and what it holds back', async () => {
    const { here, to, lines, handler, wake } = await relay();
    to.answer = ({ id }) => (id === 'a1' ? failed(false, 'MalformedDetail') : ok);
    await commit(here, 'a', 1, ['a1']);
    await commit(here, 'a', 2, ['a2']);
    await commit(here, 'b', 1, ['b1']);
    expect(await wake()).toEqual({ batchItemFailures: [] });
    expect(ids(to.arrived)).toEqual(['b1']);
    expect(lines).toMatchObject([
      { level: 'WARN', Published: 1, PublishFailures: 1, Parked: 1, Failed: 0, blocked: 1 },
    ]);
    const place = { table: here.shop, shards: 8 };
    const [parked] = await parkedEvents(place).all();
    expect(parked).toMatchObject({ aggregate: 'a', sequence: 1, reason: 'MalformedDetail' });
    to.answer = () => ok;
    await retryParked(place, parked!);
    // A change of an outbox item wakes nobody: a relay that notes a failure would wake itself.
    expect(await wake()).toEqual({ batchItemFailures: [] });
    expect(to.arrived).toHaveLength(1);
    await drainAll(place, to);
    expect(ids(to.arrived)).toEqual(['b1', 'a1', 'a2']);
    expect(await handler({ Records: [] })).toEqual({ batchItemFailures: [] });
  });

  test('tries what is refused again, where it is told to', async () => {
    const { here, to, wake } = await relay({ whenRefused: 'retry', sends: 1, parkAfter: { attempts: 2, ms: 0 } });
    to.answer = () => failed(false, 'MalformedDetail');
    await commit(here, 'a', 1, ['a1']);
    const records = await here.records();
    const place = { table: here.shop, shards: 8 };
    const handler = outboxRelay({
      ...{ table: here.shop, target: to, partialResponses: true, log: () => undefined },
      ...{ whenRefused: 'retry', sends: 1, parkAfter: { attempts: 2, ms: 0 } },
    });
    expect(await handler({ Records: records })).toEqual({
      batchItemFailures: [{ itemIdentifier: sequenceOf(records[0]) }],
    });
    expect(await parkedEvents(place).all()).toEqual([]);
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(await parkedEvents(place).all()).toMatchObject([{ attempts: 2 }]);
    await wake();
  });

  test('stops before the deadline: what is in flight is removed, the rest comes again', async () => {
    const { here, to, lines } = await relay();
    const handler = outboxRelay({
      ...{ table: here.shop, partialResponses: true, log: (line) => void lines.push(line) },
      ...{ concurrency: 1, deadlineMarginMs: 9_000 },
      target: {
        async publish(events) {
          // Past the moment from which on nothing is begun, which is a second from the start.
          await new Promise((resolve) => setTimeout(resolve, 1100));
          return to.publish(events);
        },
      },
    });
    await commit(here, 'a', 1, ['a1']);
    await commit(here, 'b', 1, ['b1']);
    const records = await here.records();
    const { batchItemFailures } = await handler({ Records: records }, { getRemainingTimeInMillis: () => 10_000 });
    expect(to.arrived).toHaveLength(1);
    expect(await here.left()).toBe(1);
    expect(batchItemFailures).toHaveLength(1);
    expect(lines).toMatchObject([{ level: 'WARN', Published: 1, Failed: 0 }]);
    expect(lines[0]!.unfinished).toBeGreaterThan(0);
  });

  test('answers for all of a batch whose target hangs', async () => {
    const { here, lines } = await relay();
    const handler = outboxRelay({
      ...{ table: here.shop, partialResponses: true, log: (line) => void lines.push(line) },
      ...{ deadlineMarginMs: 400, target: { publish: () => new Promise<never>(() => undefined) } },
    });
    await commit(here, 'a', 1, ['a1']);
    const records = await here.records();
    const answer = await handler({ Records: records }, { getRemainingTimeInMillis: () => 500 });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: sequenceOf(records[0]) }] });
    expect(lines).toMatchObject([{ unfinished: 1, Published: 0 }]);
  });
});

describe('on a schedule', () => {
  test('publishes what is older than the threshold, and tells how much and how old', async () => {
    const { here, to, lines, handler } = await relay({ sweepAfterMs: 60_000 });
    const minutesAgo = (n: number) => ({ time: new Date(Date.now() - n * 60_000) });
    await commit(here, 'old', 1, ['o1'], minutesAgo(10));
    await commit(here, 'old', 2, ['o2'], minutesAgo(5));
    await commit(here, 'young', 1, ['y1']);
    expect(await handler(scheduled)).toEqual({ batchItemFailures: [] });
    expect(ids(to.arrived)).toEqual(['o1', 'o2']);
    expect(await here.left()).toBe(1);
    expect(lines).toMatchObject([{ source: 'schedule', level: 'INFO', Published: 2, OutboxBacklog: 2 }]);
    expect(Math.round(lines[0]!.OutboxOldestAge! / 60)).toBe(10);
    await handler(scheduled);
    expect(lines[1]).toMatchObject({ OutboxBacklog: 0, OutboxOldestAge: 0, Published: 0 });
  });

  test('ends before the deadline where the target hangs, and counts as unfinished', async () => {
    const { here, lines } = await relay();
    const handler = outboxRelay({
      ...{ table: here.shop, log: (line) => void lines.push(line), sweepAfterMs: 1, deadlineMarginMs: 400 },
      target: { publish: () => new Promise<never>(() => undefined) },
    });
    await commit(here, 'a', 1, ['a1'], { time: new Date(Date.now() - 60_000) });
    expect(await handler(scheduled, { getRemainingTimeInMillis: () => 500 })).toEqual({ batchItemFailures: [] });
    expect(lines).toMatchObject([{ source: 'schedule', level: 'WARN', unfinished: 1, Published: 0 }]);
    expect(await here.left()).toBe(1);
  });

  test('tells of events of another number of shards, which it publishes', async () => {
    const { here, to, lines } = await relay();
    for (let i = 0; i < 20; i++) await commit(here, `a${i}`, 1, [`e${i}`]);
    const handler = outboxRelay({
      ...{ table: here.shop, target: to, shards: 2, sweepAfterMs: 1, log: (line) => void lines.push(line) },
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await handler(scheduled);
    expect(lines[0]!.otherShards).toBeGreaterThan(0);
    while ((await here.left()) > 0) await handler(scheduled);
    expect(new Set(ids(to.arrived)).size).toBe(20);
  });

  test('throws where the outbox can not be read, so that the invocation counts as an error', async () => {
    const { here, to, lines } = await relay();
    const handler = outboxRelay({
      ...{ table: table({ name: 'none', client: here.client }), target: to, log: (line) => void lines.push(line) },
    });
    await expect(handler(scheduled)).rejects.toThrow(SweepFailedError);
    expect(lines).toMatchObject([{ level: 'ERROR', reasons: { ResourceNotFoundException: 9 } }]);
  });
});

test('its line is in the embedded metric format, with every metric a number', async () => {
  const { here, lines, handler, wake } = await relay({
    ...{ metrics: { dimensions: { service: 'shop' } }, sweepAfterMs: 60_000 },
  });
  await commit(here, 'a', 1, ['a1']);
  await wake();
  await commit(here, 'late', 1, ['l1'], { time: new Date(Date.now() - 600_000) });
  await handler(scheduled);
  await handler(scheduled);
  const [stream, schedule, idle] = lines.map((line) => {
    const [directive] = line._aws.CloudWatchMetrics;
    expect(directive).toMatchObject({ Namespace: 'SafeWrites', Dimensions: [['service']] });
    expect(line).toMatchObject({ service: 'shop' });
    for (const { Name } of directive!.Metrics) expect(line).toHaveProperty(Name, expect.any(Number));
    return directive!.Metrics.map(({ Name }) => Name);
  });
  expect(stream).toEqual(['Published', 'PublishFailures', 'Parked', 'Failed', 'Duration']);
  expect(schedule).toEqual([...stream!, 'OutboxBacklog', 'OutboxOldestAge']);
  expect(idle, 'a sweep that finds nothing costs one metric').toEqual(['OutboxBacklog']);
});

describe('bad input', () => {
  test.each([
    ['no target', { target: undefined as never }],
    ['a target without publish', { target: {} as Publisher }],
    ['no shards', { shards: 0 }],
    ['a threshold of nothing', { sweepAfterMs: 0 }],
    ['an unknown answer to a refusal', { whenRefused: 'skip' as never }],
    ['an unknown answer to parking', { whenParked: 'drop' as never }],
    ['no sends', { sends: 0 }],
    ['a margin that is no time', { deadlineMarginMs: NaN }],
  ])('%s is refused when the handler is made', async (_, options: Partial<OutboxRelayOptions>) => {
    const { shop } = await testShop();
    expect(() => outboxRelay({ table: shop, target: target(), ...options })).toThrow(InvalidInputError);
  });

  test('an event of another source is refused', async () => {
    const { handler } = await relay();
    const others: unknown[] = [
      undefined,
      {},
      { 'detail-type': 'other' },
      { Records: [{ eventSource: 'aws:sqs', messageId: 'm', body: '{}' }] },
      { eventSource: 'aws:kafka', records: { 't-0': [{ topic: 't', partition: 0, offset: 0 }] } },
    ];
    for (const event of others) await expect(handler(event as never)).rejects.toThrow(InvalidInputError);
  });

  test('records of other items are passed over, and one without keys is poison', async () => {
    const { handler, here } = await relay();
    const other = streamEvent({ pk: 'OUTBOX#x', sequence: '1', kind: 'INSERT' }, { pk: 'ORDER#1', sequence: '2' });
    expect(await handler(other)).toEqual({ batchItemFailures: [] });
    const nowhere = ['OUTBOX#-1', 'OUTBOX#10000'].map((pk) => ({
      ...{ eventSource: 'aws:dynamodb', eventName: 'INSERT' as const },
      dynamodb: { Keys: { pk: { S: pk }, sk: { S: 'a#0000000000000001' } }, SequenceNumber: '3' },
    }));
    expect(await handler({ Records: nowhere })).toEqual({ batchItemFailures: [] });
    const without = { ...other.Records[0], dynamodb: { SequenceNumber: '7' } };
    expect(await handler({ Records: [without] })).toEqual({ batchItemFailures: [{ itemIdentifier: '7' }] });
    const aside: string[] = [];
    const lenient = outboxRelay({
      ...{ table: here.shop, target: target(), partialResponses: true, log: () => undefined },
      failureDestination: ({ source, reason }) => void aside.push(`${source} ${reason}`),
    });
    expect(await lenient({ Records: [without] })).toEqual({ batchItemFailures: [] });
    expect(aside).toEqual(['stream body']);
  });

  test('a record without keys is set aside again where its failure destination was throttled', async () => {
    const { here } = await relay();
    let calls = 0;
    const handler = outboxRelay({
      ...{ table: here.shop, target: target(), partialResponses: true, log: () => undefined },
      failureDestination: () => {
        if (++calls < 3) throw Object.assign(new Error('too much'), { name: 'ThrottlingException' });
      },
    });
    const without = { eventSource: 'aws:dynamodb', eventName: 'INSERT' as const, dynamodb: { SequenceNumber: '7' } };
    expect(await handler({ Records: [without] })).toEqual({ batchItemFailures: [] });
    expect(calls).toBe(3);
  });
});
