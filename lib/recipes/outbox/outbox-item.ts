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
  },
});
export type OutboxItem = Item<typeof OutboxItem>;

/** The format of items that this version writes. */
export const outboxFormat = 1;
