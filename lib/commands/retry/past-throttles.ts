import { isThrottle } from '../send/failures.js';
import { backoff } from './backoff.js';

/** Runs of one request in a row: about 2 s of waiting. */
const maximumRuns = 8;

/** Retries that are allowed without a success; each success allows one more again. */
const allowance = 50;

/** Sends a request, and again where DynamoDB throttled it. */
export type PastThrottles = <R>(request: () => Promise<R>) => Promise<R>;

/**
 * Sends what belongs to one batch again where DynamoDB throttled it, after a wait of full jitter: a source that is told of
 * one failure sends all behind it again, which a table with too much to do can bear least. The batch has one allowance of
 * retries, so that a table that answers nothing is asked little more than once for each of its requests.
 *
 * @param signal once it aborts, nothing is sent again, and no wait goes on
 */
export const pastThrottles = (signal: AbortSignal | undefined, isThrottled = isThrottle): PastThrottles => {
  let left = allowance;
  return async (request) => {
    for (let run = 1; ; run++) {
      try {
        const result = await request();
        left = Math.min(left + 1, allowance);
        return result;
      } catch (error) {
        if (run === maximumRuns || left === 0 || !isThrottled(error)) throw error;
        left--;
        await backoff(run, signal).catch(() => {
          throw error;
        });
      }
    }
  };
};
