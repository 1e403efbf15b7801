import { retryOnConflict, transactWrite, type Condition } from '../../commands/index.js';
import type { PublishFailure } from './batches.js';
import type { Drain } from './drain.js';
import { OutboxItem } from './outbox-item.js';
import type { ParkedEvent } from './parked-event.js';

const { attrs } = OutboxItem;

/** That the item is still the one that was read: a deleted aggregate that is created anew starts its numbers again. */
export const isSame = ({ events: [first] }: OutboxItem): Condition<'OUTBOX'> =>
  first === undefined ? attrs.events.exists() : attrs.events.at(0).id.eq(first.id);

/** Runs a write again that met a transaction: a relay that parks, or an operator. */
export const pastConflicts = async <R>(write: () => Promise<R>): Promise<R> =>
  retryOnConflict(write, { on: 'transactionConflict', maxAttempts: 10 });

/** The same, of a write of a drain, which is sent again as well where it was throttled. */
const send = <R>({ pastThrottles }: Drain, write: () => Promise<R>): Promise<R> =>
  pastThrottles(() => pastConflicts(write));

/** Removes an item whose events were all published. @returns whether it was there */
export const remove = async (drain: Drain, item: OutboxItem): Promise<boolean> => {
  const { items, parked } = drain;
  const removed = await send(drain, () => items.delete(item).if(isSame(item)).returnOld().trySend());
  if (!removed.conditionMet) return false;
  const old = removed.item;
  // Another relay parked what this one could publish after all.
  if (old?.parkedAt !== undefined)
    await send(drain, () => parked.delete({ ...item, position: old.published ?? 0 }).send());
  return true;
};

/**
 * Notes that the event at `position` could not be published, or parks it. Of relays that race, one notes: the others'
 * conditions fail. `lost`: the item is no longer as it was read.
 */
export const noteFailure = async (
  drain: Drain,
  item: OutboxItem,
  position: number,
  { retryable, reason }: PublishFailure,
): Promise<'noted' | 'blocked' | 'skipped' | 'lost'> => {
  const { items, terms } = drain;
  const now = terms.clock();
  // What is stored is of this event only while nothing before it waits.
  const stored = (item.published ?? 0) === position ? item : undefined;
  const attempts = (stored?.attempts ?? 0) + 1;
  const failingSince = stored?.failingSince ?? new Date(now);
  const lasts = attempts >= terms.parkAfterAttempts && now - failingSince.getTime() >= terms.parkAfterMs;
  if (!retryable || lasts) return park(drain, item, position, { reason, attempts, failingSince, now });
  await send(drain, () =>
    items
      .update(item)
      .set({ attempts, failingSince, reason, published: position === 0 ? undefined : position })
      .if(isSame(item))
      .if(attrs.parkedAt.notExists())
      .if(attrs.published.notExistsOrLe(position))
      .if(item.attempts === undefined ? attrs.attempts.notExists() : attrs.attempts.eq(item.attempts))
      .trySend(),
  );
  return 'noted';
};

interface Failing {
  readonly reason: string;
  readonly attempts: number;
  readonly failingSince: Date;
  readonly now: number;
}

const park = async (
  drain: Drain,
  item: OutboxItem,
  position: number,
  { reason, attempts, failingSince, now }: Failing,
): Promise<'blocked' | 'skipped' | 'lost'> => {
  const {
    place: { table },
    items,
    parked,
    terms: { blocks },
  } = drain;
  const { aggregate, sequence, shard, format, events, traceparent } = item;
  const event = events[position] as OutboxItem['events'][number];
  const parkedAt = new Date(now);
  const entry: ParkedEvent = {
    ...{ aggregate, sequence, position, shard, format, event, traceparent },
    ...{ reason, attempts, failingSince, parkedAt, blocks },
  };
  const { committed } = await send(drain, () =>
    transactWrite(table, {
      entry: parked.put(entry),
      item: items
        .update(item)
        .set({ published: blocks ? position : position + 1, parkedAt: blocks ? parkedAt : undefined })
        .remove(attrs.attempts, attrs.failingSince, attrs.reason)
        .if(isSame(item))
        .if(attrs.parkedAt.notExists())
        .if(attrs.published.notExistsOrLe(position)),
    }).trySend(),
  );
  if (!committed) return 'lost';
  return blocks ? 'blocked' : 'skipped';
};
