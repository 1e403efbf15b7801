import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isFilledText } from '../../commands/attributes/text.js';
import type { Put, Table } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject, checkTable, isArray, isBetween } from '../arguments.js';
import { checkItemBytes, storedEvent, type OutboxEvent } from './event.js';
import { OutboxItem, outboxFormat } from './outbox-item.js';
import { checkShards, shardOf } from './shard.js';
import { maximumBytesOf, type OutboxTarget } from './target.js';

/** What {@link outbox} takes. */
export interface OutboxOptions {
  /** The source of events that name none: who publishes, such as `shop.orders`. */
  readonly source: string;
  /** Where a relay will send the events, which bounds their size. @default 'eventbridge' */
  readonly target?: OutboxTarget;
  /**
   * Partitions that the outbox is spread over; each takes about 300 small events a second, written and deleted. The
   * relay is told the same number; to change it, see the relay's `previousShards`. @default 8
   */
  readonly shards?: number;
}

/** What one transaction publishes of one aggregate. */
export type Publication = Events & (Ordered | Unordered);

interface Events {
  /** In the order in which they are to be published; at least one. */
  readonly events: readonly OutboxEvent[];
  /** The W3C trace context that the events belong to. */
  readonly traceparent?: string | undefined;
}
interface Ordered {
  /** What the events are about; events of one aggregate are published in the order of its sequence. */
  readonly aggregate: string;
  /**
   * The aggregate's version, which the same transaction moves on, under a condition: this is what makes the numbers
   * follow the order of the commits.
   */
  readonly sequence: number;
}
interface Unordered {
  readonly aggregate?: undefined;
  readonly sequence?: undefined;
}

/** Where an outbox is: what a relay needs to know. An {@link Outbox} is one. */
export interface OutboxPlace {
  readonly table: Table;
  /** Those of the publishers. */
  readonly shards: number;
}

/** See {@link outbox}. */
export interface Outbox extends OutboxPlace {
  /**
   * The step that publishes events with the transaction that it is added to: they leave if, and only if, it commits. At
   * least once, so consumers deduplicate by event id. One publication per aggregate and transaction; without an
   * aggregate, events have a key of their own and no promise of order.
   *
   * Cost: 1 step of the transaction, 2 write units per KB of its events; later 1 delete.
   *
   * @throws InvalidInputError for no events, and one that no target takes
   * @throws LimitExceededError for an event that is too large for the target, and events over 400 KB in all; both before
   *   the commit, since a committed event that can't be sent would block its aggregate
   * @example
   * const account = { id: 'alice', balance: 100, revision: 6 };
   * await transactWrite(shop, {
   *   account: accounts.put(account),
   *   event: outbox(shop, { source: 'shop.accounts' }).publish({
   *     aggregate: `account:${account.id}`,
   *     sequence: account.revision + 1,
   *     events: [{ type: 'balance.changed', detail: { balance: account.balance } }],
   *   }),
   * });
   */
  publish(publication: Publication): Put<typeof OutboxItem, unknown, unknown>;
}

/**
 * The transactional outbox of a table (seeds/000, Transactional outbox): events are written in the transaction of what
 * they tell, and a relay sends them afterwards.
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example const events = outbox(shop, { source: 'shop.orders' });
 */
export const outbox = (table: Table, options: OutboxOptions): Outbox => {
  const { source, target = 'eventbridge', shards = 8 } = checkObject(options, 'options');
  checkTable(table);
  const maximum = maximumBytesOf(target);
  if (!isFilledText(source)) invalid('source', 'expected text, not empty');
  checkShards(shards, 'shards');
  if (!isBetween(maximum, 1, Infinity)) invalid('target', "expected 'eventbridge', 'sns', 'sqs' or { maximumBytes }");
  const items = table.of(OutboxItem);
  return {
    table,
    shards,
    publish(publication) {
      const { events, traceparent, aggregate: named, sequence } = checkObject(publication, 'publication');
      if (!isArray(events) || events.length === 0) invalid('events', 'expected at least one event');
      if (traceparent !== undefined && !isTraceparent(traceparent)) invalid('traceparent', 'expected the W3C form');
      if ((named === undefined) !== (sequence === undefined))
        invalid('sequence', 'goes with an aggregate, and only so');
      if (named !== undefined && typeof named !== 'string') invalid('aggregate', 'expected text');
      const aggregate = named ?? randomUUID();
      const item = {
        shard: shardOf(aggregate, shards),
        aggregate,
        sequence: sequence ?? 0,
        format: outboxFormat,
        events: events.map((event) => storedEvent(event, source, aggregate, maximum)),
        traceparent,
        shards,
      };
      checkItemBytes(item.events, aggregate);
      if (aggregate.length > 300) checkSortKey(item);
      // A number given twice would replace an event that was not sent yet.
      return items.put(item).ifNotExists();
    },
  };
};

/** A sort key's limit, less the six bytes by which that of a parked event is longer. */
const maximumKeyBytes = 1_024 - 6;

const checkSortKey = (item: { readonly aggregate: string; readonly sequence: number }): void => {
  if (Buffer.byteLength(OutboxItem.sk.of(item)) > maximumKeyBytes)
    invalid('aggregate', `expected a name that makes a sort key of at most ${maximumKeyBytes} bytes`);
};

/**
 * Whether the text is a W3C trace context header, version 00 (https://www.w3.org/TR/trace-context/).
 *
 * @example isTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'); // true
 */
export const isTraceparent = (text: string): boolean =>
  typeof text === 'string' && /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(text);
