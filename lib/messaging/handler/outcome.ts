import { OutcomeUnknownError, SafeWritesError } from '../../commands/index.js';
import { isNamed } from '../../commands/send/failures.js';

/**
 * Whether a transaction may or may not have been committed: no answer came, or none that says. An answer of status 4xx
 * says that this request changed nothing.
 */
export const isUnknown = (error: unknown): boolean => {
  if (isInTheWay(error)) return true;
  if (error instanceof SafeWritesError) return false;
  const status = (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode ?? 0;
  return !(status >= 400 && status < 500);
};

/** Whether it is not known because an attempt of the transaction itself, or another one, was in the way each time. */
export const isInTheWay = (error: unknown): boolean =>
  error instanceof OutcomeUnknownError || isNamed(error, 'TransactionInProgressException');

/** Whether the request token was used for another request, so that it says nothing about this one. */
export const isMismatch = (error: unknown): boolean => isNamed(error, 'IdempotentParameterMismatchException');
