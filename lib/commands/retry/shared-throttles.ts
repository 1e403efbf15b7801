import { isThrottle } from '../send/failures.js';
import { reasonsOf, isThrottledReason } from './cancellation-reasons.js';
import { pastThrottles, type PastThrottles } from './past-throttles.js';

/** Whether DynamoDB had too much to do for a request, or for items of a transaction, which the SDK doesn't send again. */
export const isThrottled = (error: unknown): boolean => {
  const reasons = reasonsOf(error);
  return isThrottle(error) || (reasons.length > 0 && reasons.every(isThrottledReason));
};

const ofBatches = new WeakMap<AbortSignal, PastThrottles>();

/**
 * As {@link pastThrottles}, transactions included, with an allowance that is shared with what a batch gives its signal to.
 *
 * @param near once it aborts, nothing is sent again
 * @param signal that of the batch's requests
 */
export const shareThrottles = (near: AbortSignal, signal: AbortSignal): PastThrottles => {
  const past = pastThrottles(near, isThrottled);
  ofBatches.set(signal, past);
  return past;
};

/** With the allowance of the batch that gave the signal out; with one of its own where none did. */
export const pastThrottlesOf = (signal: AbortSignal | undefined): PastThrottles =>
  (signal && ofBatches.get(signal)) ?? pastThrottles(signal, isThrottled);
