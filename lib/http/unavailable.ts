import { OutcomeUnknownError, TransactionCanceledException } from '../commands/index.js';

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
const reasons = ['ProvisionedThroughputExceeded', 'ThrottlingError', 'TransactionConflict'];
const network = /^(E(AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_\w+)$/;

interface ServiceError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Whether the same request may succeed later: throttled, out of time, or DynamoDB was not to be reached. */
export const isUnavailable = (error: unknown): boolean => {
  if (error instanceof TransactionCanceledException) {
    return Object.values(error.failed).some(({ reason }) => reasons.includes(reason));
  }
  if (error instanceof OutcomeUnknownError) return true;
  if (typeof error !== 'object' || error === null) return false;
  const { name, code, $metadata } = error as ServiceError;
  return names.has(String(name)) || network.test(String(code)) || ($metadata?.httpStatusCode ?? 0) >= 500;
};
