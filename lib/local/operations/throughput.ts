import { validationError } from '../engine/api-error.js';
import type { Throughput } from '../engine/types.js';

/** A new provisioned throughput, with the counts that go with it; one that changes nothing is refused. */
export function changedThroughput(
  before: Throughput | undefined,
  wanted: Throughput,
  now: number,
  what: string,
): Throughput {
  const read = before?.ReadCapacityUnits ?? 0;
  const write = before?.WriteCapacityUnits ?? 0;
  const { ReadCapacityUnits, WriteCapacityUnits } = wanted;
  if (read === ReadCapacityUnits && write === WriteCapacityUnits) {
    throw validationError(
      `The provisioned throughput for the ${what} will not change. The requested value equals the current value. ` +
        `Current ReadCapacityUnits provisioned for the ${what}: ${read}. Requested ReadCapacityUnits: ${ReadCapacityUnits}. ` +
        `Current WriteCapacityUnits provisioned for the ${what}: ${write}. Requested WriteCapacityUnits: ${WriteCapacityUnits}. ` +
        'Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
    );
  }
  const decreased = ReadCapacityUnits < read || WriteCapacityUnits < write;
  const increased = ReadCapacityUnits > read || WriteCapacityUnits > write;
  return {
    ...before,
    ReadCapacityUnits,
    WriteCapacityUnits,
    NumberOfDecreasesToday: (before?.NumberOfDecreasesToday ?? 0) + (decreased ? 1 : 0),
    ...(increased ? { LastIncreaseDateTime: now } : {}),
    ...(decreased ? { LastDecreaseDateTime: now } : {}),
  };
}
