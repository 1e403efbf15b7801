import { invalid } from '../errors/errors.js';
import { checkSignal } from '../send/send-options.js';
import { backoff } from './backoff.js';
import { reasonsOf } from './cancellation-reasons.js';

/** What counts as a conflict: any lost race, or only a transaction in the way. */
export type ConflictKind = 'any' | 'transactionConflict';

/** What {@link retryOnConflict} takes beside the function. */
export interface RetryOptions {
  /** Runs in all, the first included; more for a hot item. @default 5 */
  readonly maxAttempts?: number;
  /**
   * `any`: a failed condition, or a transaction in the way; for a read-modify-write that reads again.
   * `transactionConflict`: only a transaction in the way; for a run that reads nothing, or whose failed condition is
   * its answer. @default 'any'
   */
  readonly on?: ConflictKind;
  readonly signal?: AbortSignal | undefined;
}

/** What each run gets. */
export interface Run {
  /** 1 for the first: a value read before the call may serve that one, every later run reads again. */
  readonly run: number;
  readonly signal: AbortSignal | undefined;
}

const isConflict = (error: unknown, kind: ConflictKind): boolean => {
  const reasons = reasonsOf(error);
  const failedCondition = reasons.includes('ConditionalCheckFailed');
  if (kind === 'any') return failedCondition || reasons.includes('TransactionConflict');
  // A failed condition is the answer, even where another step also met a transaction.
  return !failedCondition && reasons.includes('TransactionConflict');
};

/**
 * Runs a read-modify-write again when it loses to another writer, with a short random wait between runs. The function
 * reads again itself, or the next run changes nothing; it must be safe to run twice. With n writers that each write
 * once, a run loses at most n - 1 times; while new ones keep arriving, any number of times: give a hot item more
 * attempts (seeds/000, Optimistic locking).
 *
 * A versioned write whose response was lost meets its own first attempt on the client's retry, fails its condition, and
 * counts as a conflict. A failed condition of `trySend` is an answer and none.
 *
 * No run follows a transaction of which an attempt may yet take effect: it is sent again as it is until its outcome is
 * known, or an OutcomeUnknownError is thrown. A condition that fails is known in that sense: where the attempt could pass
 * it later, after others have written, let the transaction write what its condition forbids, such as a version or an id.
 * A transaction that the function sends by the SDK itself is not looked after.
 *
 * @throws the failure of the last run, and anything that is no conflict at once
 * @example
 * await retryOnConflict(async ({ signal }) => {
 *   const account = await accounts.get({ id: 'alice' }).consistent().item({ signal });
 *   await accounts.put({ ...account!, balance: account!.balance + 1000 }).send({ signal });
 * });
 */
export const retryOnConflict = async <R>(fn: (run: Run) => Promise<R>, options: RetryOptions = {}): Promise<R> => {
  if (typeof options !== 'object' || (options as unknown) === null) invalid('options', 'expected an object, or none');
  const { maxAttempts = 5, on = 'any', signal } = options;
  checkSignal(signal);
  if (typeof fn !== 'function') invalid('retryOnConflict', 'expected a function that reads and writes');
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
    invalid('maxAttempts', 'expected a whole number from 1 on');
  if (on !== 'any' && on !== 'transactionConflict') invalid('on', "expected 'any' or 'transactionConflict'");
  for (let run = 1; ; run++) {
    signal?.throwIfAborted();
    try {
      return await fn({ run, signal });
    } catch (error) {
      if (run >= maxAttempts || !isConflict(error, on)) throw error;
    }
    await backoff(run, signal);
  }
};
