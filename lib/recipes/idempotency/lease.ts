import { Buffer } from 'node:buffer';
import { isFilledText } from '../../commands/attributes/text.js';
import { LimitExceededError, retryOnConflict, type EntityTable, type Put } from '../../commands/index.js';
import type { HasItem } from '../../commands/write/write-results.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkObject, isBetween } from '../arguments.js';
import type { Answer } from './answer.js';
import { EffectUndecidedError, LeaseLostError } from './lease-errors.js';
import {
  answeredRecord,
  horizonEnd,
  isOwn,
  isUnchanged,
  leaseFields,
  runningOf,
  type LeaseState,
  type Running,
} from './lease-record.js';
import { providerKeyOf } from './provider-key.js';
import { fitting, type IdempotencyRecord } from './record.js';

/** What the provider of an effect promises about a second request. */
export interface EffectTerms {
  /**
   * How long the provider knows a key again, in seconds: it answers a second request with the key as it answered the
   * first, and does nothing. `Infinity` for always; 0 where it takes no key, and then the effect is never begun twice
   * unasked. Else at least the lease. Counted from before the first attempt could have begun the effect: from the first
   * lease, or a recovery point of the first attempt.
   */
  readonly keySeconds: number;
  /** Whether the error proves that the effect did not happen, such as a refused connection. @default never */
  readonly notDone?: ((error: unknown) => boolean) | undefined;
}

/** What an effect gets. */
export interface EffectCall {
  /** The key for the provider: a UUID, the same in every attempt of this call. */
  readonly providerKey: string;
  /** The lease's. */
  readonly signal: AbortSignal;
}

/** What the run of {@link idempotentLease} works with. Its methods are called one after the other. */
export interface Lease {
  /**
   * The fencing token, for a store that can refuse a smaller one than it saw. It starts at the time in milliseconds and
   * grows with each lease of the record, whatever clocks say. Once time to live has removed the record it starts at the
   * time again, which may be less where clocks differ or a request was under way meanwhile: after the horizon, or at any
   * time after a call that ended before any effect.
   */
  readonly token: number;
  /** 1 for the first lease of the record. */
  readonly attempt: number;
  /** The recovery points: what this and earlier attempts stored, by name. */
  readonly points: Readonly<Record<string, string>>;
  /**
   * Aborts where the lease has ended or was taken over, with a {@link LeaseLostError}, and when the caller's signal does.
   */
  readonly signal: AbortSignal;
  /**
   * Does an effect outside of DynamoDB, and stores its result as a recovery point: where an attempt did so before, that
   * result is returned and nothing is done. Where an earlier attempt began it and left no result, it is done again with
   * the same key; where the provider takes none, or has forgotten it, it is not done again.
   *
   * Cost: 1 request and 1 write unit per KB of the record; for `keySeconds: 0` one more, before the effect.
   *
   * @param point names the effect, for all versions of the code
   * @returns the result: text, such as JSON; all of a call's together at most 300,000 bytes
   * @throws EffectUndecidedError where it may have been done before; the call then answers `unknown`
   * @throws LeaseLostError where the lease is over
   */
  effect(point: string, terms: EffectTerms, run: (effect: EffectCall) => string | Promise<string>): Promise<string>;
  /**
   * Stores a recovery point. Of an effect that threw, it says what became of it, and later attempts don't do it again.
   * Cost: 1 request, 1 write unit per KB of the record.
   *
   * @throws LeaseLostError where another call has taken the lease over
   */
  checkpoint(point: string, text?: string): Promise<void>;
}

export type CompletionPut = Put<typeof IdempotencyRecord, unknown, HasItem<IdempotencyRecord | undefined>>;

/** What a lease is held under. */
export interface LeaseTerms {
  readonly records: EntityTable<typeof IdempotencyRecord>;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly signal: AbortSignal | undefined;
  readonly now: () => Date;
}

const maximumPoints = 300_000;
/** A record that is to count as none has expired so long ago, for clocks that are behind: a day. */
const skewMs = 86_400_000;

/** A lease that this call holds, or held. */
export class HeldLease implements Lease {
  readonly token: number;
  readonly attempt: number;
  /** Of the lease as it runs now: one that ended, and was found to be this call's still, starts anew. */
  private ending = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** When the lease ends on the clock that never jumps. */
  private endsAt = 0;
  /** What is known; stored by the next write. */
  private state: LeaseState;
  /** Effects that this attempt began and that may have happened. */
  private readonly begun = new Set<string>();
  private busy = false;
  /** Why nothing more can be written. */
  private failure: Error | undefined;
  /** What an effect was refused with. */
  undecided: EffectUndecidedError | undefined;

