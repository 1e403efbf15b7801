import { Buffer } from 'node:buffer';
import { isFilledText } from '../../commands/attributes/text.js';
import { corrupt, invalid } from '../../commands/errors/errors.js';
import { type EntityTable, type SendOptions, type Table } from '../../commands/index.js';
import { checkObject, checkOptions, checkTable, isBetween, isWholeBetween } from '../arguments.js';
import { checkedClock } from '../clock.js';
import { newerFormat } from '../newer-format.js';
import { tallyEntity, tallyFormat } from './tally.js';
import { checkWindow, windowEnd, windowOf, type Window } from './window.js';
import { WindowFullError } from './window-full-error.js';

/** When the items of past windows may go. */
export interface WindowExpiry {
  /** The age up to which events are counted; an older one, counted or not, is answered `TooLate`. At most 100 years. */
  readonly latenessMs: number;
  /**
   * How long after its end a window is kept: at least a minute longer than the lateness, and longer than that by as much
   * as the clocks of those who count may be behind. A window that is gone has forgotten what it counted.
   */
  readonly keepMs: number;
}

/** What {@link WindowedCounter} takes. */
export interface WindowedCounterOptions {
  readonly name: string;
  /** Never changes for a name: an id counted in a day's window is not seen in an hour's. @default 'day' */
  readonly window?: Window;
  /** Lets windows expire by the table's time to live; without it they stay, and any lateness is counted once. */
  readonly expiry?: WindowExpiry;
  /** Bytes of ids in a window, which bound what an add costs. @default as many as an item holds, 401,408 */
  readonly maxBytes?: number;
  /** What the items' keys start with, and their type. @default 'TALLY' */
  readonly prefix?: string;
  /** The time in epoch milliseconds, for the lateness. @default Date.now */
  readonly clock?: () => number;
}

/** An event to count. */
export interface CountedEvent {
  /** What makes a second delivery the same event: its own id, never the delivery's. */
  readonly id: string;
  /** The event's own time, from its content, never its arrival: a repeat must meet the window it was counted in. */
  readonly at: Date;
  /** @default 1 */
  readonly amount?: number;
}

/** What became of an event. */
export type CountOutcome = 'Counted' | 'AlreadyCounted' | 'TooLate';

/** What reading a counter takes. */
export interface CountReadOptions extends SendOptions {
  /** @default false */
  readonly consistent?: boolean;
}

const checkFormat = (item: { readonly format?: number } | undefined): void => {
  if ((item?.format ?? 0) > tallyFormat) newerFormat('the window was written');
};

/** 400 KB, without the most that keys, other attributes and the update's own overhead can take. */
const mostBytes = 409_600 - 8_192;

/** 100 years. */
const longest = 100 * 365 * 86_400_000;
/** For clocks that differ a little, and for an expiry in whole seconds. */
const leastMargin = 60_000;

const checkExpiry = (expiry: WindowExpiry): WindowExpiry => {
  const { latenessMs, keepMs } = checkObject(expiry, 'expiry');
  if (!isBetween(latenessMs, 0, longest)) invalid('expiry.latenessMs', 'expected milliseconds from 0 to 100 years');
  if (!isBetween(keepMs, latenessMs + leastMargin, longest + leastMargin))
    invalid('expiry.keepMs', 'expected a minute more than the lateness: a forgotten id would be counted again');
  return { latenessMs, keepMs };
};

/**
 * The idempotent counter: remembers the ids it counted, in a set per window of time, and counts only a new one. An event
 * that is delivered again, or retried, is counted once. The table needs a sort key.
 *
 * - The window follows from the event's own time, so that a repeat after midnight still meets the set it is in. The same
 *   id with another time is another event.
 * - `AlreadyCounted` is a second delivery, or the client's own retry after a lost response, which meets what its first
 *   attempt wrote: both are counted, once.
 * - A write is billed on the larger of the old and the new item, so its cost grows with the set: with ten ids of 300
 *   bytes an add costs 4 write units, where the first cost 1. Keep windows short and ids small.
 * - A full set would let every further write of the window fail: before 400 KB, {@link WindowFullError} says so. A
 *   busier counter takes shorter windows, or several counters, the second example's way.
 * - One item takes about 1000 write units a second.
 *
 * Cost: one request. A success, and a failed condition (a repeat, a full window), take one write unit per KB of the
 * window's item; a failed one also receives the item, up to 400 KB, at no units. There is no conflict.
 *
 * @example
 * const signups = new WindowedCounter(shop, {
 *   name: 'signups',
 *   window: 'hour',
 *   expiry: { latenessMs: 2 * 86_400_000, keepMs: 3 * 86_400_000 },
 * });
 * const event = { id: 'request-1', at: new Date('2026-12-01T10:00:00Z') };
 * if ((await signups.count(event)) === 'AlreadyCounted') console.log('a second delivery');
 * const counted = await signups.read(event.at);
 * @example
 * // Spread over 8 items a window. Their number stays: an id must always meet the set it is in.
 * const spread = Array.from({ length: 8 }, (_, i) => new WindowedCounter(shop, { name: `signups-${i}` }));
 * await spread[shardOf('request-1', 8)]!.count({ id: 'request-1', at: new Date('2026-12-01T10:00:00Z') });
 */
