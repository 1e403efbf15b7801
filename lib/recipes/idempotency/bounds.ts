import { invalid } from '../../commands/errors/errors.js';

/** In seconds. */
export const longestHorizon = 366 * 86_400;
/** In seconds: a day. */
export const longestLease = 86_400;

/** Refuses options out of their bounds; milliseconds taken for seconds are among them. */
export const checkBounds = (options: {
  readonly horizonSeconds: number;
  readonly maxAttempts?: number | undefined;
}): void => {
  const { horizonSeconds, maxAttempts = 1 } = options;
  if (!(horizonSeconds >= 1 && horizonSeconds <= longestHorizon)) {
    invalid('horizonSeconds', 'expected seconds, 1 to 31,622,400 (366 days)');
  }
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
    invalid('maxAttempts', 'expected a whole number from 1 on');
};

/** Refuses a lease that is out of its bounds, or that its record might not outlive. */
export const checkLease = (leaseSeconds: number, horizonSeconds: number): void => {
  if (!(leaseSeconds >= 1 && leaseSeconds <= Math.min(longestLease, horizonSeconds))) {
    invalid('leaseSeconds', 'expected seconds, 1 to 86,400 (a day), and at most the horizon');
  }
};
