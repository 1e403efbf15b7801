import {
  TransactionCanceledException,
  joinSteps,
  transactWrite,
  type Put,
  type StepFailure,
  type Table,
} from '../../commands/index.js';
import type { HasItem } from '../../commands/write/write-results.js';
import { backoff } from '../../commands/retry/backoff.js';
import { frozen, type Answer } from './answer.js';
import { checkedClock } from '../clock.js';
import { checkBounds, checkCall } from './bounds.js';
import { hasConflict, isConflict, recordStep, type Reasons } from './conflicts.js';
import { checkEffect, type Commit, type Effect } from './effect.js';
import type { Fingerprint } from './fingerprint.js';
import {
  IdempotencyRecord,
  answerOf,
  claimable,
  fitting,
  idempotencyKey,
  isExpired,
  isInProgress,
  isOfAnother,
  recordOf,
  type CallIdentity,
} from './record.js';

export { checkBounds };

/** One run of an idempotent call. */
export interface Attempt {
  /** 1 for the first: only that one may use what was read before the call. */
  readonly attempt: number;
  /** When the run began. */
  readonly now: Date;
  readonly signal: AbortSignal | undefined;
}

/** What {@link idempotentTransaction} takes beside the table. */
export interface IdempotentCall extends CallIdentity {
  readonly fingerprint: Fingerprint;
  /**
   * How long the answer is kept, in seconds; at most 366 days. It must exceed the time in which the client may retry:
   * after it, a retry counts as a new call.
   */
  readonly horizonSeconds: number;
  /**
   * Reads the record, consistently, before `run`. For traffic with many repeats, or a `run` that costs: a repeat then
   * takes 1 read unit instead of the write units of a cancelled transaction, a first call 1 request and 1 read unit
   * more. @default false
   */
  readonly readFirst?: boolean | undefined;
  /** Runs in all, the first included. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Aborts requests and waits. The effect may still have been committed: the same call again tells. */
  readonly signal?: AbortSignal | undefined;
  /** @default Date.now */
  readonly now?: (() => number) | undefined;
  /**
   * Builds the effect: `commit(…)` or `refuse(…)`. It runs again after a conflict, so all it does itself is read; its
   * writes are the steps. What it throws is thrown, and nothing is stored.
   */
  run(attempt: Attempt): Effect<Answer> | Promise<Effect<Answer>>;
}

/** How an idempotent call ended. */
export type IdempotentOutcome =
  | {
      /** `committed`: the effect and its answer. `refused`: a refusal. `replayed`: the first call's answer. */
      readonly outcome: 'committed' | 'refused' | 'replayed';
      readonly answer: Answer;
      readonly replayed: boolean;
    }
  | {
      /** `mismatch`: the key was used for another request. `conflict`: other calls are in flight; ask again later. */
      readonly outcome: 'mismatch' | 'conflict';
      readonly answer?: undefined;
      readonly replayed: false;
    };

const conflict: IdempotentOutcome = { outcome: 'conflict', replayed: false };

/**
 * Does an effect once per key: the effect and the record of its answer commit in one transaction, and a second call
 * answers as the first did (seeds/000, Idempotency keys). What decides, in this order: the record's condition (replay or
 * mismatch), another transaction in the way (run again, at most `maxAttempts` times, full jitter), a condition of the
 * effect's own (its refusal is stored by a write of the record alone, under the record's condition).
 *
 * An unknown outcome (a lost response, a time-out) is safe to call again with the same key: the record's condition meets
 * what the first attempt wrote. Nothing marks a call as in progress, so a process that dies leaves nothing to wait for.
 * The end of the horizon is told by the clock of the process that asks: one that is ahead by more than what is left of it
 * takes the key for free.
 *
 * Cost: a first call 1 request; 2 write units per KB of the record and of each item of the effect. A repeat 1 request
 * and as many write units again, since a cancelled transaction is billed; with `readFirst` 1 request and 1 read unit per
 * 4 KB of the record. A run after a conflict about the key reads first. A refusal of `refuse` 1 request, 1 write unit
 * per KB; of a failed condition 2 requests.
 *
 * @throws InvalidInputError for an option out of its bounds, or a step named `idempotencyRecord`
 * @throws LimitExceededError where the answer doesn't fit the record, before anything is written
 * @throws InvalidStoredItemError for a record of a newer format
 * @throws TransactionCanceledException where a condition fails and `commit` has no `onFailed`
 * @example
 * const result = await idempotentTransaction(shop, {
 *   scope: 'tenant-1',
 *   route: 'register',
 *   key: 'request-1',
 *   fingerprint: fingerprintOf(1, [JSON.stringify(user)]),
 *   horizonSeconds: 86_400,
 *   run: () => commit({ user: registrants.put(user).ifNotExists() }, { body: user.id }),
 * });
 * if (result.answer) console.log(result.answer.body, result.replayed);
 */
