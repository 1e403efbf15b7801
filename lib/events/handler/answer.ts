import type { Batch } from '../sources/delivery.js';
import { itemFailures, withFollowers, type BatchResponse } from '../sources/item-failures.js';
import { BatchFailedError } from './batch-failed-error.js';
import type { Progress } from './progress.js';

/**
 * What Lambda is told of a batch.
 *
 * @throws BatchFailedError where records failed and can't be told from the others
 */
export const answerOf = (batch: Batch, progress: Progress, partial: boolean): BatchResponse => {
  const failed = withFollowers(batch, progress.failed());
  if (failed.size === 0) return { batchItemFailures: [] };
  const fail = (why: string): never => {
    throw new BatchFailedError(failed.size, batch.deliveries.length, why);
  };
  if (!partial) return fail('the mapping was not said to take partial responses');
  return { batchItemFailures: itemFailures(batch, failed) ?? fail('one of them has no identifier') };
};
