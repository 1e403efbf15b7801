import { randomUUID } from 'node:crypto';
import {
  TransactionCanceledException,
  joinSteps,
  retryOnConflict,
  transactWrite,
  type EntityTable,
  type HasItem,
  type NotCommitted,
  type NotMet,
  type StepFailure,
  type Steps,
  type Table,
  type Written,
} from '../../commands/index.js';
import { backoff } from '../../commands/retry/backoff.js';
import { invalid } from '../../commands/errors/errors.js';
import { frozen, type Answer } from './answer.js';
import { checkObject } from '../arguments.js';
import { checkedClock } from '../clock.js';
import { checkCall, checkLease } from './bounds.js';
import { hasConflict, isConflict, recordStep } from './conflicts.js';
import { checkEffect, commit, type Commit, type Effect } from './effect.js';
import type { Fingerprint } from './fingerprint.js';
import { LeaseLostError } from './lease-errors.js';
import {
  isHeld,
  isUnchanged,
  leaseFields,
  runningOf,
  runningRecord,
  unknownOf,
  type LeaseState,
  type Running,
  type Unknown,
} from './lease-record.js';
import { HeldLease, type Lease } from './lease.js';
import {
  IdempotencyRecord,
  answerOf,
  claimable,
  idempotencyKey,
  isExpired,
  isOfAnother,
  type CallIdentity,
} from './record.js';

/** What {@link idempotentLease} takes beside the table. */
export interface LeasedCall extends CallIdentity {
  readonly fingerprint: Fingerprint;
  /**
   * How long the answer is kept, in seconds; at most 366 days. It must exceed the time in which the client may retry:
   * after it, a retry counts as a new call. An effect that may have happened is kept for 366 days, until it is decided.
   */
  readonly horizonSeconds: number;
  /**
   * How long a call that crashed keeps others from going on, in seconds; 1 to 86,400, and at most the horizon. Longer
   * than `run` between two recovery points, each of which starts it anew, and than the difference of two clocks: a
   * shorter one loses leases, and no promise.
   */
  readonly leaseSeconds: number;
  /**
   * What becomes of the lease where `run` throws. `release`: the next call goes on at once. `keep`: it waits for the end
   * of the lease, which spares a provider that is in trouble. @default 'release'
   */
  readonly afterError?: 'release' | 'keep' | undefined;
  /** Reads the record, consistently, before it is written; for traffic with many repeats. @default false */
  readonly readFirst?: boolean | undefined;
  /** Runs in all, the first included, where the transaction of the answer met others. @default 5 */
  readonly maxAttempts?: number | undefined;
  /**
   * Aborts requests, waits and the lease's own signal. What an effect has done is stored nevertheless; the same call
   * again tells.
   */
  readonly signal?: AbortSignal | undefined;
  /** @default Date.now */
  readonly now?: (() => number) | undefined;
  /**
   * Does the effects by `lease.effect(…)`, and returns the answer, or `commit(…)` with steps that are written together
   * with it, or `refuse(…)`. It runs again after a conflict and after a crash: effects of which a result is stored are
   * not done again, all else is.
   */
  run(lease: Lease): Answer | Effect<Answer> | Promise<Answer | Effect<Answer>>;
}

/** How a call with a lease ended. */
export type LeaseOutcome = {
  /** This call's lease was taken over while it ran: its own answer is not stored, what the record says is the answer. */
  readonly leaseLost?: true;
} & (
  | {
      /** `committed`: this call's answer. `refused`: a refusal. `replayed`: the first call's answer. */
      readonly outcome: 'committed' | 'refused' | 'replayed';
      readonly answer: Answer;
      readonly replayed: boolean;
    }
  | {
      /** The key was used for another request. */
      readonly outcome: 'mismatch';
      readonly answer?: undefined;
      readonly replayed: false;
    }
  | {
      /** Another call has the lease. */
      readonly outcome: 'inProgress';
      readonly answer?: undefined;
      readonly replayed: false;
      /** When to ask again, in whole seconds from 1 on. */
      readonly retryAfterSeconds: number;
    }
  | {
      /** An effect may have happened, and to do it again could do it twice: see {@link resolveUnknown}. */
      readonly outcome: 'unknown';
      readonly answer?: undefined;
      readonly replayed: false;
      readonly unknown: Unknown;
    }
);

