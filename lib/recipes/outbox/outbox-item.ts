import { entity, instant, integer, list, map, string, type Item } from '../../commands/index.js';

/**
 * The events that one transaction publishes of one aggregate. The sequence is padded, so that an aggregate's items lie in
 * the order of their numbers. It has no time to live: only a relay that has published an event removes it.
 *
 * @example const waiting = shop.of(OutboxItem).query({ shard: 0 }).consistent();
 */
export const OutboxItem = entity('OUTBOX', {
  pk: 'OUTBOX#{shard}',
  sk: '{aggregate}#{sequence:16}',
  // An aggregate may be named by anything, a stored key included.
  escape: true,
  attributes: {
    shard: integer(),
    aggregate: string(),
    sequence: integer(),
    format: integer(),
    events: list(map({ id: string(), type: string(), source: string(), detail: string(), time: instant() })),
    traceparent: string().optional(),
    /** The number of shards that it was published with, so that a relay with another number notices. */
    shards: integer().optional(),
    /** How many of its leading events need no more publishing: acknowledged, or parked and passed over. */
    published: integer().optional(),
    /** Drains that could not publish the event at `published`, since when, and why at last. */
    attempts: integer().optional(),
    failingSince: instant().optional(),
    reason: string().optional(),
    /** Set while that event is parked and holds back its aggregate. */
    parkedAt: instant().optional(),
  },
});
export type OutboxItem = Item<typeof OutboxItem>;

/** The format of items that this version writes. */
export const outboxFormat = 1;
