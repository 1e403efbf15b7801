import { ApiError, serviceError } from './engine/api-error.js';
import { CONFLICT_MESSAGE } from './engine/locks.js';
import { wait } from './engine/turn.js';
import type { Body } from './engine/types.js';
import { cancelled, reasonOf } from './operations/cancellation.js';

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

/** Why a step stops its transaction; `None` says nothing of the step, whatever its condition would say. */
export type FaultReason =
  | 'ItemCollectionSizeLimitExceeded'
  | 'None'
  | 'ProvisionedThroughputExceeded'
  | 'ThrottlingError'
  | 'TransactionConflict';

/**
 * One of the names above, or any error by its type; or the reasons for which TransactWriteItems or TransactGetItems is
 * cancelled, one for each step: undefined is what the step's condition says of the table as it stands, with the item where
 * the step asks for it. Where all come to `None` the transaction goes on, as does any other request.
 */
export type FaultError =
  | FaultName
  | { readonly type: string; readonly message?: string; readonly statusCode?: number }
  | { readonly reasons: readonly (FaultReason | undefined)[] };

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
  if ('error' in fault && (at === 'after' || !isReasons(fault.error))) throw faultError(fault.error, request);
}

/** The reasons that the operation itself is to give, since it knows what the conditions say. */
export const faultReasons = (fault: LocalFault | undefined): Reasons | undefined =>
  fault?.at === 'before' && 'error' in fault && isReasons(fault.error) ? fault.error.reasons : undefined;

type Reasons = readonly (FaultReason | undefined)[];

const isReasons = (error: FaultError): error is { readonly reasons: Reasons } =>
  typeof error === 'object' && 'reasons' in error;

function faultError(error: FaultError, { operation, input }: FaultRequest): Error {
  if (isReasons(error)) return cancelled(error.reasons.map((code) => reasonOf(code ?? 'None')));
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
    case 'TransactionConflict':
      if (!operation.startsWith('Transact')) return serviceError('TransactionConflictException', CONFLICT_MESSAGE);
      return cancelled(stepsOf(input).map(() => reasonOf('TransactionConflict')));
    case 'TransactionThrottled':
      if (!operation.startsWith('Transact')) return faultError('Throttling', { operation, input });
      return cancelled(stepsOf(input).map((_, i) => reasonOf(i === 0 ? 'ThrottlingError' : 'None')));
  }
}

const stepsOf = (input: Body): readonly unknown[] => (input['TransactItems'] ?? []) as unknown[];