/**
 * Does effects outside of DynamoDB (a payment provider) once per key. The call takes a lease on the record of its key,
 * does its effects under it, and puts the answer in the lease's place, in one transaction with further steps if there are
 * any; a second call answers as the first did. A call that crashed is taken over when its lease has ended, and goes on
 * from the last recovery point. The record is that of {@link idempotentTransaction}, of the same key and fingerprint: take
 * that one wherever the effect is in DynamoDB, as it needs no lease and has no `unknown`.
 *
 * What no crash, lost response, slow call or wrong clock changes:
 * - An effect is done again only with the key that it had, while its provider knows the key (`keySeconds`); otherwise the
 *   call answers `unknown` until {@link resolveUnknown} decides. An effect outside of `lease.effect` is not looked after.
 * - Each write carries the lease's token: a call that was taken over stores nothing, learns it by {@link LeaseLostError}
 *   and the lease's signal, and answers what the record says, with `leaseLost`.
 * - An answer is stored once, and never replaced within its horizon. Where it can't be stored, the results of the effects
 *   are: the next call does them no second time.
 *
 * Clocks only decide when a call that crashed is taken over, and when a key of a provider counts as forgotten.
 *
 * Cost, for a record of up to 1 KB (0.5 KB beside points and answer): a first call with one effect 3 requests, 3 write
 * units (the lease, the result, the answer; for `keySeconds: 0` a request and a unit more); answer and n steps together
 * are 2(n + 1) units instead of 1. A repeat, a mismatch, `inProgress` and `unknown` 1 request, 1 write unit per KB of
 * the record; with `readFirst` 1 read unit per 4 KB, and a first call a request and a unit more. A takeover 1 request
 * and 1 write unit more than the first call. Each run after a conflict 2(n + 1) units more. An error of `run` 1 request
 * and 1 write unit beside the lease, which it gives back.
 *
 * Source: the lease is the lock of seeds/000 (Coordination), the record its idempotency key.
 *
 * @throws InvalidInputError for an option out of its bounds, or a step named `idempotencyRecord`
 * @throws LimitExceededError where the answer doesn't fit the record; the results of the effects are kept
 * @throws InvalidStoredItemError for a record of a newer format
 * @throws TransactionCanceledException where a condition fails and `commit` has no `onFailed`
 * @throws LeaseLostError where the lease ended before an effect began, and nobody took it over; call again
 * @throws what `run` throws
 * @example
 * const charge = async (amount: number, idempotencyKey: string, signal: AbortSignal) => {
 *   const headers = { 'Idempotency-Key': idempotencyKey };
 *   const response = await fetch('https://payments.example/charges', { method: 'POST', headers, body: `${amount}`, signal });
 *   return response.text();
 * };
 * const result = await idempotentLease(shop, {
 *   scope: 'tenant-1',
 *   route: 'pay',
 *   key: 'request-1',
 *   fingerprint: fingerprintOf(1, ['order-1', '500']),
 *   horizonSeconds: 7 * 86_400,
 *   leaseSeconds: 30,
 *   async run(lease) {
 *     const id = await lease.effect('charge', { keySeconds: 86_400 }, ({ providerKey, signal }) =>
 *       charge(500, providerKey, signal),
 *     );
 *     return commit({ order: orders.update(key).set({ status: 'PAID' }) }, { status: 201, body: id });
 *   },
 * });
 * if (result.outcome === 'unknown') console.log('ask the provider about', result.unknown.point);
 */
export const idempotentLease = async (table: Table, call: LeasedCall): Promise<LeaseOutcome> =>
  new LeaseCall(table, call).answer();

const givesAnswer = 'expected the function to give an answer, commit(…) or refuse(…)';

const waiting = (retryAfterSeconds: number): LeaseOutcome => ({
  outcome: 'inProgress',
  replayed: false,
  retryAfterSeconds,
});

class LeaseCall {
  private readonly call: LeasedCall;
  private readonly records: EntityTable<typeof IdempotencyRecord>;
  private readonly key: string;
  /** Of this call alone, so that it knows its own writes again. */
  private readonly owner = randomUUID();
  private readonly maxAttempts: number;
  private readonly clock: () => number;

  constructor(
    private readonly table: Table,
    call: LeasedCall,
  ) {
    checkCall(table, call);
    // A copy: what `run` changes in its input must not complete another call.
    this.call = { ...call, fingerprint: { ...call.fingerprint }, run: (lease) => call.run(lease) };
    const { leaseSeconds, horizonSeconds, afterError = 'release', maxAttempts = 5 } = call;
    checkLease(leaseSeconds, horizonSeconds);
    if (afterError !== 'release' && afterError !== 'keep') invalid('afterError', "expected 'release' or 'keep'");
    this.records = table.of(IdempotencyRecord);
    this.key = idempotencyKey(call);
    this.maxAttempts = maxAttempts;
    this.clock = checkedClock(call.now, 'now');
  }

