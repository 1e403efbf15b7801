import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  kafkaEventOf,
  recordsOf,
  type LocalKafkaRecord,
  type WireBatch,
} from '../../../lib/local/kafka/kafka-event.js';
import { OffsetProgress } from '../../../lib/local/kafka/offset-progress.js';
import { reportedRecords } from '../../../lib/local/kafka/reported-records.js';

const record = (partition: number, offset: number): LocalKafkaRecord => ({
  ...{ topic: 'orders', partition, offset, timestamp: 1, timestampType: 'CREATE_TIME', value: null, headers: [] },
});

const wireBatch = (given: Partial<WireBatch> = {}): WireBatch => ({
  ...{ attributes: 0, firstOffset: 5n, lastOffsetDelta: 1, firstTimestamp: 1000n, maxTimestamp: 1010n },
  records: [
    { offsetDelta: 0, timestampDelta: 0n, key: null, value: Buffer.from('a'), headers: [] },
    { offsetDelta: 1, timestampDelta: 10n, key: Buffer.from('k'), value: null, headers: [[Buffer.from('h'), null]] },
  ],
  ...given,
});

describe('records on the wire', () => {
  test('are those from the asked offset on, with the time of each', () => {
    expect(recordsOf('orders', 1, [wireBatch()], 6n)).toEqual([
      {
        ...{ topic: 'orders', partition: 1, offset: 6, timestamp: 1010, timestampType: 'CREATE_TIME' },
        ...{ key: 'aw==', value: null, headers: [{ h: null }] },
      },
    ]);
  });

  test('have the time of the log where the topic says so', () => {
    const [first] = recordsOf('orders', 1, [wireBatch({ attributes: 0x08 })], 0n);
    expect(first).toMatchObject({ timestamp: 1010, timestampType: 'LOG_APPEND_TIME' });
  });

  test('are none where they control transactions', () => {
    expect(recordsOf('orders', 1, [wireBatch({ attributes: 0x20 })], 0n)).toEqual([]);
  });

  test('are one event by partition', () => {
    const records = [record(1, 7), record(0, 3), record(1, 8)];
    const frame = { eventSourceArn: undefined, bootstrapServers: 'a:1,b:2' };
    expect(kafkaEventOf(records, frame)).toEqual({
      eventSource: 'SelfManagedKafka',
      bootstrapServers: 'a:1,b:2',
      records: { 'orders-1': [records[0], records[2]], 'orders-0': [records[1]] },
    });
  });
});

describe('a report', () => {
  const batch = [record(0, 1), record(0, 2), record(0, 3), record(1, 1), record(1, 2)];
  const failing = (...identifiers: readonly unknown[]) => ({
    batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  test('without failures says that all is done', () => {
    for (const response of [null, undefined, {}, { batchItemFailures: null }, failing()]) {
      expect(reportedRecords(response, batch)).toEqual([]);
    }
  });

  test('takes each partition from its lowest offset on', () => {
    const response = failing({ partition: 'orders-0', offset: 3 }, { partition: 'orders-0', offset: 2 });
    expect(reportedRecords(response, batch)).toEqual([record(0, 2), record(0, 3)]);
  });

  test('that names something else fails the batch', () => {
    for (const identifier of [
      { partition: 'orders-2', offset: 1 },
      { partition: 'orders-0', offset: 4 },
      { partition: 'orders-0', offset: '2' },
      { 'topic-partition': 'orders-0', offset: 2 },
      { partition: 'orders-0' },
      'orders-0',
      '',
      null,
      7,
    ]) {
      expect(reportedRecords(failing({ partition: 'orders-1', offset: 2 }, identifier), batch)).toEqual(batch);
    }
    expect(reportedRecords('done', batch)).toEqual(batch);
    expect(reportedRecords({ batchItemFailures: [{}] }, batch)).toEqual(batch);
  });
});

test('an offset is committed when all before it is settled, whatever the order', () => {
  const settling = fc
    .uniqueArray(fc.nat({ max: 60 }), { minLength: 1, maxLength: 30 })
    .chain((offsets) => fc.tuple(fc.constant(offsets.toSorted((a, b) => a - b)), fc.shuffledSubarray(offsets)));
  fc.assert(
    fc.property(settling, ([offsets, settled]) => {
      const progress = new OffsetProgress();
      for (const offset of offsets) progress.take(record(0, offset));
      let committed = -1n;
      const done = new Set<number>();
      for (const offset of settled) {
        progress.settle([record(0, offset)]);
        done.add(offset);
        const next = progress.advance().get(0);
        if (next !== undefined) {
          expect(next).toBeGreaterThan(committed);
          committed = next;
        }
        const open = offsets.find((other) => !done.has(other)) ?? Infinity;
        const wanted = offsets.filter((other) => other < open).at(-1);
        expect(committed).toBe(wanted === undefined ? -1n : BigInt(wanted) + 1n);
      }
    }),
  );
});
