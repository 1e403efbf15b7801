import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { restarted } from './child.js';
import type { CountedBatch } from './counted-ingest.js';
import type { IngestProcessOptions } from './ingest-process.js';
import { brokers, committed, missing, newTopic, produce } from './kafka.js';
import { servedTable, storedMatches } from './live-table.js';
import { matchFeed } from './match-feed.js';
import { seeded } from './seed.js';

const PARTITIONS = 6;
const RESTARTS = 8;

test.skipIf(missing !== undefined)(
  '10,000 events over 200 keys from Kafka, shuffled, doubled and with poison, leave the newest state while the consumer is killed',
  async () => {
    const random = seeded('kafka-ingest');
    const feed = matchFeed(random);
    const served = await servedTable('kafka-ingest');
    onTestFinished(() => served.close());
    const topic = await newTopic(PARTITIONS);
    const group = `${topic}-group`;
    await produce(
      topic,
      feed.records.map(({ id, matchId, value, at, poison }) => ({
        key: matchId,
        ...(value !== undefined && { value }),
        headers: {
          ...(value === undefined && { 'occurred-at': at }),
          'test-id': String(id),
          ...(poison !== undefined && { 'test-poison': poison }),
        },
      })),
    );

    const batches: CountedBatch[] = [];
    const options: IngestProcessOptions = {
      ...{ brokers, topic, consumerGroupId: group, endpoint: served.endpoint, table: served.name },
    };
    const consumer = await restarted('ingest-process.ts', options, (batch: CountedBatch) => batches.push(batch));
    const isDone = async (): Promise<boolean> => {
      const offsets = Object.values(await committed(topic, group));
      return offsets.reduce((sum, offset) => sum + offset, 0) === feed.records.length;
    };

    let killed = 0;
    for (let restart = 0; restart < RESTARTS; restart++) {
      consumer.begin();
      const enough = batches.length + random.integer(1, 10);
      while (batches.length < enough) {
        consumer.check();
        await pause(10);
      }
      await pause(random.integer(0, 30));
      if (restart % 3 !== 2) killed++;
      await consumer.end(restart % 3 === 2 ? 'SIGTERM' : 'SIGKILL');
    }
    expect(await isDone(), 'the consumer was done before it was killed: more events are needed').toBe(false);
    consumer.begin();
    while (!(await isDone())) {
      consumer.check();
      await pause(200);
    }
    await consumer.end('SIGTERM');

    expect(killed).toBeGreaterThan(4);
    expect(batches.flatMap(({ faults }) => faults)).toEqual([]);
    const sum = (of: (batch: CountedBatch) => number): number => batches.reduce((total, batch) => total + of(batch), 0);
    expect(sum(({ writes }) => writes)).toBe(sum(({ pairs }) => pairs));
    // Fewer than the events by far, or nothing was coalesced.
    expect(sum(({ pairs }) => pairs)).toBeLessThan(sum(({ records }) => records) * 0.95);
    expect(new Map(batches.flatMap(({ poison }) => poison.map(({ id, reason }) => [id, reason])))).toEqual(feed.poison);
    expect(await storedMatches(served, feed.matches)).toEqual(feed.matches);
  },
);
