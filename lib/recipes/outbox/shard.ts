import { createHash } from 'node:crypto';

/**
 * The shard of an aggregate: the same in every process and version, since relay and sweeper look for it there. Another
 * number of shards moves most aggregates.
 *
 * @example shardOf('account:alice', 8); // 0 to 7
 */
export const shardOf = (aggregate: string, shards: number): number =>
  createHash('sha256').update(aggregate).digest().readUInt32BE(0) % shards;