  /** @param askedAt when the lease was asked for, by `performance.now()` */
  constructor(
    private readonly terms: LeaseTerms,
    private readonly record: Running,
    askedAt: number,
  ) {
    this.token = record.token;
    this.state = record.lease;
    this.attempt = record.lease.attempt;
    this.endAfter(askedAt);
  }

  get signal(): AbortSignal {
    const { signal } = this.terms;
    return signal === undefined ? this.ending.signal : AbortSignal.any([signal, this.ending.signal]);
  }

  get points(): Readonly<Record<string, string>> {
    return { ...this.state.points };
  }

  /** Whether an earlier attempt may have begun any effect of which no result is stored. */
  private get mayBeOpen(): boolean {
    return this.attempt > 1;
  }

  /** Whether the lease was taken over, or its time was over. */
  get ended(): boolean {
    return this.ending.signal.aborted;
  }

  async effect(
    point: string,
    terms: EffectTerms,
    run: (effect: EffectCall) => string | Promise<string>,
  ): Promise<string> {
    checkPoint(point);
    const { keySeconds, notDone } = checkObject(terms, 'terms');
    // Before the effect: what fails after it leaves its outcome unknown.
    if (notDone !== undefined) checkFunction(notDone, 'notDone');
    checkFunction(run, 'run');
    if (!(keySeconds === 0 || isBetween(keySeconds, this.terms.leaseSeconds, Infinity))) {
      invalid('keySeconds', 'expected seconds, at least those of the lease, or 0 where the provider takes no key');
    }
    return this.alone(async () => {
      if (Object.hasOwn(this.state.points, point)) return this.state.points[point] as string;
      const again = this.begun.has(point);
      await this.begin(point, keySeconds);
      let text: string;
      try {
        text = await run({ providerKey: providerKeyOf(this.record.key, point), signal: this.signal });
      } catch (error) {
        if (notDone?.(error) === true && !again) {
          this.begun.delete(point);
          this.state = { ...this.state, pending: undefined };
        }
        throw error;
      }
      await this.settle(point, text);
      return text;
    });
  }

  async checkpoint(point: string, text = ''): Promise<void> {
    checkPoint(point);
    await this.alone(() => this.settle(point, text));
  }

  private async alone<R>(work: () => Promise<R>): Promise<R> {
    if (this.busy) invalid('lease', 'expected one call of its methods after the other');
    this.busy = true;
    try {
      return await work();
    } finally {
      this.busy = false;
    }
  }

  /** What has to be so before an effect begins. */
  private async begin(point: string, keySeconds: number): Promise<void> {
    const { leaseSeconds, now, signal } = this.terms;
    const { pending, since, decided, until } = this.state;
    // Another effect may have happened or not: nothing goes on from there.
    if (pending !== undefined) throw this.undecide();
    // A process that slept must not begin what another one may have done since, with a key that is forgotten by now.
    if (performance.now() >= this.endsAt || (until !== undefined && until <= now()))
      this.ending.abort(new LeaseLostError());
    this.signal.throwIfAborted();
    if (keySeconds === 0) {
      await this.write({ pending: point }, signal);
    } else if (this.mayBeOpen || this.begun.has(point)) {
      // The provider must know the key until this lease ends.
      const begun = decided !== undefined && Object.hasOwn(decided, point) ? (decided[point] as Date) : since;
      const known = now().getTime() + leaseSeconds * 1000 <= begun.getTime() + keySeconds * 1000;
      if (!known) {
        this.state = { ...this.state, pending: point };
        throw this.undecide();
      }
    }
    this.begun.add(point);
  }

  private undecide(): EffectUndecidedError {
    return (this.undecided = new EffectUndecidedError());
  }

  /** Stores what became of an effect: also where the caller wants no more, since it has happened. */
  private async settle(point: string, text: string): Promise<void> {
    if (typeof text !== 'string') invalid('lease', 'expected text as the result, such as JSON');
    const points = { ...this.state.points, [point]: text };
    if (bytesOf(points) > maximumPoints) {
      throw new LimitExceededError(
        'points',
        'exceed 300,000 bytes: store what is needed to go on, or a reference to it',
      );
    }
    this.begun.delete(point);
    const { pending, since } = this.state;
    this.state = {
      ...this.state,
      points,
      pending: pending === point ? undefined : pending,
      since: this.mayBeOpen || this.begun.size > 0 ? since : this.terms.now(),
    };
    await this.write({}, undefined);
  }

