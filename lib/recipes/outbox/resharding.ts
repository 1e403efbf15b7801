import { invalid } from '../../commands/errors/errors.js';
import { checkObject, checkOptions, checkTable } from '../arguments.js';
import type { SendOptions } from '../../commands/index.js';
import type { OutboxPlace } from './outbox.js';
import { OutboxItem } from './outbox-item.js';
import { checkShards, isMisplaced } from './shard.js';

/**
 * Whether nothing waits any more that was published with the previous number of shards, and that the new one puts
 * elsewhere: the step before the relay forgets that number (docs/outbox.md, Changing the number of shards). Asked while
 * publishers still use the previous number, it means nothing. Parked events that hold back an aggregate wait, too.
 *
 * Cost: one request for each previous shard at least, and one read unit per 4 KB of what waits; it ends at the first item
 * that tells.
 *
 * @example
 * const moved = await isDrainedOf({ table: shop, shards: 16 }, 8);
 */
export const isDrainedOf = async (
  place: OutboxPlace,
  previousShards: number,
  options: SendOptions = {},
): Promise<boolean> => {
  const { table, shards } = checkObject(place, 'place', 'expected an outbox, or its table and shards');
  checkTable(table);
  const { signal } = checkOptions(options);
  checkShards(shards, 'shards');
  checkShards(previousShards, 'previousShards');
  if (shards === previousShards) invalid('previousShards', 'expected another number than the new one');
  const items = table.of(OutboxItem);
  for (let shard = 0; shard < previousShards; shard++) {
    const waiting = items.query({ shard }).consistent().project('aggregate').items({ signal });
    for await (const { aggregate } of waiting) if (isMisplaced(aggregate, shard, shards)) return false;
  }
  return true;
};
