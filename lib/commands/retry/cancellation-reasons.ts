import { isNamed } from '../send/failures.js';

/** Whether the table, or a partition, had too much to do. */
export const isThrottledReason = (reason: string): boolean =>
  reason === 'ThrottlingError' || reason === 'ProvisionedThroughputExceeded';

/** Whether it says nothing about the items, so that the same transaction may succeed later. */
export const isPassingReason = (reason: string): boolean =>
  reason === 'TransactionConflict' || isThrottledReason(reason);

/** The reasons of a failed write, as DynamoDB's cancellation codes; empty where it is no lost race. */
export const reasonsOf = (error: unknown): readonly string[] => {
  if (isNamed(error, 'ConditionalCheckFailedException')) return ['ConditionalCheckFailed'];
  if (isNamed(error, 'TransactionConflictException')) return ['TransactionConflict'];
  if (!isNamed(error, 'TransactionCanceledException')) return [];
  const { failed, CancellationReasons } = error as {
    failed?: Record<string, { reason: string }>;
    CancellationReasons?: { Code?: string }[];
  };
  const codes = failed
    ? Object.values(failed).map(({ reason }) => reason)
    : (CancellationReasons ?? []).map(({ Code }) => Code);
  return codes.filter((code): code is string => code !== undefined && code !== 'None');
};
