import { InvalidStoredItemError, type AttributeMap, type AttributeValue } from '../../commands/index.js';
import { inNumberRange, losesDigits, numberForm, significantDigits } from '../../commands/attributes/digits.js';
import { corrupt, invalid } from '../../commands/errors/errors.js';
import type { MapperOptions } from './mapper.js';
import { maximumDepth, namesOf, placeOf } from './path.js';

/**
 * An item as a plain object: what {@link toItem} wrote, an entity of this library, or what `@aws-sdk/lib-dynamodb`
 * wrote. M becomes a plain object, L an array, sets a Set, B the same Uint8Array (not copied), S text (a Date stays its
 * ISO text), N a number, or a bigint where a whole number is beyond ±(2^53 - 1). It costs nothing.
 *
 * Every attribute is read, keys, type and time to live included. The type argument is a claim of the caller's: nothing
 * checks it, as an entity would.
 *
 * @throws InvalidInputError for what is no item
 * @throws InvalidStoredItemError for a fraction with more digits than a double keeps, rather than rounding it: read it by
 *   an entity with `decimal()`; for two attributes that `names` makes one member; and for what is no attribute value of the
 *   SDK's, such as bytes as text in a Lambda event of a stream
 * @example
 * const customer = toObject<{ pk: string; preferred: boolean }>({ pk: { S: 'CUSTOMERS#1' }, preferred: { BOOL: true } });
 */
export const toObject = <T extends object = Record<string, unknown>>(
  item: AttributeMap,
  options: MapperOptions = {},
): T => {
  const names = namesOf(options);
  if (typeof item !== 'object' || (item as AttributeMap | null) === null || Array.isArray(item))
    return invalid('toObject', 'expected an item: attribute values by their names');
  const byStored = new Map(Object.entries(names).map(([name, stored]) => [stored, name]));
  const members = new Map<string, unknown>();
  for (const [place, [stored, value]] of Object.entries(item).entries()) {
    const given = byStored.get(stored);
    const name = given ?? stored;
    const where = given ?? placeOf(place);
    if (members.has(name))
      throw new InvalidStoredItemError(where, 'is stored under its own name and under another one');
    members.set(name, read(value, where));
  }
  // fromEntries defines members, so that a stored __proto__ is one and no prototype
  return Object.fromEntries(members) as T;
};

const read = (value: AttributeValue, where: string, depth = 0): unknown => {
  const given = typeof value === 'object' && (value as AttributeValue | null) !== null ? Object.entries(value) : [];
  const [entry, ...others] = given.filter(([, content]) => content !== undefined);
  const [type = '', content] = entry ?? [];
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (reader === undefined || others.length > 0 || depth > maximumDepth) return corrupt(where, 'an attribute value');
  return reader(content, where, depth);
};

type Read = (content: unknown, where: string, depth: number) => unknown;

const isText = (value: unknown): boolean => typeof value === 'string';
const isBytes = (value: unknown): boolean => value instanceof Uint8Array;

const checked =
  (is: (content: unknown) => boolean, expected: string): Read =>
  (content, where) =>
    is(content) ? content : corrupt(where, expected);

const readNumber: Read = (text, where) => {
  const value = typeof text === 'string' && numberForm.test(text) ? Number(text) : NaN;
  if (!inNumberRange(value)) return corrupt(where, 'a number');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return wholeNumber(text as string, where);
  // Too small for a double, it would be read as 0.
  const isLost = value === 0 && significantDigits(text as string) !== '';
  return isLost || losesDigits(text as string, value) ? corrupt(where, 'a number that a double holds') : value;
};

const setOf =
  (member: Read): Read =>
  (content, where, depth) =>
    Array.isArray(content)
      ? new Set(content.map((element) => member(element, `${where}[]`, depth)))
      : corrupt(where, 'a set');

const text = checked(isText, 'text');
const bytes = checked(isBytes, 'bytes');

const readers: Readonly<Record<string, Read>> = {
  S: text,
  N: readNumber,
  BOOL: checked((content) => typeof content === 'boolean', 'true or false'),
  NULL: (content, where) => (content === true ? null : corrupt(where, 'a null')),
  B: bytes,
  L: (content, where, depth) =>
    Array.isArray(content)
      ? Array.from(content, (element: AttributeValue) => read(element, `${where}[]`, depth + 1))
      : corrupt(where, 'a list'),
  M: (content, where, depth) =>
    typeof content === 'object' && content !== null && !Array.isArray(content)
      ? Object.fromEntries(
          Object.entries(content as AttributeMap).map(([name, of], place) => [
            name,
            read(of, where + placeOf(place), depth + 1),
          ]),
        )
      : corrupt(where, 'a map'),
  SS: setOf(text),
  NS: setOf(readNumber),
  BS: setOf(bytes),
};

/** DynamoDB gives whole numbers without an exponent; others might not. */
const wholeNumber = (text: string, where: string): bigint => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = fraction.replace(/0+$/, '');
  const zeros = Number(exponent) - digits.length;
  return zeros >= 0 ? BigInt(whole + digits) * 10n ** BigInt(zeros) : corrupt(where, 'a number that a double holds');
};
