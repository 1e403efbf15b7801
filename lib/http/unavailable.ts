import { OutcomeUnknownError, TransactionCanceledException } from '../commands/index.js';
import { isPassingReason } from '../commands/retry/cancellation-reasons.js';

const names = new Set([
  'AbortError',
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);
const network = /^(E(AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_\w+)$/;

interface ServiceError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Whether the same request may succeed later: throttled, out of time, or DynamoDB was not to be reached. */
export const isUnavailable = (error: unknown): boolean => {
  if (error instanceof TransactionCanceledException) {
    return Object.values(error.failed).some(({ reason }) => isPassingReason(reason));
  }
  if (error instanceof OutcomeUnknownError) return true;
  if (typeof error !== 'object' || error === null) return false;
  const { name, code, $metadata } = error as ServiceError;
  return names.has(String(name)) || network.test(String(code)) || ($metadata?.httpStatusCode ?? 0) >= 500;
};
