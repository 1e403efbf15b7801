import type { Invocation } from './invoke.js';

/** Why records were discarded. */
export type DiscardCondition = 'RetryAttemptsExhausted' | 'RecordAgeExceeded';

/**
 * What the on-failure destination gets of a discarded batch: where it was, and none of its content
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html).
 */
export interface FailureRecord {
  readonly requestContext: {
    readonly requestId: string;
    readonly functionArn: string;
    readonly condition: DiscardCondition;
    readonly approximateInvokeCount: number;
  };
  readonly responseContext: {
    readonly statusCode: number;
    readonly executedVersion: string;
    /** Absent where the function reported failures and threw nothing. */
    readonly functionError?: string;
  };
  readonly version: '1.0';
  readonly timestamp: string;
}

/** Records that a mapping gives up. */
export interface Discarded<R> {
  readonly records: readonly R[];
  readonly condition: DiscardCondition;
  /** How often the function was called with them. */
  readonly invokeCount: number;
  /** The last call, if there was one. */
  readonly invocation: Invocation | undefined;
}

/** The metadata of a discarded batch, without the part that names its records. */
export function failureRecord<R>(
  { condition, invokeCount, invocation }: Discarded<R>,
  functionArn: string,
  now: number,
): FailureRecord {
  return {
    requestContext: {
      requestId: invocation?.requestId ?? '00000000-0000-0000-0000-000000000000',
      functionArn,
      condition,
      approximateInvokeCount: invokeCount,
    },
    responseContext: {
      statusCode: 200,
      executedVersion: '$LATEST',
      ...(invocation !== undefined && 'functionError' in invocation ? { functionError: invocation.functionError } : {}),
    },
    version: '1.0',
    timestamp: new Date(now).toISOString(),
  };
}
