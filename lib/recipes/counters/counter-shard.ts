import { entity, integer, string } from '../../commands/index.js';
import { byPrefix } from '../by-prefix.js';

/** The format of the items; grows when what they mean changes. */
export const shardFormat = 1;

const make = (prefix: string) =>
  entity(prefix as 'COUNTER', {
    // The shard is part of the partition key: shards in one partition would share its limit.
    pk: `${prefix}#{name}#{shard}` as 'COUNTER#{name}#{shard}',
    sk: 'COUNTER',
    attributes: { name: string(), shard: integer(), count: integer(), format: integer() },
    escape: true,
  });

/**
 * The items of a {@link ShardedCounter}: one per shard.
 *
 * @param prefix what their keys start with, and their type
 * @example
 * const shard = await shop.of(counterShardEntity()).get({ name: 'likes', shard: 0 }).item();
 */
export const counterShardEntity: (prefix?: string) => ReturnType<typeof make> = byPrefix(make, 'COUNTER');
