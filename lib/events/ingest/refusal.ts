import { InvalidInputError, LimitExceededError } from '../../commands/index.js';
import { isNamed } from '../../commands/send/failures.js';
import { EventTooLateError } from '../../recipes/index.js';
import { poisonReasonOf } from '../poison/failure-destination.js';
import type { PoisonReason } from '../poison/poison-record-error.js';

/** A table with other keys refuses every item: that is no fault of the event. */
const misfit = 'does not match the schema';

/**
 * Why an event will be refused however often it is written; undefined for a failure that may pass.
 *
 * @param versions the names of the attributes that hold versions
 */
export const refusalOf = (error: unknown, versions: ReadonlySet<string>): PoisonReason | undefined => {
  if (error instanceof EventTooLateError) return 'late';
  if (error instanceof InvalidInputError) return versions.has(error.path) ? 'version' : 'content';
  if (error instanceof LimitExceededError) return 'content';
  if (isNamed(error, 'ValidationException') && !String((error as Error).message).includes(misfit)) return 'content';
  return poisonReasonOf(error);
};
