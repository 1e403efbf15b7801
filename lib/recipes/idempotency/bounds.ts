import { isFilledText } from '../../commands/attributes/text.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkObject, checkOptions, checkTable, isBetween, isWholeBetween } from '../arguments.js';
import type { Table } from '../../commands/index.js';
import type { Fingerprint } from './fingerprint.js';

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
  if (!isBetween(horizonSeconds, 1, longestHorizon)) {
    invalid('horizonSeconds', 'expected seconds, 1 to 31,622,400 (366 days)');
  }
  if (!isWholeBetween(maxAttempts, 1)) invalid('maxAttempts', 'expected a whole number from 1 on');
};

/** Refuses a lease that is out of its bounds, or that its record might not outlive. */
export const checkLease = (leaseSeconds: number, horizonSeconds: number): void => {
  if (!isBetween(leaseSeconds, 1, Math.min(longestLease, horizonSeconds))) {
    invalid('leaseSeconds', 'expected seconds, 1 to 86,400 (a day), and at most the horizon');
  }
};

/** Refuses a call that has not what every one must have. */
export const checkCall = (
  table: Table,
  call: {
    readonly fingerprint: Fingerprint;
    readonly signal?: AbortSignal | undefined;
    readonly horizonSeconds: number;
    readonly maxAttempts?: number | undefined;
    readonly run: unknown;
  },
): void => {
  checkTable(table);
  const { fingerprint, run } = checkOptions(call);
  checkBounds(call);
  const { algorithm, hash } = checkObject(fingerprint, 'fingerprint');
  // One that equals no number would never be another request's, and its answer anyone's.
  if (!isWholeBetween(algorithm, 0) || !isFilledText(hash))
    invalid('fingerprint', 'expected a whole number as its algorithm and text as its hash, as fingerprintOf gives');
  checkFunction(run, 'run');
};
