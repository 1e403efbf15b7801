import { randomInt } from 'node:crypto';
import { invalid } from '../../commands/errors/errors.js';
import {
  InvalidStoredItemError,
  batchGet,
  type EntityTable,
  type SendOptions,
  type Table,
} from '../../commands/index.js';
import { checkObject, checkOptions, checkTable, isWholeBetween } from '../arguments.js';
import { newerFormat } from '../newer-format.js';
import { shardOf } from '../outbox/shard.js';
import { counterShardEntity, shardFormat } from './counter-shard.js';

/** What {@link ShardedCounter} takes. */
export interface ShardedCounterOptions {
  readonly name: string;
  /**
   * Items that the counter is spread over, 1 to 1,000: a sum reads them all, and a table's default quota of 40,000 write
   * units a second is used up by 40. It may grow, readers first: what an old reader doesn't know of it doesn't sum. It
   * may never shrink.
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

/** A sum reads them all, in ten requests of 100. */
const mostShards = 1_000;

/**
 * A counter for more than the about 1000 writes a second of one item: spread over n items in n partitions, read as their
 * sum. The table needs a sort key.
 *
 * An add is a plain one: at most once, so it may undercount, see {@link increment}. The sum is no snapshot: adds that
 * run meanwhile are in it or not. A shard is no place to read a value after an add from, so `add` gives none.
 *
 * Cost: an add is one request and one write unit, a repeat counts again; a sum is a request per 100 shards, and half a
 * read unit for each shard, or a whole one where consistent.
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

  constructor(
    private readonly table: Table,
    options: ShardedCounterOptions,
  ) {
    const { name, shards, prefix } = checkObject(options, 'options');
    this.shard = counterShardEntity(prefix);
    this.items = checkTable(table).of(this.shard);
    this.name = name;
    if (!isWholeBetween(shards, 1, mostShards)) invalid('shards', 'expected a whole number from 1 to 1,000');
    this.shards = shards;
  }

  /**
   * Adds to one shard.
   * @throws whatever the request failed with, at its first failure: it may have counted
   */
  async add(amount = 1, options: ShardOptions = {}): Promise<void> {
    const { by, signal } = checkOptions(options);
    const { name, count, format } = this.shard.attrs;
    const shard = by === undefined ? randomInt(this.shards) : shardOf(by, this.shards);
    const { conditionMet } = await this.items
      .update({ name: this.name, shard })
      .add(count, amount)
      .setIfNotExists(format, shardFormat)
      .if(name.notExists().or(count.isType('N').and(format.le(shardFormat))))
      .maxAttempts(1)
      .returnOldOnFailure()
      .trySend({ signal });
    if (!conditionMet) newerFormat('the counter was written');
  }

  /**
   * The sum of all shards, read by BatchGetItem, 100 in a request.
   * @throws UnprocessedError where some stay unread after several attempts; InvalidStoredItemError for a sum beyond 2^53 - 1,
   *   and for a shard of a newer format
   */
  async sum(options: SendOptions & { readonly consistent?: boolean } = {}): Promise<number> {
    const { consistent = false, signal } = checkOptions(options);
    const shards = Array.from({ length: this.shards }, (_, shard) => {
      const get = this.items.get({ name: this.name, shard });
      return consistent ? get.consistent() : get;
    });
    const { items } = await batchGet(this.table, { shards }).send({ signal });
    if (items.shards.some((item) => item !== undefined && item.format > shardFormat))
      newerFormat('the counter was written');
    const sum = items.shards.reduce((sum, item) => sum + (item?.count ?? 0), 0);
    if (!Number.isSafeInteger(sum))
      throw new InvalidStoredItemError('count', 'the sum is beyond what a number holds exactly');
    return sum;
  }
}
