import { OutcomeUnknownError, TransactionCanceledException, type StepFailure } from '../../commands/index.js';
import { isNamed } from '../../commands/send/failures.js';

/** The record's name among the steps of a transaction. */
export const recordStep = 'idempotencyRecord';

const inFlight = ['TransactionConflictException', 'TransactionInProgressException'];

/** Why steps failed, by their names; of those that did not, nothing. */
export type Reasons = Readonly<Record<string, Pick<StepFailure, 'reason'> | undefined>>;

export const hasConflict = (failed: Reasons = {}): boolean =>
  Object.values(failed).some((failure) => failure?.reason === 'TransactionConflict');

/**
 * Whether nothing was written because another transaction holds one of the items, or this one is not done yet. An attempt
 * of it that takes effect later meets the condition of the record, as the next run does: only one of them writes.
 */
export const isConflict = (error: unknown): boolean =>
  error instanceof TransactionCanceledException
    ? hasConflict(error.failed)
    : error instanceof OutcomeUnknownError || inFlight.some((name) => isNamed(error, name));
