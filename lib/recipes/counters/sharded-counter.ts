import { randomInt } from 'node:crypto';
import { invalid } from '../../commands/errors/errors.js';
import { InvalidStoredItemError, type EntityTable, type SendOptions, type Table } from '../../commands/index.js';
import { shardOf } from '../outbox/shard.js';
import { counterShardEntity, shardFormat } from './counter-shard.js';

/** What {@link ShardedCounter} takes. */
export interface ShardedCounterOptions {
  readonly name: string;
  /**
   * Items that the counter is spread over. It may grow, readers first: what an old reader doesn't know of it doesn't
   * sum. It may never shrink.
   */
  readonly shards: number;
  /** What the items' keys start with, and their type. @default 'COUNTER' */
  readonly prefix?: string;
}

/** What {@link ShardedCounter.add} takes beside the amount. */
export interface ShardOptions extends SendOptions {
  /** Takes the shard of this key; without it, one at random. */
  readonly by?: string;
}

/**
 * A counter for more than the about 1000 writes a second of one item: spread over n items in n partitions, read as their
 * sum. The table needs a sort key.
 *
 * An add is a plain one: at most once, so it may undercount, see {@link increment}. The sum is no snapshot: adds that
 * run meanwhile are in it or not. A shard is no place to read a value after an add from, so `add` gives none.
 *
 * Cost: an add is one request and one write unit, a repeat counts again; a sum is n requests, each of half a read unit,
 * or a whole one where consistent.
 *
 * @example
 * const likes = new ShardedCounter(shop, { name: 'likes', shards: 10 });
 * await likes.add();
 * await likes.add(3, { by: 'alice' });
 * const all = await likes.sum();
 */
export class ShardedCounter {
  private readonly shard: ReturnType<typeof counterShardEntity>;
  private readonly items: EntityTable<ReturnType<typeof counterShardEntity>>;
  private readonly name: string;
  private readonly shards: number;

  constructor(table: Table, { name, shards, prefix }: ShardedCounterOptions) {
    this.shard = counterShardEntity(prefix);
    this.items = table.of(this.shard);
    this.name = name;
    if (!Number.isSafeInteger(shards) || shards < 1) invalid('shards', 'expected a whole number from 1 on');
    this.shards = shards;
  }

  /**
   * Adds to one shard.
   * @throws whatever the request failed with, at its first failure: it may have counted
   */
  async add(amount = 1, { by, signal }: ShardOptions = {}): Promise<void> {
    const { count, format } = this.shard.attrs;
    const shard = by === undefined ? randomInt(this.shards) : shardOf(by, this.shards);
    const { conditionMet } = await this.items
      .update({ name: this.name, shard })
      .add(count, amount)
      .setIfNotExists(format, shardFormat)
      .if(format.notExistsOrLe(shardFormat))
      .maxAttempts(1)
      .trySend({ signal });
    if (!conditionMet)
      throw new InvalidStoredItemError('format', 'the counter was written by a newer version of safewrites');
  }

  /** The sum of all shards, read at once. */
  async sum({ consistent = false, signal }: SendOptions & { readonly consistent?: boolean } = {}): Promise<number> {
    const reads = Array.from({ length: this.shards }, async (_, shard) => {
      const get = this.items.get({ name: this.name, shard });
      return (await (consistent ? get.consistent() : get).item({ signal }))?.count ?? 0;
    });
    return (await Promise.all(reads)).reduce((sum, count) => sum + count, 0);
  }
}
