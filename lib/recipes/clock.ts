import { invalid } from '../commands/errors/errors.js';
import { isBetween } from './arguments.js';

/** The last millisecond of the year 9999, the last that instants can hold. */
const latest = 253_402_300_799_999;

/**
 * A caller's clock, each reading of which is checked: a comparison with NaN is false, so that what it says would be
 * within any bound.
 */
export const checkedClock = (clock: (() => number) | undefined, path: string): (() => number) => {
  if (clock === undefined) return Date.now;
  if (typeof clock !== 'function') return invalid(path, 'expected a function that gives epoch milliseconds');
  return () => {
    const time = clock();
    return isBetween(time, 0, latest) ? time : invalid(path, 'must give epoch milliseconds, as Date.now() does');
  };
};

/** A caller's time, by the same bounds. */
export const checkDate = (date: Date, path: string): Date =>
  date instanceof Date && isBetween(date.getTime(), 0, latest)
    ? date
    : invalid(path, 'expected a valid Date from 1970 to 9999');
