import { checkOptions, isWholeBetween } from '../arguments.js';
import { drainOf, type Drain } from './drain.js';
import type { AggregateDrain, DrainCounts } from './drain-lane.js';
import { checkMs, type DrainOptions } from './drain-options.js';
import { drainTogether } from './drain-together.js';
import type { OutboxPlace } from './outbox.js';
import type { OutboxItem } from './outbox-item.js';
import type { Publisher } from './publisher.js';
import { reasonOf } from './reason.js';
import { isMisplaced, maximumShards } from './shard.js';
import type { WakeUp } from './wake-up.js';

/** What {@link drainAll} takes. */
export interface DrainAllOptions extends DrainOptions {
  /**
   * Leaves events alone whose time is less than this ago: another relay, woken by the stream, is at them. An event with a
   * time far in the future counts as old. @default 0
   */
  readonly olderThanMs?: number;
}

/** What {@link drainAll} did, in all. */
export interface DrainedAll extends DrainCounts {
  /** Aggregates of which nothing is left, as far as it was seen. */
  readonly drained: number;
  /** Aggregates that a parked event holds back. */
  readonly blocked: number;
  /** Aggregates with an event that could not be published, or in whose way the database was. */
  readonly failed: number;
  /** Shards that could not be read to their end. */
  readonly unread: number;
  /** Items found that were old enough, blocked ones among them; what waits behind a blocked one is not looked at. */
  readonly waiting: number;
  /** How old the oldest of them was, in milliseconds; 0 where `olderThanMs` is 0, since no time is then read. */
  readonly oldestMs: number;
  /** Why aggregates failed and shards were not read, and how often: codes of the publisher's, and names of errors. */
  readonly reasons: Readonly<Record<string, number>>;
  /**
   * Items that were published with another number of shards than this relay has. They were looked for and published all the
   * same; unless the number is being changed, give relay and publishers the same one: an alarm belongs on it.
   */
  readonly otherShards: number;
  /** Whether the signal came before the end. */
  readonly stopped: boolean;
}

const pageItems = 100;
const shardsAtATime = 4;

/**
 * Publishes what waits in the whole outbox: finds the aggregates by a query of each shard, and drains each as
 * {@link drainAggregate} does. For a relay without a stream, and beside one for what its wake-ups missed: records that
 * aged out, a function that was broken.
 *
 * It also looks into one shard beyond its own, another one each time, and follows the number of shards that is stored with
 * each item: with a wrong number here, events are late and `otherShards` tells, but none is lost.
 *
 * Cost: half a read unit per 4 KB of what waits and of each shard, one request more than there are shards; then that of
 * `drainAggregates` for those that were found. Of the events behind a parked one, no more is read than
 * its page shows, and what lies within a shared read.
 *
 * @returns what was done; failures are answered, not thrown
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * const publisher = publishEach(({ type, detail }) => console.log(type, detail.length));
 * const { published, failed, otherShards } = await drainAll({ table: shop, shards: 8 }, publisher, {
 *   olderThanMs: 60_000,
 *   signal: AbortSignal.timeout(50_000),
 * });
 * if (otherShards > 0) console.log('the publishers have another number of shards');
 */
export const drainAll = async (
  place: OutboxPlace,
  publisher: Publisher,
  options: DrainAllOptions = {},
): Promise<DrainedAll> => {
  const { olderThanMs = 0 } = checkOptions(options);
  checkMs(olderThanMs, 'olderThanMs');
  return new Sweep(drainOf(place, publisher, options), olderThanMs).run();
};

/** What is read of an item to find its aggregate; its events, which are most of it, only where their age is asked for. */
type Seen = Pick<OutboxItem, 'aggregate' | 'sequence' | 'parkedAt' | 'shards'> & Partial<Pick<OutboxItem, 'events'>>;

interface SeenPage {
  readonly items: readonly Seen[];
  readonly next: string | undefined;
}

class Sweep {
  private readonly totals = {
    published: 0,
    removed: 0,
    parked: 0,
    drained: 0,
    blocked: 0,
    failed: 0,
    unread: 0,
    waiting: 0,
  };
  private readonly reasons: Record<string, number> = {};
  private otherShards = 0;
  private oldestMs = 0;
  private stopped = false;
  private queue: number[];
  /** Shards below this one are in the queue, or were. */
  private known: number;
  private readonly probe: number;

  constructor(
    private readonly drain: Drain,
    private readonly olderThanMs: number,
  ) {
    const { place, terms } = drain;
    this.known = Math.max(place.shards, terms.previousShards ?? 0);
    this.probe = this.known + Math.floor(Math.random() * this.known);
    this.queue = [...Array(this.known).keys(), this.probe];
  }

