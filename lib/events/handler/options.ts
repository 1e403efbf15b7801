import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkObject, isBetween } from '../../recipes/arguments.js';
import type { PoisonOptions } from '../poison/failure-destination.js';
import type { BatchContext } from '../run/deadline.js';
import type { BatchEvent } from '../sources/delivery.js';
import type { BatchResponse } from '../sources/item-failures.js';
import { partialResponses } from './partial-responses.js';

/** What every handler of batches takes. */
export interface BatchOptions extends PoisonOptions {
  /**
   * Lanes, or keys of an ingest, that are worked on at once. The SDK's client has 50 sockets; 25 requests at once keep the CPU
   * of a function busy where each takes up to some 10 ms. Less where what a handler calls bears less.
   * @default 25
   */
  readonly concurrency?: number | undefined;
  /**
   * Whether the event source mapping has `ReportBatchItemFailures`. Where it has not, a batch with failures throws: Lambda
   * would ignore the report, and acknowledge what failed. @default as the environment variable
   * SAFEWRITES_PARTIAL_RESPONSES says, `true` or `false`, which the constructs set; unset: false
   */
  readonly partialResponses?: boolean | undefined;
  /**
   * Milliseconds before the function's deadline from which on nothing is begun. Requests are aborted after half of them,
   * and the answer is given with a quarter left. @default a fifth of the time at the start, at most 3000
   */
  readonly deadlineMarginMs?: number | undefined;
}

/** A Lambda handler of batches. */
export type BatchHandler = (event: BatchEvent, context?: BatchContext) => Promise<BatchResponse>;

/** The options as they apply; refuses what is out of bounds. */
export const settledOptions = (options: BatchOptions) => {
  const {
    concurrency = 25,
    deadlineMarginMs,
    poisonAfterReceives = 1,
    failureDestination,
  } = checkObject(options, 'options');
  if (failureDestination !== undefined) checkFunction(failureDestination, 'failureDestination');
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    invalid('concurrency', 'expected a whole number from 1 on');
  }
  if (deadlineMarginMs !== undefined && !isBetween(deadlineMarginMs, 0, Number.MAX_VALUE)) {
    invalid('deadlineMarginMs', 'expected milliseconds');
  }
  if (!Number.isSafeInteger(poisonAfterReceives) || poisonAfterReceives < 1) {
    invalid('poisonAfterReceives', 'expected a whole number from 1 on');
  }
  const partial = partialResponses(options.partialResponses);
  return { concurrency, deadlineMarginMs, poisonAfterReceives, failureDestination, partial };
};

/** See {@link settledOptions}. */
export type SettledOptions = ReturnType<typeof settledOptions>;
