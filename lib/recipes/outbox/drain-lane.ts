import { corrupt } from '../../commands/errors/errors.js';
import { isWholeBetween } from '../arguments.js';
import { newerFormat } from '../newer-format.js';
import type { PublishFailure } from './batches.js';
import type { Drain } from './drain.js';
import { noteFailure, remove } from './failures.js';
import { outboxFormat, type OutboxItem } from './outbox-item.js';
import type { RelayedEvent } from './publisher.js';
import { reasonOf } from './reason.js';
import { sendLeading } from './send.js';
import type { SharedReads } from './shared-reads.js';
import { waitingItems, type Aggregate } from './waiting-items.js';

/** What was done. */
export interface DrainCounts {
  /** Events that the publisher acknowledged. */
  readonly published: number;
  /** Outbox items removed. */
  readonly removed: number;
  /** Events parked. */
  readonly parked: number;
}

/**
 * What a drain did with an aggregate. `drained`: nothing is left up to the sequence. `blocked`: a parked event holds back
 * the others. `failed`: an event could not be published, or the database was in the way; the next drain tries again.
 * `stopped`: the signal came first.
 */
export interface AggregateDrain extends DrainCounts {
  readonly aggregate: string;
  readonly outcome: 'drained' | 'blocked' | 'failed' | 'stopped';
  /** Why it failed: the publisher's code, or the name of the error. */
  readonly reason: string | undefined;
  /** What the publisher or the database threw, if one did. */
  readonly error: unknown;
}

/** An event in its item, which changes where an event before it was passed over. */
interface Entry {
  item: OutboxItem;
  readonly position: number;
  readonly event: RelayedEvent;
  readonly isLast: boolean;
}

const relayed = ({ aggregate, sequence, traceparent, events }: OutboxItem, position: number): RelayedEvent => {
  const { id, type, source, detail, time } = events[position] as OutboxItem['events'][number];
  return { id, type, source, detail, time, aggregate, sequence, position, traceparent };
};

/** Whether it has the events that it counts; else some could be removed that nobody sent. */
const isCounted = ({ events, published = 0 }: OutboxItem): boolean =>
  events.length > 0 && isWholeBetween(published, 0, events.length);

/** How often an aggregate is read again because another relay changed an item in between. */
const maximumReads = 5;

/** Publishes what waits of one aggregate, in order, and removes what was acknowledged. */
export class DrainLane {
  private published = 0;
  private removed = 0;
  private parked = 0;
  /** Runs beside the publishing, one after another, so that what is left is never before what is gone. */
  private removals: Promise<void> = Promise.resolve();
  private removalFailure: { readonly error: unknown } | undefined;
  private failure: PublishFailure | undefined;

  constructor(
    private readonly drain: Drain,
    private readonly of: Aggregate,
    private reads: SharedReads | undefined,
  ) {}

  async run(): Promise<AggregateDrain> {
    const { drain } = this;
    return drain.inTurn(() =>
      drain.batches.lane(async () => {
        const answer = await this.outcome();
        await drain.batches.idle(() => this.removals);
        const { published, removed, parked } = this;
        return { aggregate: this.of.aggregate, ...answer, published, removed, parked };
      }),
    );
  }

  private get isStopping(): boolean {
    return this.drain.terms.signal?.aborted === true;
  }

  private async outcome(): Promise<Pick<AggregateDrain, 'outcome' | 'reason' | 'error'>> {
    try {
      const outcome = await this.readAndPublish();
      return { outcome, reason: this.failure?.reason, error: this.failure?.error };
    } catch (error) {
      if (this.isStopping && error !== this.removalFailure?.error)
        return { outcome: 'stopped', reason: undefined, error: undefined };
      return { outcome: 'failed', reason: reasonOf(error), error };
    }
  }