  async run(): Promise<DrainedAll> {
    while (this.queue.length > 0) {
      const shards = this.queue.splice(0);
      const work = async (): Promise<void> => {
        for (let shard = shards.shift(); shard !== undefined; shard = shards.shift()) await this.sweepShard(shard);
      };
      await Promise.all(Array.from({ length: shardsAtATime }, work));
    }
    const { totals, reasons, otherShards, oldestMs, stopped } = this;
    return { ...totals, reasons, otherShards, oldestMs, stopped };
  }

  private get isOver(): boolean {
    this.stopped ||= this.drain.terms.signal?.aborted === true;
    return this.stopped;
  }

  private async sweepShard(shard: number): Promise<void> {
    /** The aggregate behind whose last item to go on, and the page of the query that does. */
    let behind: string | undefined;
    let from: string | undefined;
    for (;;) {
      if (this.isOver) return;
      let page: SeenPage;
      try {
        page = await this.seen(shard, behind, from);
      } catch (error) {
        if (this.isOver) return;
        this.totals.unread++;
        this.count(reasonOf(error));
        return;
      }
      const goOn = await this.drainSeen(shard, page.items);
      const last = page.items.at(-1)?.aggregate;
      if (page.next === undefined) return;
      // What waits behind an event that can't be published would be read for nothing.
      if (last === undefined || goOn(last)) from = page.next;
      else [behind, from] = [last, undefined];
    }
  }

  /** A read that may be behind: what it shows is committed, and what it does not show yet is found the next time. */
  private async seen(shard: number, behind: string | undefined, from: string | undefined): Promise<SeenPage> {
    const { items, terms } = this.drain;
    const all = items.query({ shard });
    const query = (behind === undefined ? all : all.gt({ aggregate: behind })).limit(pageItems).after(from);
    return this.olderThanMs > 0
      ? query.project('aggregate', 'sequence', 'parkedAt', 'shards', 'events').page(terms)
      : query.project('aggregate', 'sequence', 'parkedAt', 'shards').page(terms);
  }

  /** Drains the aggregates of a page. @returns whether to go on with an aggregate on the next page */
  private async drainSeen(shard: number, seen: readonly Seen[]): Promise<(aggregate: string) => boolean> {
    const held = new Set<string>();
    const wakeUps: WakeUp[] = [];
    for (const item of seen) {
      const { aggregate, sequence } = item;
      this.compareShards(shard, item);
      const isOld = this.isOld(item);
      if (isOld) this.totals.waiting++;
      if (held.has(aggregate)) continue;
      if (item.parkedAt !== undefined) {
        held.add(aggregate);
        // Unless events before it wait, whose drain will tell.
        if (!wakeUps.some((wakeUp) => wakeUp.aggregate === aggregate)) this.totals.blocked++;
      } else if (isOld) wakeUps.push({ aggregate, upTo: sequence, shard });
    }
    for (const aggregate of await drainTogether(this.drain, wakeUps)) {
      this.add(aggregate);
      if (aggregate.outcome !== 'drained') held.add(aggregate.aggregate);
    }
    return (aggregate) => !held.has(aggregate);
  }

  private isOld({ events = [] }: Seen): boolean {
    const [first] = events;
    if (this.olderThanMs === 0 || first === undefined) return true;
    const ms = this.drain.terms.clock() - first.time.getTime();
    if (Math.abs(ms) < this.olderThanMs) return false;
    this.oldestMs = Math.max(this.oldestMs, ms);
    return true;
  }

  private compareShards(shard: number, item: Seen): void {
    const { shards: own } = this.drain.place;
    const { shards } = item;
    if (shards === own || (shards === undefined && !isMisplaced(item.aggregate, shard, own))) return;
    this.otherShards++;
    // A number that no publisher can have is somebody else's: it would have all 10,000 looked into.
    const needed = isWholeBetween(shards, 1, maximumShards) ? Math.max(shard + 1, shards) : shard + 1;
    for (; this.known < needed; this.known++) if (this.known !== this.probe) this.queue.push(this.known);
  }

  private add({ outcome, reason, published, removed, parked }: AggregateDrain): void {
    const { totals } = this;
    totals.published += published;
    totals.removed += removed;
    totals.parked += parked;
    if (outcome === 'stopped') this.stopped = true;
    else totals[outcome]++;
    if (outcome !== 'drained' && reason !== undefined) this.count(reason);
  }

  private count(reason: string): void {
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
  }
}