export class WindowedCounter {
  private readonly tally: ReturnType<typeof tallyEntity>;
  private readonly items: EntityTable<ReturnType<typeof tallyEntity>>;
  private readonly name: string;
  private readonly window: Window;
  private readonly expiry: WindowExpiry | undefined;
  private readonly maxBytes: number;
  private readonly clock: () => number;

  constructor(table: Table, options: WindowedCounterOptions) {
    const { name, window = 'day', expiry, maxBytes = mostBytes, prefix, clock } = checkObject(options, 'options');
    this.tally = tallyEntity(prefix);
    this.items = checkTable(table).of(this.tally);
    this.name = name;
    this.window = checkWindow(window);
    if (!isWholeBetween(maxBytes, 1, mostBytes)) invalid('maxBytes', `expected a whole number from 1 to ${mostBytes}`);
    this.expiry = expiry === undefined ? undefined : checkExpiry(expiry);
    this.maxBytes = maxBytes;
    this.clock = checkedClock(clock, 'clock');
  }

  /**
   * Counts the event, unless its id was counted in its window before.
   * @throws WindowFullError where the window holds no further id; InvalidInputError for an id that never fits
   */
  async count(event: CountedEvent, options: SendOptions = {}): Promise<CountOutcome> {
    const { id, at, amount = 1 } = checkObject(event, 'event');
    const { signal } = checkOptions(options);
    const { count, seen, seenBytes, expires, format } = this.tally.attrs;
    const { name, expiry, maxBytes } = this;
    const window = windowOf(at, this.window);
    const bytes = isFilledText(id) ? Buffer.byteLength(id) : invalid('id', 'expected a text');
    if (bytes > maxBytes) invalid('id', 'has more bytes than a window may hold');
    if (expiry !== undefined && at.getTime() < this.clock() - expiry.latenessMs) return 'TooLate';
    // A window that lost its set, by other hands, would count everything again.
    const isKnown = format.le(tallyFormat).and(seen.isType('SS')).and(count.isType('N'));
    const isNew = seen
      .contains(id)
      .negate()
      .and(seenBytes.between(0, maxBytes - bytes));
    const result = await this.items
      .update({ name, window })
      .add(count, amount)
      .add(seen, [id])
      .add(seenBytes, bytes)
      .setIfDefined(expires, expiry && new Date(windowEnd(at, this.window) + expiry.keepMs))
      .setIfNotExists(format, tallyFormat)
      .if(this.tally.attrs.name.notExists().or(isKnown.and(isNew)))
      .returnOldOnFailure()
      .trySend({ signal });
    if (result.conditionMet) return 'Counted';
    checkFormat(result.item);
    const { item } = result;
    if (item?.seen.has(id) === true) return 'AlreadyCounted';
    if (item !== undefined && (item.seen.size === 0 || item.seenBytes < 0))
      corrupt('seen', 'the ids that were counted');
    throw new WindowFullError(maxBytes);
  }

  /**
   * The count of the window of a time. Cost: one request, the read units of the whole item, its set included.
   * @throws InvalidStoredItemError for a window of a newer format
   */
  async read(at: Date, options: CountReadOptions = {}): Promise<number> {
    const { consistent = false, signal } = checkOptions(options);
    const get = this.items.get({ name: this.name, window: windowOf(at, this.window) }).project('count', 'format');
    const item = await (consistent ? get.consistent() : get).item({ signal });
    checkFormat(item);
    return item?.count ?? 0;
  }

  /**
   * The count of the windows from that of one time to that of another, both included. Cost: a request per MB, the read
   * units of the whole items, their sets included.
   * @throws InvalidStoredItemError for a window of a newer format
   */
  async sum(from: Date, to: Date, options: CountReadOptions = {}): Promise<number> {
    const { consistent = false, signal } = checkOptions(options);
    const query = this.items
      .query({ name: this.name })
      .between({ window: windowOf(from, this.window) }, { window: windowOf(to, this.window) })
      .project('count', 'format');
    let sum = 0;
    for await (const item of (consistent ? query.consistent() : query).items({ signal })) {
      checkFormat(item);
      sum += item.count;
    }
    return sum;
  }
}
