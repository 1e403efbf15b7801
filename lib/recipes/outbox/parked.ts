import { invalid } from '../../commands/errors/errors.js';
import { transactWrite, type Query, type SendOptions, type Step } from '../../commands/index.js';
import { checkObject, checkOptions, checkTable, isWholeBetween } from '../arguments.js';
import { newerFormat } from '../newer-format.js';
import { pastConflicts } from './failures.js';
import type { OutboxPlace } from './outbox.js';
import { OutboxItem, outboxFormat } from './outbox-item.js';
import { ParkedEvent } from './parked-event.js';
import { shardOf } from './shard.js';

const { attrs } = OutboxItem;

/**
 * What became of a parked event. `Done`: as asked. `Gone`: it is parked no more, since someone else was faster, or a relay
 * could publish it after all. `Busy`: later events of its own transaction still wait in its place; try again when they are
 * published.
 */
export type ParkedOutcome = 'Done' | 'Gone' | 'Busy';

/**
 * The parked events, or those of one aggregate, as a query that may be paged: their reasons, attempts and times, and the
 * events themselves.
 *
 * Cost: half a read unit per 4 KB of what is parked, one where consistent; nothing of what waits is read.
 *
 * @example
 * for await (const event of parkedEvents({ table: shop, shards: 8 }).items()) {
 *   if (event.reason === 'ThrottlingException') await retryParked({ table: shop, shards: 8 }, event);
 * }
 */
export const parkedEvents = (
  place: OutboxPlace,
  of: { readonly aggregate?: string } = {},
): Query<typeof ParkedEvent, ParkedEvent, (typeof ParkedEvent)['~key'], unknown> =>
  placeOf(place).table.of(ParkedEvent).query(checkObject(of, 'of'));

/**
 * Hands a parked event back to the relay, which publishes it as if it had never failed: with the next wake-up of its
 * aggregate, or the next sweep. An event that held back its aggregate keeps its place in the order; one that was passed
 * over comes after those that passed it.
 *
 * Cost: one transaction, two write units per KB of the parked event and of its outbox item; where a relay
 * published it meanwhile, one more for the parked event. Safe to repeat.
 *
 * @throws InvalidStoredItemError for an event of a newer format
 * @example
 * const place = { table: shop, shards: 8 };
 * const [first] = (await parkedEvents(place).page()).items;
 * if (first) await retryParked(place, first);
 */
export const retryParked = async (
  place: OutboxPlace,
  parked: ParkedEvent,
  options: SendOptions = {},
): Promise<ParkedOutcome> => {
  const { table, shards } = placeOf(place);
  const { aggregate, sequence, event, traceparent, blocks } = checkParked(parked, options);
  if (blocks) return unblock(table, parked, parked.position, options);
  const put = () => {
    const shard = shardOf(aggregate, shards);
    const events = [event];
    const again = { shard, aggregate, sequence, format: outboxFormat, events, traceparent, shards };
    return table.of(OutboxItem).put(again).ifNotExists();
  };
  const outcome = await settle(table, parked, put, options);
  return outcome === 'itemChanged' ? 'Busy' : outcome;
};

/**
 * Gives up a parked event: it is never published. Where it held back its aggregate, the later events go on.
 *
 * Cost: one transaction, two write units per KB of the parked event and, where it held back its aggregate, of its outbox
 * item. Safe to repeat.
 *
 * @throws InvalidStoredItemError for an event of a newer format
 * @example
 * const place = { table: shop, shards: 8 };
 * const [first] = (await parkedEvents(place, { aggregate: 'account:alice' }).page()).items;
 * if (first) await skipParked(place, first);
 */
export const skipParked = async (
  place: OutboxPlace,
  parked: ParkedEvent,
  options: SendOptions = {},
): Promise<ParkedOutcome> => {
  const { table } = placeOf(place);
  return checkParked(parked, options).blocks
    ? unblock(table, parked, parked.position + 1, options)
    : removeEntry(table, parked, options);
};

type Table = OutboxPlace['table'];

const placeOf = (place: OutboxPlace): OutboxPlace => {
  checkTable(checkObject(place, 'place', 'expected an outbox, or its table and shards').table);
  return place;
};

const checkParked = (parked: ParkedEvent, options: SendOptions): ParkedEvent => {
  checkOptions(options);
  checkObject(checkObject(parked, 'parked', 'expected a parked event').event, 'parked.event');
  // An event that is taken for none that blocks would be removed, and its aggregate wait for good.
  const { blocks, position, format } = parked;
  if (typeof blocks !== 'boolean' || !isWholeBetween(position, 0) || !isWholeBetween(format, 0))
    invalid('parked', 'expected a parked event as it was read');
  // Written back by this code, an event that newer code parked would lose what this code does not know.
  if (format > outboxFormat) newerFormat('the event was parked');
  return parked;
};

/** That the entry is still the one that was read: an event may be retried, and parked again. */
const isStill = ({ event, parkedAt }: ParkedEvent) =>
  ParkedEvent.attrs.event.id.eq(event.id).and(ParkedEvent.attrs.parkedAt.eq(parkedAt));

const unblock = async (
  table: Table,
  parked: ParkedEvent,
  published: number,
  options: SendOptions,
): Promise<ParkedOutcome> => {
  const step = () =>
    table
      .of(OutboxItem)
      .update(parked)
      .set(attrs.published, published === 0 ? undefined : published)
      .remove(attrs.parkedAt)
      .if(attrs.parkedAt.eq(parked.parkedAt))
      .if(attrs.events.at(parked.position).id.eq(parked.event.id));
  const outcome = await settle(table, parked, step, options);
  if (outcome !== 'itemChanged') return outcome;
  // A relay that raced with the one that parked it could publish it, and the outbox item is gone.
  await removeEntry(table, parked, options);
  return 'Gone';
};

/** Removes the entry and changes the outbox item in one transaction. */
const settle = async (
  table: Table,
  parked: ParkedEvent,
  item: () => Step<unknown>,
  { signal }: SendOptions,
): Promise<'Done' | 'Gone' | 'itemChanged'> => {
  const result = await pastConflicts(() =>
    transactWrite(table, {
      entry: table.of(ParkedEvent).delete(parked).if(isStill(parked)),
      item: item(),
    }).trySend({ signal }),
  );
  if (result.committed) return 'Done';
  return result.failed.entry === undefined ? 'itemChanged' : 'Gone';
};

/** A transaction of one step: its token tells a repeat after a lost response from an entry that was gone. */
const removeEntry = async (table: Table, parked: ParkedEvent, { signal }: SendOptions): Promise<'Done' | 'Gone'> => {
  const { committed } = await pastConflicts(() =>
    transactWrite(table, { entry: table.of(ParkedEvent).delete(parked).if(isStill(parked)) }).trySend({ signal }),
  );
  return committed ? 'Done' : 'Gone';
};
