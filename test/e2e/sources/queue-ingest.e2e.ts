import { expect, onTestFinished, test } from 'vitest';
import {
  createLocalQueues,
  manualClock,
  runUntilIdle,
  sqsSource,
  type LocalMessageAttribute,
} from '../../../lib/local/index.js';
import type { BatchEvent } from '../../../lib/events/index.js';
import { countedIngest, type CountedBatch } from './counted-ingest.js';
import { servedTable, storedMatches } from './live-table.js';
import { matchFeed } from './match-feed.js';
import { seeded } from './seed.js';

const text = (StringValue: string): LocalMessageAttribute => ({ DataType: 'String', StringValue });

test.each([
  ['a standard queue', 'scores', 100],
  ['a FIFO queue', 'scores.fifo', 10],
])(
  '10,000 events over 200 keys from %s, shuffled, doubled and with poison, leave the newest state while calls break off',
  async (_, name, batchSize) => {
    const random = seeded(name);
    const feed = matchFeed(random);
    const served = await servedTable('queue-ingest');
    onTestFinished(() => served.close());
    const clock = manualClock();
    const queue = createLocalQueues({ clock }).create(name, { visibilityTimeoutSeconds: 30 });
    feed.records.forEach(({ id, matchId, value, at, poison }, i) => {
      queue.send({
        body: value ?? JSON.stringify({ type: 'removed', matchId, at }),
        attributes: { 'test-id': text(String(id)), ...(poison !== undefined && { 'test-poison': text(poison) }) },
        ...(queue.fifo && { groupId: matchId, deduplicationId: String(i) }),
      });
    });

    const batches: CountedBatch[] = [];
    const ingest = countedIngest(served.name, { ...served.local.clientConfig }, (batch) => batches.push(batch));
    let broken = 0;
    const source = sqsSource({
      ...{ queue, batchSize, reportBatchItemFailures: true, clock },
      // The counts are of one call at a time.
      maximumConcurrency: 1,
      handler: async (event: BatchEvent) => {
        const response = await ingest(event);
        if (!random.chance(0.1)) return response;
        broken++;
        throw new Error('The function ended before it could answer');
      },
    });
    await runUntilIdle([source], { clock });

    expect(queue.messages()).toEqual([]);
    expect(broken).toBeGreaterThan(5);
    expect(batches.flatMap(({ faults }) => faults)).toEqual([]);
    const sum = (of: (batch: CountedBatch) => number): number => batches.reduce((total, batch) => total + of(batch), 0);
    expect(sum(({ records }) => records)).toBeGreaterThan(feed.records.length);
    expect(sum(({ writes }) => writes)).toBe(sum(({ pairs }) => pairs));
    expect(new Map(batches.flatMap(({ poison }) => poison.map(({ id, reason }) => [id, reason])))).toEqual(feed.poison);
    expect(await storedMatches(served, feed.matches)).toEqual(feed.matches);
  },
);
