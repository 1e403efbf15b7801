import { Buffer } from 'node:buffer';
import { LimitExceededError, type AttributeMap, type AttributeValue } from '../../commands/index.js';
import { inNumberRange } from '../../commands/attributes/digits.js';
import { isPlain } from '../../commands/attributes/plain-object.js';
import { checkText } from '../../commands/attributes/text.js';
import { invalid } from '../../commands/errors/errors.js';
import type { MapperOptions } from './mapper.js';
import { maximumDepth, namesOf, placeOf } from './path.js';

/**
 * A plain object as an item, for `session.add({ Put: … })` and anything else that takes the SDK's attribute values. It
 * knows nothing of keys: members of the names of the table's key attributes are the key, and what lacks them is refused
 * by the session. docs/messaging.md has the table of what each kind of value becomes; in short: number, bigint, string,
 * boolean, null, Uint8Array (by reference, never copied), arrays, plain objects and Maps with string keys; a Set of
 * strings, numbers or byte arrays as a set; a Date as ISO text. An `undefined` member and an empty Set are left out.
 *
 * Anything else is refused rather than stored as something that it is not; the error says the place as that among
 * `Object.keys` from 0, `{1}{0}[]`, since a name may be somebody's data. It costs nothing.
 *
 * @throws InvalidInputError for NaN, infinities, whole numbers that a double can't hold, an invalid Date, empty sets and
 *   `undefined` inside arrays, sets of other things, sparse arrays, class instances, those of classes derived from Array,
 *   Map, Set and Date among them, members that are not enumerable, functions, symbols and cycles
 * @throws LimitExceededError for more than 32 levels
 * @example
 * const item = toItem({ pk: 'CUSTOMERS#1', sk: '1', preferred: true, tags: new Set(['new']) });
 * // { pk: { S: 'CUSTOMERS#1' }, sk: { S: '1' }, preferred: { BOOL: true }, tags: { SS: ['new'] } }
 */
export const toItem = (object: object, options: MapperOptions = {}): AttributeMap => {
  const names = namesOf(options);
  if (typeof object !== 'object' || object === null || !isPlain(object))
    return invalid('toItem', 'expected a plain object');
  const item: AttributeMap = {};
  const path: object[] = [object];
  for (const [place, [name, member]] of members(object, '').entries()) {
    const isNamed = Object.hasOwn(names, name);
    const stored = checkText(isNamed ? names[name] : name, 'toItem');
    const value = valueOf(member, isNamed ? name : placeOf(place), path);
    if (value === undefined) continue;
    if (stored === '' || stored === '__proto__') invalid('toItem', 'a member has a name that no attribute can have');
    if (Object.hasOwn(item, stored)) invalid('names', 'gives two members one stored name');
    item[stored] = value;
  }
  return item;
};

/** The members of a plain object; what would be left out silently is refused. */
const members = (object: object, where: string): [string, unknown][] => {
  const entries = Object.entries(object);
  if (Reflect.ownKeys(object).length > entries.length)
    invalid(where || 'toItem', 'has a member named by a symbol, or one that is not enumerable');
  return entries;
};

/** Refuses what has more to it than its elements: it would be lost. */
const checkBuiltIn = (value: object, ownKeys: number, where: string): void => {
  const parent = Object.getPrototypeOf(Object.getPrototypeOf(value) as object) as object;
  if (Object.getPrototypeOf(parent) !== null || Reflect.ownKeys(value).length > ownKeys)
    invalid(where, 'is an Array, Map, Set or Date of a derived class, or with members of its own: take a plain one');
};

const unsupported = (value: object): string => {
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return 'bytes of another kind: take a Uint8Array';
  return 'a class instance: take a plain object';
};

/** The stored form; undefined where the value is left out. */
const valueOf = (value: unknown, where: string, path: object[]): AttributeValue | undefined => {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'string':
      return { S: checkText(value, where) };
    case 'number':
    case 'bigint':
      return { N: numberText(value, where) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return value === null ? { NULL: true } : objectValue(value, where, path);
    default:
      return invalid(where, `is a ${typeof value}, which an item can not hold`);
  }
};