  private async readAndPublish(): Promise<AggregateDrain['outcome']> {
    for (let read = 1; read <= maximumReads; read++) {
      const outcome = await this.publishWaiting();
      await this.settled();
      if (outcome !== 'lost') return outcome;
    }
    this.failure = { retryable: true, reason: 'Contention', counts: false };
    return 'failed';
  }

  private async publishWaiting(): Promise<AggregateDrain['outcome'] | 'lost'> {
    if (this.isStopping) return 'stopped';
    for await (const items of await this.waiting()) {
      const outcome = await this.publishPage(items);
      if (outcome !== undefined) return outcome;
      await this.settled();
      if (this.isStopping) return 'stopped';
    }
    return 'drained';
  }

  /** Pages of items: what was read with others' at first, and what is read again by itself. */
  private async waiting(): Promise<AsyncIterable<readonly OutboxItem[]> | Iterable<readonly OutboxItem[]>> {
    const { reads } = this;
    this.reads = undefined;
    const items = await reads?.itemsOf(this.of);
    return items === undefined ? waitingItems(this.drain, this.of) : [items];
  }

  private async publishPage(items: readonly OutboxItem[]): Promise<AggregateDrain['outcome'] | 'lost' | undefined> {
    const isStop = (item: OutboxItem): boolean => {
      const { parkedAt, format } = item;
      return parkedAt !== undefined || format > outboxFormat || !isCounted(item);
    };
    const stop = items.findIndex(isStop);
    const outcome = await this.publishEntries(this.entries(stop < 0 ? items : items.slice(0, stop)));
    if (outcome !== undefined || stop < 0) return outcome;
    const { parkedAt, format } = items[stop] as OutboxItem;
    if (parkedAt !== undefined) return 'blocked';
    if (format <= outboxFormat) corrupt('OUTBOX.published', 'a number of its events');
    newerFormat('the events were written');
  }

  private entries(items: readonly OutboxItem[]): Entry[] {
    return items.flatMap((item) => {
      const first = item.published ?? 0;
      // Its last event was skipped.
      if (first >= item.events.length) this.remove(item);
      return item.events.slice(first).map((_, i) => {
        const position = first + i;
        return { item, position, event: relayed(item, position), isLast: position === item.events.length - 1 };
      });
    });
  }

  private async publishEntries(entries: readonly Entry[]): Promise<AggregateDrain['outcome'] | 'lost' | undefined> {
    const { drain } = this;
    let next = 0;
    while (next < entries.length) {
      if (this.removalFailure !== undefined) throw this.removalFailure.error;
      if (this.isStopping) return 'stopped';
      const events = entries.slice(next).map(({ event }) => event);
      const { accepted, failure } = await sendLeading(drain.batches, events, drain.terms);
      this.published += accepted;
      for (const { item, isLast } of entries.slice(next, next + accepted)) if (isLast) this.remove(item);
      next += accepted;
      if (failure === undefined) continue;
      this.failure = failure;
      if (!failure.counts) return this.isStopping ? 'stopped' : 'failed';
      const { item, position, isLast } = entries[next] as Entry;
      const noted = await noteFailure(drain, item, position, failure);
      if (noted === 'lost') return 'lost';
      if (noted === 'noted') return 'failed';
      this.parked++;
      if (noted === 'blocked') return 'blocked';
      this.failure = undefined;
      if (isLast) this.remove(item);
      next++;
      const passed = { ...item, published: position + 1, attempts: undefined, failingSince: undefined };
      for (const entry of entries) if (entry.item === item) entry.item = passed;
    }
    return undefined;
  }

  private remove(item: OutboxItem): void {
    this.removals = this.removals.then(async () => {
      if (this.removalFailure !== undefined) return;
      try {
        if (await remove(this.drain, item)) this.removed++;
      } catch (error) {
        this.removalFailure = { error };
      }
    });
  }

  private async settled(): Promise<void> {
    // Nobody's batch waits for it meanwhile: it has nothing to publish.
    await this.drain.batches.idle(() => this.removals);
    if (this.removalFailure !== undefined) throw this.removalFailure.error;
  }
}