  private now(): Date {
    return new Date(this.clock());
  }

  async answer(): Promise<LeaseOutcome> {
    const acquired = await this.acquire();
    return acquired instanceof HeldLease ? this.work(acquired) : acquired;
  }

  private read(): Promise<IdempotencyRecord | undefined> {
    return this.records.get({ key: this.key }).consistent().item({ signal: this.call.signal });
  }

  /** The lease, or what the record answers without one. */
  private async acquire(): Promise<HeldLease | LeaseOutcome> {
    const { signal } = this.call;
    let found = this.call.readFirst === true ? await this.read() : undefined;
    let firstAskedAt: number | undefined;
    // One write for a first call, two to take over; more only where others take the key meanwhile.
    for (let writes = 0; ; writes++) {
      const askedAt = performance.now();
      const now = this.now();
      let claim: Claim;
      if (found === undefined || isExpired(found, now)) claim = this.claim(found, now);
      else {
        const running = runningOf(found);
        // An earlier attempt, whose response was lost, took it: its time began when that one was asked.
        if (running?.owner === this.owner) return this.hold(running, firstAskedAt ?? askedAt);
        const outcome = this.outcomeOf(found, running, now);
        if (outcome !== undefined) return outcome;
        claim = this.takeover(running as Running, now);
      }
      if (writes > this.maxAttempts) return waiting(1);
      firstAskedAt ??= askedAt;
      try {
        const result = await retryOnConflict(claim.send, { on: 'transactionConflict', signal });
        if (result.conditionMet) return this.hold(claim.record, askedAt);
        found = result.item ?? (await this.read());
      } catch (error) {
        if (isConflict(error)) return waiting(1);
        throw error;
      }
    }
  }

  private hold(record: Running, askedAt: number): HeldLease {
    const { records, owner, call } = this;
    const { leaseSeconds, signal } = call;
    return new HeldLease({ records, owner, leaseSeconds, signal, now: () => this.now() }, record, askedAt);
  }

