import { SafeWritesError } from '../errors/errors.js';

/** What a batch came to where DynamoDB left some of it; its `trySend` has the exact type. */
export interface Incomplete {
  readonly complete: false;
  /** What stays: the positions of writes, or the names of reads. */
  readonly unprocessed: readonly unknown[];
  readonly requests: number;
}

/**
 * DynamoDB left a part of a batch unprocessed, retries included; the rest is done. `cause` is the last throttling error,
 * if it was one that stopped the retries.
 *
 * @example
 * await batchWrite(shop, [orders.delete(key)]).catch((error: unknown) => {
 *   if (!(error instanceof UnprocessedError)) throw error;
 *   console.warn(error.message, error.result.unprocessed);
 * });
 */
export class UnprocessedError extends SafeWritesError {
  static override get kind(): string {
    return 'UnprocessedError';
  }
  /** What was done, and what stays: the answer that `trySend` gives. */
  readonly result: Incomplete;

  constructor(what: string, total: number, result: Incomplete, cause: unknown) {
    const left = result.unprocessed.length;
    super(`DynamoDB left ${left} of the ${total} ${what} of a batch unprocessed after retries.`, { cause });
    this.result = result;
    Object.defineProperty(this, 'result', { enumerable: false });
  }
}