  /** Writes what is known, and starts the lease anew. */
  private async write(change: Partial<LeaseState>, signal: AbortSignal | undefined): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const { records, owner, leaseSeconds, now } = this.terms;
    const askedAt = performance.now();
    const at = now();
    const { step } = this.state;
    const state = { ...this.state, ...change, step: step + 1, until: new Date(at.getTime() + leaseSeconds * 1000) };
    const send = () =>
      records
        .update({ key: this.record.key })
        .set(leaseFields(owner, this.token, state, at))
        .if(isUnchanged(owner, this.token, step))
        .returnOldOnFailure()
        .trySend({ signal });
    try {
      const result = await retryOnConflict(send, { on: 'transactionConflict', signal });
      if (!result.conditionMet && !this.isOwnAt(result.item ?? (await this.read()), step + 1)) this.lose();
    } catch (error) {
      // Whether it was written is not known, so no later write could say what it expects to find.
      throw (this.failure ??= error as Error);
    }
    this.state = state;
    if (this.ended) this.ending = new AbortController();
    this.endAfter(askedAt);
  }

  /** Whether an attempt of the client, whose response was lost, wrote it. */
  private isOwnAt(found: IdempotencyRecord | undefined, step: number): boolean {
    const running = found && runningOf(found);
    return running?.owner === this.terms.owner && running.token === this.token && running.lease.step === step;
  }

  private lose(): never {
    const lost = new LeaseLostError();
    this.ending.abort(lost);
    throw lost;
  }

  /** The record as it is stored. */
  read(): Promise<IdempotencyRecord | undefined> {
    return this.terms.records.get({ key: this.record.key }).consistent().item();
  }

  /** Whether the record is what this lease answered. */
  isOwnAnswer(found: IdempotencyRecord): boolean {
    return runningOf(found) === undefined && found.owner === this.terms.owner && found.token === this.token;
  }

  /** The put that stores the answer in place of the lease, only while the lease is this call's. */
  completion(answer: Answer): CompletionPut {
    const { records, owner, now } = this.terms;
    const record = answeredRecord(this.record, owner, answer, horizonEnd(this.record, now()));
    const put = fitting(() => records.put(record));
    return put.if(isOwn(owner, this.token)).returnOldOnFailure();
  }

  /**
   * Ends the lease without an answer. The record of a call of which nothing may have happened expires with it, so that it
   * counts as none; it is not removed, since the next lease's token must grow.
   *
   * @returns the record where it is not this call's any more
   */
  async release(): Promise<IdempotencyRecord | undefined> {
    this.close();
    const { records, owner, leaseSeconds, now } = this.terms;
    const { key } = this.record;
    const { pending, points, step } = this.state;
    const isBlank =
      this.attempt === 1 && pending === undefined && this.begun.size === 0 && Object.keys(points).length === 0;
    // Two steps on: a write of this lease that is still under way must not meet what it expects.
    const state = { ...this.state, step: step + 2, until: undefined };
    const send = () => {
      const at = now();
      const fields = leaseFields(owner, this.token, state, at);
      return records
        .update({ key })
        .set(isBlank ? { ...fields, expiresAt: new Date(at.getTime() - skewMs) } : fields)
        .if(isOwn(owner, this.token))
        .trySend({ signal });
    };
    // The caller's signal may be why the lease ends; after the lease, there is nothing left to release.
    const signal = AbortSignal.timeout(Math.ceil(leaseSeconds * 1000));
    const { conditionMet } = await retryOnConflict(send, { on: 'transactionConflict', signal });
    return conditionMet ? undefined : this.read();
  }

  /** Nothing is written by this lease from now on. */
  close(): void {
    clearTimeout(this.timer);
    this.failure ??= new LeaseLostError();
  }

  private endAfter(askedAt: number): void {
    clearTimeout(this.timer);
    this.endsAt = askedAt + this.terms.leaseSeconds * 1000;
    const end = () => this.ending.abort(new LeaseLostError());
    this.timer = setTimeout(end, Math.max(0, Math.ceil(this.endsAt - performance.now())));
    this.timer.unref();
  }
}

const bytesOf = (points: Readonly<Record<string, string>>): number =>
  Object.entries(points).reduce((bytes, entry) => bytes + Buffer.byteLength(entry.join('')), 0);

const checkPoint = (point: string): void => {
  if (!isFilledText(point) || point === '__proto__') invalid('point', 'expected a name, not empty');
};
