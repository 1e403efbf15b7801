import { InvalidStoredItemError, type AttributeMap, type AttributeValue } from '../../commands/index.js';
import { losesDigits } from '../../commands/attributes/digits.js';
import { corrupt } from '../../commands/errors/errors.js';
import type { MapperOptions } from './mapper.js';
import { memberPath } from './path.js';

/**
 * An item as a plain object: what {@link toItem} wrote, an entity of this library, or what `@aws-sdk/lib-dynamodb`
 * wrote. M becomes a plain object, L an array, sets a Set, B the same Uint8Array (not copied), S text (a Date stays its
 * ISO text), N a number, or a bigint where a whole number is beyond ±(2^53 - 1). It costs nothing.
 *
 * Every attribute is read, keys, type and time to live included. The type argument is a claim of the caller's: nothing
 * checks it, as an entity would.
 *
 * @throws InvalidStoredItemError for a fraction with more digits than a double keeps, rather than rounding it: read it by
 *   an entity with `decimal()`; and for two attributes that `names` makes one member
 * @example
 * const customer = toObject<{ pk: string; preferred: boolean }>({ pk: { S: 'CUSTOMERS#1' }, preferred: { BOOL: true } });
 */
export const toObject = <T extends object = Record<string, unknown>>(
  item: AttributeMap,
  { names = {} }: MapperOptions = {},
): T => {
  const byStored = new Map(Object.entries(names).map(([name, stored]) => [stored, name]));
  const members = new Map<string, unknown>();
  for (const [stored, value] of Object.entries(item)) {
    const name = byStored.get(stored) ?? stored;
    if (members.has(name))
      throw new InvalidStoredItemError(memberPath('', name), 'is stored under its own name and under another one');
    members.set(name, read(value, memberPath('', stored)));
  }
  // fromEntries defines members, so that a stored __proto__ is one and no prototype
  return Object.fromEntries(members) as T;
};

const read = (value: AttributeValue, where: string): unknown => {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return readNumber(value.N, where);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.B !== undefined) return value.B;
  if (value.L !== undefined) return value.L.map((element) => read(element, `${where}[]`));
  if (value.M !== undefined)
    return Object.fromEntries(Object.entries(value.M).map(([name, of]) => [name, read(of, memberPath(where, name))]));
  if (value.SS !== undefined) return new Set(value.SS);
  if (value.NS !== undefined) return new Set(value.NS.map((text) => readNumber(text, `${where}[]`)));
  if (value.BS !== undefined) return new Set(value.BS);
  return corrupt(where, 'an attribute value');
};

const readNumber = (text: string, where: string): number | bigint => {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return wholeNumber(text, where);
  return Number.isNaN(value) || losesDigits(text, value) ? corrupt(where, 'a number that a double holds') : value;
};

/** DynamoDB gives whole numbers without an exponent; others might not. */
const wholeNumber = (text: string, where: string): bigint => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = fraction.replace(/0+$/, '');
  const zeros = Number(exponent) - digits.length;
  return zeros >= 0 ? BigInt(whole + digits) * 10n ** BigInt(zeros) : corrupt(where, 'a number that a double holds');
};
