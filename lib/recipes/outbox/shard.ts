import { hash } from 'node:crypto';
import { invalid } from '../../commands/errors/errors.js';
import { isWholeBetween } from '../arguments.js';

/**
 * The shard of an aggregate: the same in every process and version, since relay and sweeper look for it there. Another
 * number of shards moves most aggregates.
 *
 * @throws InvalidInputError for what is no text, and for a number that is none from 1 to 10,000
 *
 * @example shardOf('account:alice', 8); // 0 to 7
 */
export const shardOf = (aggregate: string, shards: number): number => {
  if (typeof aggregate !== 'string') invalid('aggregate', 'expected text');
  return hash('sha256', aggregate, 'buffer').readUInt32BE(0) % checkShards(shards, 'shards');
};

export const maximumShards = 10_000;

/** Refuses what is no number of shards. */
export const checkShards = (shards: number, path: string): number =>
  isWholeBetween(shards, 1, maximumShards) ? shards : invalid(path, 'expected 1 to 10,000');

/** Whether an aggregate's item is in a shard where that number of shards does not put it. */
export const isMisplaced = (aggregate: string, shard: number, shards: number): boolean =>
  shardOf(aggregate, shards) !== shard;
