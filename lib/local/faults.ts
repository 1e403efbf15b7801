import { ApiError, serviceError } from './engine/api-error.js';
import { wait } from './engine/turn.js';
import type { Body } from './engine/types.js';

/** The request that a fault hook decides about. */
export interface FaultRequest {
  /** The API operation, such as `PutItem`. */
  readonly operation: string;
  /** The request's body as it came, for hooks that choose by table, key or token. */
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * What goes wrong with a request, and where. `before`: it has no effect. `after`: it has its effect, but the answer is the
 * error. An error is one of these names, or a type with its message; `drop` breaks the connection instead of answering.
 */
export type LocalFault = { readonly at: 'before' | 'after'; readonly delayMs?: number | undefined } & (
  { readonly error: FaultError } | { readonly drop: true } | { readonly delayMs: number }
);

/**
 * `Throttling` and `ProvisionedThroughputExceeded` are retried by the SDK, `TransactionInProgress` and `InternalServerError`
 * too; `TransactionConflict` is not: a transaction is cancelled with it as the reason of each item. With
 * `TransactionThrottled` a transaction is cancelled since one of its items was throttled, which the SDK does not retry
 * either; any other request meets `Throttling`.
 */
export type FaultName =
  | 'InternalServerError'
  | 'ProvisionedThroughputExceeded'
  | 'Throttling'
  | 'TransactionConflict'
  | 'TransactionInProgress'
  | 'TransactionThrottled';

/** One of the names above, or any error by its type. */
export type FaultError = FaultName | { readonly type: string; readonly message?: string; readonly statusCode?: number };

/** Decides for each request whether something goes wrong; a random source of its own makes it repeatable. */
export type Faults = (request: FaultRequest) => LocalFault | undefined;

/** Thrown instead of an answer: whoever carries the answer breaks the connection. */
export class DroppedConnection extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('socket hang up');
  }
}

/** Plays the part of a fault that belongs here: waits, then throws. */
export async function playFault(
  fault: LocalFault | undefined,
  at: LocalFault['at'],
  request: FaultRequest,
): Promise<void> {
  if (fault?.at !== at) return;
  const { delayMs } = fault;
  if (delayMs !== undefined) await wait(delayMs);
  if ('drop' in fault) throw new DroppedConnection();
  if ('error' in fault) throw faultError(fault.error, request);
}

function faultError(error: FaultError, { operation, input }: FaultRequest): Error {
  if (typeof error !== 'string') {
    const { type, message = 'Injected fault', statusCode = 400 } = error;
    return new ApiError(statusCode, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message });
  }
  switch (error) {
    case 'InternalServerError':
      return new ApiError(500, {
        __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
        message: 'Internal server error',
      });
    case 'Throttling':
      return new ApiError(400, {
        __type: 'com.amazon.coral.availability#ThrottlingException',
        message: 'Rate of requests exceeds the allowed throughput.',
      });
    case 'ProvisionedThroughputExceeded':
      return serviceError(
        'ProvisionedThroughputExceededException',
        'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
      );
    case 'TransactionInProgress':
      return serviceError(
        'TransactionInProgressException',
        'The transaction with the given request token is already in progress.',
      );
    case 'TransactionConflict': {
      const message = 'Transaction is ongoing for the item';
      if (!operation.startsWith('Transact')) return serviceError('TransactionConflictException', message);
      return cancelled(input, () => ({ Code: 'TransactionConflict', Message: message }));
    }
    case 'TransactionThrottled': {
      if (!operation.startsWith('Transact')) return faultError('Throttling', { operation, input });
      const message = 'Throughput exceeds the current capacity for one or more global secondary indexes or the table.';
      return cancelled(input, (i) => (i === 0 ? { Code: 'ThrottlingError', Message: message } : { Code: 'None' }));
    }
  }
}

function cancelled(input: Body, reasonOf: (item: number) => { readonly Code: string }): Error {
  const reasons = ((input['TransactItems'] ?? []) as unknown[]).map((_, i) => reasonOf(i));
  return serviceError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`,
    { CancellationReasons: reasons },
  );
}
