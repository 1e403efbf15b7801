import { invalid } from '../../commands/errors/errors.js';
import { checkObject, checkOptions, isBetween, isWholeBetween } from '../arguments.js';
import { checkedClock } from '../clock.js';
import type { SendOptions } from '../../commands/index.js';
import { checkShards } from './shard.js';

/** When an event that fails again and again is parked: both must be met. A failure for good is parked at once. */
export interface ParkAfter {
  /** Drains that could not publish it. @default 5 */
  readonly attempts?: number;
  /** Milliseconds since the first of them, so that a short outage of the target parks nothing. @default 900,000 */
  readonly ms?: number;
}

/**
 * How an outbox is drained. The signal is for a deadline: when it aborts, no more is taken up, what is being published is
 * waited for and removed, and the rest is answered as stopped.
 */
export interface DrainOptions extends SendOptions {
  /**
   * While the number of shards changes: the one before. An aggregate is then looked for in both its shards, and its events
   * are put in one order. Costs one more query for each aggregate that moves.
   */
  readonly previousShards?: number;
  /**
   * What becomes of the aggregate of a parked event: its later events wait until the event is retried or skipped, or go
   * on without it. @default 'block'
   */
  readonly whenParked?: 'block' | 'skip';
  readonly parkAfter?: ParkAfter;
  /** How often one drain sends an event that fails, with waits in between. @default 3 */
  readonly sends?: number;
  /** Aggregates at a time; batches are filled over all of them. @default 50, as many as the SDK's client has sockets */
  readonly concurrency?: number;
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
}

/** The options, with their defaults. */
export interface DrainTerms {
  readonly previousShards: number | undefined;
  readonly blocks: boolean;
  readonly parkAfterAttempts: number;
  readonly parkAfterMs: number;
  readonly sends: number;
  readonly concurrency: number;
  readonly clock: () => number;
  readonly signal: AbortSignal | undefined;
}

const count = (value: number, path: string): number =>
  isWholeBetween(value, 1) ? value : invalid(path, 'expected a whole number from 1 on');

export const checkMs = (value: number, path: string, most = Infinity): number =>
  isBetween(value, 0, most)
    ? value
    : invalid(path, `expected milliseconds from 0 ${most === Infinity ? 'on' : `to ${most}`}`);

export const drainTerms = (options: DrainOptions): DrainTerms => {
  const { previousShards, whenParked = 'block', parkAfter = {}, sends = 3, concurrency = 50 } = checkOptions(options);
  const { attempts = 5, ms = 900_000 } = checkObject(parkAfter, 'parkAfter');
  if (whenParked !== 'block' && whenParked !== 'skip') invalid('whenParked', "expected 'block' or 'skip'");
  return {
    previousShards: previousShards === undefined ? undefined : checkShards(previousShards, 'previousShards'),
    blocks: whenParked === 'block',
    parkAfterAttempts: count(attempts, 'parkAfter.attempts'),
    parkAfterMs: checkMs(ms, 'parkAfter.ms'),
    sends: count(sends, 'sends'),
    concurrency: count(concurrency, 'concurrency'),
    clock: checkedClock(options.clock, 'clock'),
    signal: options.signal,
  };
};
