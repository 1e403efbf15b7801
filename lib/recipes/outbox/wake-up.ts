import { isWholeBetween } from '../arguments.js';
import { OutboxItem } from './outbox-item.js';
import { maximumShards } from './shard.js';

/** A committed event of an aggregate, as the table's stream or a sweep names it: a reason to drain up to there. */
export interface WakeUp {
  readonly aggregate: string;
  /** A committed sequence of the aggregate. Events up to it are published; later ones have wake-ups of their own. */
  readonly upTo: number;
  /** The shard in which an item was seen. @default that of the aggregate by the outbox's number of shards */
  readonly shard?: number;
}

/**
 * The wake-up that a stream record of the outbox gives, by the texts of its key; undefined for an item that is none of
 * the outbox. It names the shard that the item is in, whatever number of shards the relay believes in.
 *
 * @example wakeUpOf('OUTBOX#3', 'account:alice#0000000000000007'); // { aggregate: 'account:alice', upTo: 7, shard: 3 }
 */
export const wakeUpOf = (pk: string, sk: string): WakeUp | undefined => {
  try {
    const { shard } = OutboxItem.pk.parse(pk);
    const { aggregate, sequence } = OutboxItem.sk.parse(sk);
    // A number that is no shard's: such an item is nobody's to drain, and must not stop the others of its batch.
    return isWholeBetween(shard, 0, maximumShards - 1) ? { aggregate, upTo: sequence, shard } : undefined;
  } catch {
    return undefined;
  }
};
