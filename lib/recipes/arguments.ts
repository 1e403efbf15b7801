import { invalid } from '../commands/errors/errors.js';
import type { SendOptions, Table } from '../commands/index.js';
import { checkSignal } from '../commands/send/send-options.js';
import { tableModelOf } from '../commands/table/table.js';

/** Refuses what is no table. */
export const checkTable = <T extends Table>(table: T): T => {
  tableModelOf(table);
  return table;
};

/** Refuses what is no object, arrays included. */
export const checkObject = <T>(value: T, path: string, expected = 'expected an object'): T & object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : invalid(path, expected);

/** Whether a value is an array; its elements keep their type. */
export const isArray = <T>(value: readonly T[]): boolean => Array.isArray(value);

/** Refuses what is no function. */
export const checkFunction = <F>(fn: F, path: string): F =>
  typeof fn === 'function' ? fn : invalid(path, 'expected a function');

/** Refuses options that are no object, and their signal. */
export const checkOptions = <O extends SendOptions>(options: O): O & object => {
  const checked = checkObject(options, 'options', 'expected an object, or none');
  checkSignal(checked.signal);
  return checked;
};

/** Whether a value is a number within the bounds: NaN, text and bigints are not, which comparisons alone would let by. */
export const isBetween = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;

/** Whether a value is a whole number within the bounds, and exact. */
export const isWholeBetween = (value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && isBetween(value, least, most);

/** The most milliseconds that a timer can wait; a longer wait would end at once. */
export const longestTimer = 2 ** 31 - 1;