export const idempotentTransaction = async (table: Table, call: IdempotentCall): Promise<IdempotentOutcome> => {
  checkCall(table, call);
  const { maxAttempts = 5, signal } = call;
  const attempts = new Attempts(table, call);
  for (let attempt = 1; ; attempt++) {
    const outcome = await attempts.run(attempt);
    if (outcome !== undefined) return outcome;
    if (attempt >= maxAttempts) return conflict;
    // Whatever became of this run, the same call again is safe: giving up here is a conflict like any other.
    await backoff(attempt, signal).catch(() => undefined);
    if (signal?.aborted === true) return conflict;
  }
};

type RecordPut = Put<typeof IdempotencyRecord, unknown, HasItem<IdempotencyRecord | undefined>>;

class Attempts {
  private readonly records;
  private readonly key: string;
  private readonly sendOptions: { readonly signal: AbortSignal | undefined };
  private readFirst: boolean;
  private readonly clock: () => number;

  constructor(
    private readonly table: Table,
    private readonly call: IdempotentCall,
  ) {
    this.records = table.of(IdempotencyRecord);
    this.key = idempotencyKey(call);
    this.sendOptions = { signal: call.signal };
    this.readFirst = call.readFirst === true;
    this.clock = checkedClock(call.now, 'now');
  }

  /** One run; undefined where it has to be run again. */
  async run(attempt: number): Promise<IdempotentOutcome | undefined> {
    const { call, records, key, sendOptions } = this;
    const now = new Date(this.clock());
    if (this.readFirst) {
      const found = await records.get({ key }).consistent().item(sendOptions);
      if (found !== undefined && !isExpired(found, now)) return this.compare(found);
    }
    const effect = checkEffect(await call.run({ attempt, now, signal: call.signal }));
    const answer = frozen(effect.answer);
    const claim = this.claim(answer, now);
    try {
      return effect.kind === 'refuse'
        ? await this.storeRefusal(claim, answer)
        : await this.commit(effect, claim, answer, now);
    } catch (error) {
      if (isConflict(error))
        return this.again(error instanceof TransactionCanceledException ? error.failed : undefined);
      throw error;
    }
  }

  /** The put that takes the key, built before anything is sent. */
  private claim(answer: Answer, now: Date): RecordPut {
    const { call, key } = this;
    const expiresAt = new Date(now.getTime() + call.horizonSeconds * 1000);
    const put = fitting(() => this.records.put(recordOf(key, call.fingerprint, answer, expiresAt)));
    return put.if(claimable(now)).returnOldOnFailure();
  }

  private async commit(
    effect: Commit<Answer>,
    claim: RecordPut,
    answer: Answer,
    now: Date,
  ): Promise<IdempotentOutcome | undefined> {
    const transaction = transactWrite(this.table, joinSteps({ [recordStep]: claim }, effect.steps));
    const result = await transaction.trySend(this.sendOptions);
    if (result.committed) return { outcome: 'committed', answer, replayed: false };
    const { [recordStep]: record, ...failed } = result.failed as Record<string, StepFailure>;
    if (record?.reason === 'ConditionalCheckFailed') return this.met(record.item as IdempotencyRecord | undefined);
    if (hasConflict(result.others)) return this.again(result.others);
    if (effect.onFailed === undefined) throw new TransactionCanceledException(failed, undefined);
    const refusal = effect.onFailed(failed);
    if (refusal === undefined) return undefined;
    const kept = frozen(refusal);
    return this.storeRefusal(this.claim(kept, now), kept);
  }

  private async storeRefusal(claim: RecordPut, answer: Answer): Promise<IdempotentOutcome | undefined> {
    const result = await claim.trySend(this.sendOptions);
    // Another call with the key was first, and its answer is everyone's.
    return result.conditionMet ? { outcome: 'refused', answer, replayed: false } : this.met(result.item);
  }

  /** What the record that a condition met says. */
  private met(found: IdempotencyRecord | undefined): IdempotentOutcome | undefined {
    if (found !== undefined) return this.compare(found);
    // A policy may forbid the item that a failed condition saw; then a read tells.
    return this.again();
  }

  /**
   * Has the call run again; with a read before it where the key was in flight, since repeats that read are in nobody's
   * way, and a crowd of them would be in each other's.
   */
  private again(failed?: Reasons): undefined {
    if (failed === undefined || failed[recordStep]?.reason === 'TransactionConflict') this.readFirst = true;
  }

  private compare(found: IdempotencyRecord): IdempotentOutcome {
    // A lease has the key: this call may neither do the effect nor tell its answer.
    const outcome = isInProgress(found) ? conflict : replayOf(answerOf(found));
    return isOfAnother(found, this.call.fingerprint) ? { outcome: 'mismatch', replayed: false } : outcome;
  }
}

const replayOf = (answer: Answer): IdempotentOutcome => ({ outcome: 'replayed', answer, replayed: true });