const numberText = (value: number | bigint, where: string): string => {
  if (typeof value === 'bigint') {
    const text = String(value);
    // A magnitude of up to 9.9e125.
    if (/^-?\d{1,38}0{0,88}$/.test(text)) return text;
    return invalid(where, 'is a bigint of more than 38 digits');
  }
  if (!inNumberRange(value)) return invalid(where, 'expected a finite number of magnitude 1e-130 to 9.9e125, or 0');
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    invalid(where, 'is a whole number that a double may not hold exactly: take a bigint');
  return String(value);
};

const objectValue = (value: object, where: string, path: object[]): AttributeValue | undefined => {
  if (value instanceof Uint8Array) return { B: value };
  if (value instanceof Map || value instanceof Set || value instanceof Date) checkBuiltIn(value, 0, where);
  if (value instanceof Date) return { S: dateText(value, where) };
  if (value instanceof Set) return setValue(value, where);
  // The object itself is the first level of the path.
  if (path.length > maximumDepth) throw new LimitExceededError(where, `is nested deeper than ${maximumDepth} levels`);
  if (path.includes(value)) return invalid(where, 'holds itself, which an item can not');
  path.push(value);
  const stored = collectionValue(value, where, path);
  path.pop();
  return stored;
};

const collectionValue = (value: object, where: string, path: object[]): AttributeValue => {
  if (Array.isArray(value)) return { L: elements(value, where, path) };
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)].map(([name, member]): [string, unknown] =>
      typeof name === 'string' ? [name, member] : invalid(where, 'is a Map with a key that is no text'),
    );
    return { M: mapValue(entries, where, path) };
  }
  if (!isPlain(value)) return invalid(where, `is ${unsupported(value)}`);
  return { M: mapValue(members(value, where), where, path) };
};

const mapValue = (entries: readonly (readonly [string, unknown])[], where: string, path: object[]): AttributeMap => {
  const stored: AttributeMap = {};
  for (const [place, [name, member]] of entries.entries()) {
    if (name === '' || name === '__proto__') invalid(where, 'has a member of a name that no attribute can have');
    checkText(name, where);
    const value = valueOf(member, where + placeOf(place), path);
    if (value !== undefined) stored[name] = value;
  }
  return stored;
};

const elements = (array: readonly unknown[], where: string, path: object[]): AttributeValue[] => {
  const at = `${where}[]`;
  // A loop by index sees the holes, which map() leaves out.
  const stored = Array.from({ length: array.length }, (_, i) => {
    if (!(i in array)) return invalid(at, 'is a hole: sparse arrays can not be stored');
    const element = valueOf(array[i], at, path);
    return (
      element ?? invalid(at, 'is undefined or an empty set, which a list can not leave out without moving the others')
    );
  });
  // Its length is a member.
  checkBuiltIn(array, array.length + 1, where);
  return stored;
};

const dateText = (date: Date, where: string): string => {
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  // Years outside 0..9999 take a sign and two digits more, so their texts would not compare with the others.
  return text.length === 24 ? text : invalid(where, 'expected a valid Date between the years 0 and 9999');
};

/** DynamoDB has no empty set, no mixed one, and refuses equal members. */
const setValue = (set: ReadonlySet<unknown>, where: string): AttributeValue | undefined => {
  const all = [...set];
  const at = `${where}[]`;
  if (all.length === 0) return undefined;
  if (all.every((member) => typeof member === 'string')) return { SS: all.map((member) => checkText(member, at)) };
  if (all.every((member) => typeof member === 'number' || typeof member === 'bigint')) {
    const texts = all.map((member) => numberText(member, at));
    return new Set(texts).size === texts.length ? { NS: texts } : invalid(where, 'holds a number twice, as 1 and 1n');
  }
  if (all.every((member) => member instanceof Uint8Array)) {
    const texts = new Set(
      all.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')),
    );
    return texts.size === all.length ? { BS: all } : invalid(where, 'holds the same bytes twice');
  }
  return invalid(where, 'is a Set of something else than strings, numbers or Uint8Arrays, or of several kinds');
};
