import { Buffer } from 'node:buffer';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, isArray, isBetween } from '../arguments.js';
import type { Publisher, RelayedEvent } from './publisher.js';
import { asReason, reasonOf } from './reason.js';

/** An event that was not published. What says nothing about the event itself does not count against it. */
export interface PublishFailure {
  readonly retryable: boolean;
  readonly reason: string;
  readonly counts: boolean;
  readonly error?: unknown;
}

/** How many leading events were acknowledged, and why the next one was not. */
export interface Sent {
  readonly accepted: number;
  readonly failure: PublishFailure | undefined;
}

/** Events of one aggregate that go in one batch, in their order. */
interface Group {
  readonly events: readonly RelayedEvent[];
  readonly bytes: number;
  readonly settle: (sent: Sent) => void;
}

/** How long a batch that is not full waits for an aggregate that is busy with the database. */
const lingerMs = 20;

/** What says neither that it was sent nor that it was not is no answer, and nothing is removed for it. */
const isAnswer = (answer: unknown): boolean => typeof (answer as { ok?: unknown } | null | undefined)?.ok === 'boolean';

const jsonBytes = (event: RelayedEvent): number => Buffer.byteLength(JSON.stringify(event));

/**
 * Fills batches over many aggregates: one leaves when it is full, when every aggregate at work waits for an answer, so that
 * nothing could be added, or when it has waited for the others for a moment.
 */
export class Batches {
  private readonly maximumEvents: number;
  private readonly maximumBytes: number;
  private readonly sizeOf: (event: RelayedEvent) => number;
  private queue: Group[] = [];
  /** Aggregates at work that may soon have something to publish. */
  private busy = 0;
  private soon: ReturnType<typeof setImmediate> | undefined;
  private linger: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly publisher: Publisher) {
    const { maximumEvents = 10, maximumBytes = 262_144 } = publisher;
    if (!isBetween(maximumEvents, 1, Infinity)) invalid('publisher.maximumEvents', 'expected a number from 1 on');
    if (!isBetween(maximumBytes, 1, Infinity)) invalid('publisher.maximumBytes', 'expected a number from 1 on');
    this.maximumEvents = maximumEvents;
    this.maximumBytes = maximumBytes;
    const { sizeOf } = publisher as { readonly sizeOf?: unknown };
    if (sizeOf !== undefined) checkFunction(sizeOf, 'publisher.sizeOf');
    this.sizeOf = publisher.sizeOf?.bind(publisher) ?? jsonBytes;
  }

  /** Runs the work on one aggregate, which may publish while it lasts. */
  async lane<R>(work: () => Promise<R>): Promise<R> {
    this.busy++;
    try {
      return await work();
    } finally {
      this.busy--;
      this.flush();
    }
  }

  /** Waits for something in which nobody should wait for this aggregate. */
  async idle(wait: () => Promise<void>): Promise<void> {
    this.busy--;
    this.flush();
    try {
      await wait();
    } finally {
      this.busy++;
    }
  }

  /** Publishes a leading part of one aggregate's events: as many as may go together. */
  async publish(events: readonly RelayedEvent[]): Promise<Sent> {
    const { promise, resolve } = Promise.withResolvers<Sent>();
    this.queue.push({ ...this.leading(events), settle: resolve });
    this.busy--;
    this.flush();
    return promise;
  }

  private leading(events: readonly RelayedEvent[]): { events: readonly RelayedEvent[]; bytes: number } {
    const most = this.publisher.keepsOrder === true ? this.maximumEvents : 1;
    let bytes = 0;
    let count = 0;
    for (const event of events) {
      const more = this.sizeOf(event);
      if (!isBetween(more, 0, Infinity)) invalid('publisher.sizeOf', 'must give a number of bytes');
      if (count >= most || (count > 0 && bytes + more > this.maximumBytes)) break;
      bytes += more;
      count++;
    }
    return { events: events.slice(0, count), bytes };
  }

  /** Sends what is full; the rest when nobody is busy, or when it has waited. */
  private flush(): void {
    for (let { groups, full } = this.next(); full; { groups, full } = this.next()) this.take(groups);
    if (this.queue.length === 0) return;
    // Looked at a turn later: an aggregate whose turn has just come may add to it.
    if (this.busy === 0) this.soon ??= setImmediate(() => this.rest());
    else this.linger ??= setTimeout(() => this.rest(true), lingerMs);
  }

  private rest(late = false): void {
    if (late) this.linger = undefined;
    else this.soon = undefined;
    if (this.busy > 0 && !late) return this.flush();
    while (this.queue.length > 0) this.take(this.next().groups);
    clearTimeout(this.linger);
    this.linger = undefined;
  }

  private take(groups: readonly Group[]): void {
    this.queue = this.queue.slice(groups.length);
    void this.send(groups);
  }

  /** The next batch, and whether what comes after does not fit. */
  private next(): { groups: Group[]; full: boolean } {
    const groups: Group[] = [];
    let count = 0;
    let bytes = 0;
    for (const group of this.queue) {
      count += group.events.length;
      bytes += group.bytes;
      if (groups.length > 0 && (count > this.maximumEvents || bytes > this.maximumBytes)) return { groups, full: true };
      groups.push(group);
      if (count >= this.maximumEvents) return { groups, full: true };
    }
    return { groups, full: false };
  }

  private async send(groups: readonly Group[]): Promise<void> {
    const failures = await this.answers(groups.flatMap(({ events }) => events));
    // All at once, before any of them goes on: the batch after this one waits for each of them.
    this.busy += groups.length;
    let start = 0;
    for (const { events, settle } of groups) {
      const own = failures.slice(start, (start += events.length));
      const failed = own.findIndex((failure) => failure !== undefined);
      // One that was accepted after one that failed is published again: it counts in its turn.
      settle({ accepted: failed < 0 ? events.length : failed, failure: own[failed] });
    }
  }

  private async answers(events: readonly RelayedEvent[]): Promise<readonly (PublishFailure | undefined)[]> {
    const unreached = (reason: string, error: unknown): PublishFailure[] =>
      events.map(() => ({ retryable: true, reason, counts: false, error }));
    try {
      const answers = await this.publisher.publish(events);
      if (!isArray(answers) || answers.length !== events.length || !answers.every(isAnswer))
        return unreached('UnexpectedAnswer', new TypeError('The publisher must give one answer for each event.'));
      return answers.map((answer) =>
        answer.ok ? undefined : { retryable: answer.retryable, reason: asReason(answer.reason), counts: true },
      );
    } catch (error) {
      return unreached(reasonOf(error), error);
    }
  }
}