  /** What a record that was found answers; undefined where it may be taken over. */
  private outcomeOf(found: IdempotencyRecord, running: Running | undefined, now: Date): LeaseOutcome | undefined {
    if (isOfAnother(found, this.call.fingerprint)) return { outcome: 'mismatch', replayed: false };
    if (running === undefined) return { outcome: 'replayed', answer: answerOf(found), replayed: true };
    const { until } = running.lease;
    if (isHeld(running, now) && until !== undefined) {
      return waiting(Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000)));
    }
    const unknown = unknownOf(running);
    return unknown && { outcome: 'unknown', replayed: false, unknown };
  }

  /** The first lease of a record, where there is none or an expired one. */
  private claim(expired: IdempotencyRecord | undefined, now: Date): Claim {
    const { key, owner, call } = this;
    // From the time on, so that it also grows where the record before was removed.
    const token = Math.max(now.getTime(), (expired?.token ?? 0) + 1);
    const lease = this.leaseFrom(now, { attempt: 1, since: now, points: {} });
    const record = runningRecord(key, call.fingerprint, leaseFields(owner, token, lease, now));
    const condition = claimable(now).and(IdempotencyRecord.attrs.token.notExistsOrLt(token));
    return {
      record: { ...record, owner, token, lease },
      send: () => this.records.put(record).if(condition).returnOldOnFailure().trySend({ signal: call.signal }),
    };
  }

  /** The next lease of a record whose last one has ended. */
  private takeover(ended: Running, now: Date): Claim {
    const { key, owner, call } = this;
    const { attempt, step } = ended.lease;
    const token = Math.max(now.getTime(), ended.token + 1);
    const lease = this.leaseFrom(now, { ...ended.lease, attempt: attempt + 1 });
    const fields = leaseFields(owner, token, lease, now);
    return {
      record: { ...ended, ...fields },
      send: () =>
        this.records
          .update({ key })
          .set(fields)
          .if(isUnchanged(ended.owner, ended.token, step))
          .returnOldOnFailure()
          .trySend({ signal: call.signal }),
    };
  }

  private leaseFrom(now: Date, state: Pick<LeaseState, 'attempt' | 'since' | 'points' | 'decided'>): LeaseState {
    const { leaseSeconds, horizonSeconds } = this.call;
    const until = new Date(now.getTime() + leaseSeconds * 1000);
    return { ...state, step: 0, until, pending: undefined, horizonSeconds };
  }

  private async work(lease: HeldLease): Promise<LeaseOutcome> {
    const { call, maxAttempts } = this;
    try {
      for (let run = 1; ; run++) {
        const outcome = await this.complete(lease, await call.run(lease));
        if (outcome !== undefined) return outcome;
        if (run < maxAttempts) await backoff(run, call.signal).catch(() => undefined);
        if (run >= maxAttempts || call.signal?.aborted === true) return await this.giveUp(lease);
      }
    } catch (error) {
      return await this.failed(lease, error);
    } finally {
      lease.close();
    }
  }

  /** After conflicts without end: the next call goes on from the recovery points. */
  private async giveUp(lease: HeldLease): Promise<LeaseOutcome> {
    const seen = await lease.release().catch(() => undefined);
    return seen === undefined ? waiting(1) : this.told(lease, seen);
  }

  private async failed(lease: HeldLease, error: unknown): Promise<LeaseOutcome> {
    const undecided = lease.undecided !== undefined;
    if (!undecided && !lease.ended && this.call.afterError === 'keep') throw error;
    let seen: IdempotencyRecord | undefined;
    try {
      seen = await lease.release();
      if (undecided) seen ??= await lease.read();
    } catch {
      // The lease ends by itself; why the run failed matters more.
      throw error;
    }
    // What the run threw is not what matters where the answer is stored, where others have the key, or where nothing may
    // go on.
    if (seen !== undefined && (undecided || lease.ended || lease.isOwnAnswer(seen))) return this.told(lease, seen);
    throw error;
  }

  /** Stores the answer; undefined where the run has to be made again. */
  private async complete(lease: HeldLease, made: Answer | Effect<Answer>): Promise<LeaseOutcome | undefined> {
    checkObject(made, 'run', givesAnswer);
    const effect = 'kind' in made ? checkEffect(made) : commit({}, made);
    const answer = frozen(effect.answer);
    if (effect.kind === 'refuse') return this.store(lease, 'refused', answer);
    return Object.keys(effect.steps).length === 0
      ? this.store(lease, 'committed', answer)
      : this.commit(lease, effect, answer);
  }

  private async commit(
    lease: HeldLease,
    { steps, onFailed }: Commit<Answer>,
    answer: Answer,
  ): Promise<LeaseOutcome | undefined> {
    const transaction = transactWrite(this.table, joinSteps({ [recordStep]: lease.completion(answer) }, steps));
    let stopped: NotCommitted<Steps>;
    try {
      const result = await transaction.trySend();
      if (result.committed) return { outcome: 'committed', answer, replayed: false };
      stopped = result;
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
    const { [recordStep]: record, ...failed } = stopped.failed as Record<string, StepFailure>;
    if (record?.reason === 'ConditionalCheckFailed') {
      return this.told(lease, (record.item as IdempotencyRecord | undefined) ?? (await lease.read()));
    }
    if (hasConflict(stopped.others)) return undefined;
    if (onFailed === undefined) throw new TransactionCanceledException(failed, undefined);
    const refusal = onFailed(failed);
    return refusal === undefined ? undefined : this.store(lease, 'refused', frozen(refusal));
  }

  private async store(
    lease: HeldLease,
    outcome: 'committed' | 'refused',
    answer: Answer,
  ): Promise<LeaseOutcome | undefined> {
    try {
      const result = await lease.completion(answer).trySend();
      if (result.conditionMet) return { outcome, answer, replayed: false };
      return this.told(lease, result.item ?? (await lease.read()));
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
  }

  /** What the record says to a call that has no lease any more. */
  private told(lease: HeldLease, seen: IdempotencyRecord | undefined): LeaseOutcome {
    if (seen === undefined) throw new LeaseLostError();
    if (lease.isOwnAnswer(seen)) return { outcome: 'committed', answer: answerOf(seen), replayed: false };
    const outcome = this.outcomeOf(seen, runningOf(seen), this.now()) ?? waiting(1);
    return seen.owner === this.owner ? outcome : { ...outcome, leaseLost: true };
  }
}

/** A write that takes the lease, and the record as it leaves it. */
interface Claim {
  readonly record: Running;
  readonly send: () => Promise<Written | (NotMet & HasItem<IdempotencyRecord | undefined>)>;
}
