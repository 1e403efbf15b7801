import { boolean, entity, instant, integer, map, string, type Item } from '../../commands/index.js';

/**
 * An event that could not be published, put aside with the reason; all of a table's are in one partition, so that one
 * query lists them. It has no time to live: {@link retryParked} and {@link skipParked} remove it.
 *
 * @example
 * const parked = await shop.of(ParkedEvent).query({}).page();
 * const reasons = parked.items.map(({ reason, attempts }) => ({ reason, attempts }));
 */
export const ParkedEvent = entity('OUTBOX_PARKED', {
  pk: 'OUTBOX_PARKED',
  sk: '{aggregate}#{sequence:16}#{position:5}',
  escape: true,
  attributes: {
    aggregate: string(),
    sequence: integer(),
    /** Its place among the events of its transaction and aggregate. */
    position: integer(),
    /** The shard of the outbox item that it is from. */
    shard: integer(),
    format: integer(),
    event: map({ id: string(), type: string(), source: string(), detail: string(), time: instant() }),
    traceparent: string().optional(),
    /** A code, such as the target's error: never a text of the event's. */
    reason: string(),
    /** Drains that tried it. */
    attempts: integer(),
    failingSince: instant(),
    parkedAt: instant(),
    /** Whether it holds back its aggregate's later events. */
    blocks: boolean(),
  },
});
export type ParkedEvent = Item<typeof ParkedEvent>;
