import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../../lib/local/index.js';
import type { LocalDynamoDBOptions } from '../../../lib/local/index.js';
import { createTable } from '../helpers.js';
import { Caller } from './calls.js';
import { linearizable } from './checker.js';
import type { Call } from './checker.js';

const KEYS = 4;
const CLIENTS = 6;

/** Records histories of several clients on a few items and checks each; tells how many calls and conflicts they had. */
async function checkHistories(
  options: LocalDynamoDBOptions,
  seed: number,
  histories: number,
  callsEach: number,
): Promise<{ calls: number; conflicts: number }> {
  const local = await createLocalDynamoDB(options);
  const table = await createTable(new DynamoDBClient({ ...local.clientConfig }));
  const random = generator(seed);
  let time = 0;
  let value = 1000;
  const total = { calls: 0, conflicts: 0 };
  try {
    for (let history = 0; history < histories; history += 1) {
      const calls: Call[] = [];
      const clock = (): number => (time += 1);
      const fresh = (): number => (value += 1000);
      const caller = new Caller(local, table, `${seed}-${history}`, KEYS, random, fresh, clock);
      const client = async (): Promise<void> => {
        for (let i = 0; i < callsEach; i += 1) {
          const call = await caller.call();
          total.calls += 1;
          if (call) calls.push(call);
          else total.conflicts += 1;
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      const initial = Array.from({ length: KEYS }, () => undefined);
      expect(linearizable(calls, initial), `history ${history} of seed ${seed}`).toBe(true);
    }
  } finally {
    await local.close();
  }
  return total;
}

/** mulberry32: the same calls for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

describe('histories of single items and transactions', () => {
  test('of 100,000 calls in memory are linearizable', { timeout: 120_000 }, async () => {
    const { calls, conflicts } = await checkHistories({}, 1, 420, 40);
    expect(calls).toBeGreaterThanOrEqual(100_000);
    // Without conflicts and without successes among them this would prove little.
    expect(conflicts).toBeGreaterThan(calls * 0.02);
    expect(conflicts).toBeLessThan(calls * 0.5);
  });

  test('on disk are linearizable', { timeout: 60_000 }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
    const { calls } = await checkHistories({ dataDir }, 2, 40, 40);
    expect(calls).toBe(40 * 40 * CLIENTS);
    await rm(dataDir, { recursive: true });
  });
});
