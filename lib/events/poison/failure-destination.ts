import { SafeWritesError } from '../../commands/index.js';
import type { PastThrottles } from '../../commands/retry/past-throttles.js';
import type { Ending } from '../handler/progress.js';
import type { Delivery, EventSource, RecordOf } from '../sources/delivery.js';
import type { SqsEventRecord } from '../sources/sqs-event.js';
import { PoisonRecordError, type PoisonReason } from './poison-record-error.js';

/** A record that is not tried again. */
export type PoisonRecord = {
  [S in EventSource]: {
    readonly source: S;
    readonly reason: PoisonReason;
    /** What the function was given, whole. */
    readonly record: RecordOf[S];
    /** Its message holds nothing of the record. */
    readonly error: Error;
  };
}[EventSource];

/** What becomes of records that are not tried again. */
export interface PoisonOptions {
  /**
   * Takes a record that will fail however often it comes: sends it to a queue or a topic, stores it. Once the promise is
   * fulfilled the record counts as done, and those behind it go on; where it throws, the record failed.
   * @default none: such a record failed, and is left to the source's own retries, age and destination
   */
  readonly failureDestination?: ((poison: PoisonRecord, signal: AbortSignal) => Promise<void> | void) | undefined;
  /**
   * SQS: such a message fails until it was received so often, for bodies that a new version of the function may read. In a
   * FIFO queue its group waits. Kafka and streams carry no count. @default 1: at once
   */
  readonly poisonAfterReceives?: number | undefined;
}

/** Why a record is not tried again, by what was thrown; undefined for a failure that may pass. */
export const poisonReasonOf = (error: unknown): PoisonReason | undefined => {
  if (error instanceof PoisonRecordError) return error.reason;
  // By name: messages are a part of the kit that this one does not import.
  const isUnreadable = error instanceof SafeWritesError && error.kind === 'UnreadableMessageError';
  return isUnreadable ? (error as SafeWritesError & { reason: 'body' | 'identity' }).reason : undefined;
};

/**
 * Hands a record to the failure destination, again where that was throttled.
 *
 * @returns its ending: failed by its own error where it is not to go there (yet), or by what the destination threw
 */
export const setAside = async (
  { source, record }: Delivery,
  reason: PoisonReason,
  error: Error,
  { failureDestination, poisonAfterReceives = 1 }: PoisonOptions,
  signal: AbortSignal,
  past: PastThrottles,
): Promise<Ending> => {
  try {
    if (
      failureDestination === undefined ||
      // A count that is missing can't be waited for; one that is no number at all throws.
      (source === 'sqs' && Number((record as SqsEventRecord).attributes?.ApproximateReceiveCount) < poisonAfterReceives)
    ) {
      return { state: 'failed', error };
    }
    await past(async () => failureDestination({ source, reason, record, error } as PoisonRecord, signal));
    return { state: 'poison', reason };
  } catch (failure) {
    return { state: 'failed', error: failure };
  }
};
