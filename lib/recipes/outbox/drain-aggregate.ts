import { invalid } from '../../commands/errors/errors.js';
import { checkObject, isWholeBetween } from '../arguments.js';
import { drainOf } from './drain.js';
import type { AggregateDrain } from './drain-lane.js';
import type { DrainOptions } from './drain-options.js';
import { drainTogether } from './drain-together.js';
import type { OutboxPlace } from './outbox.js';
import type { Publisher } from './publisher.js';
import { maximumShards } from './shard.js';
import type { WakeUp } from './wake-up.js';

/**
 * Publishes the events of an aggregate up to a committed sequence, in order, and removes those that were acknowledged.
 * Whatever is at or below that sequence was committed before this reads, so the first arrivals are in order without a
 * lock, also where several relays work on one aggregate. Each event arrives at least once: consumers deduplicate by id.
 *
 * An event that fails is sent again a few times; then the aggregate waits for the next drain, and the failure is noted in
 * the item. One that fails for good, or for long enough, is parked.
 *
 * Cost: a query, one read unit per 4 KB; for each item one delete, one write unit per KB. A failed drain adds one update of
 * the item; parking is one transaction, two write units per KB of the item and of the parked event.
 *
 * @returns what was done; failures are answered, not thrown
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * const events = outbox(shop, { source: 'shop.accounts' });
 * const publisher = publishEach(({ type, detail }) => console.log(type, detail.length));
 * const { outcome } = await drainAggregate(events, { aggregate: 'account:alice', upTo: 7 }, publisher);
 */
export const drainAggregate = async (
  place: OutboxPlace,
  wakeUp: WakeUp,
  publisher: Publisher,
  options: DrainOptions = {},
): Promise<AggregateDrain> => {
  const [drained] = await drainAggregates(place, [wakeUp], publisher, options);
  return drained as AggregateDrain;
};

/**
 * {@link drainAggregate} for many: batches are filled over all of them, and a failure of one stops no other. Wake-ups of
 * the same aggregate are taken as one.
 *
 * Cost: as each alone, but the aggregates of a shard are read together, up to 25 by one query: one read unit per 4 KB of
 * what lies between the first and the last of them, at most twice as many items as there are wake-ups. Where much else
 * lies there, each is read by itself after that.
 *
 * @returns one answer for each aggregate, in the order in which they were first named
 * @example
 * const events = outbox(shop, { source: 'shop.accounts' });
 * const wakeUp = wakeUpOf('OUTBOX#3', 'account:alice#0000000000000007');
 * const publisher = publishEach(({ type, detail }) => console.log(type, detail.length));
 * const drained = await drainAggregates(events, wakeUp ? [wakeUp] : [], publisher, { concurrency: 50 });
 * const again = drained.filter(({ outcome }) => outcome === 'failed' || outcome === 'stopped');
 */
export const drainAggregates = async (
  place: OutboxPlace,
  wakeUps: readonly WakeUp[],
  publisher: Publisher,
  options: DrainOptions = {},
): Promise<AggregateDrain[]> => {
  const drain = drainOf(place, publisher, options);
  if (!Array.isArray(wakeUps)) invalid('wakeUps', 'expected an array');
  wakeUps.forEach(checkWakeUp);
  return drainTogether(drain, wakeUps);
};

const checkWakeUp = (wakeUp: WakeUp): void => {
  const { aggregate, upTo, shard = 0 } = checkObject(wakeUp, 'wakeUp');
  if (typeof aggregate !== 'string') invalid('wakeUp.aggregate', 'expected text');
  if (!isWholeBetween(upTo, 0)) invalid('wakeUp.upTo', 'expected a whole number from 0 on');
  if (!isWholeBetween(shard, 0, maximumShards - 1)) invalid('wakeUp.shard', 'expected 0 to 9,999');
};
