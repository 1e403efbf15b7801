import { Buffer } from 'node:buffer';
import { LimitExceededError, type AttributeMap, type AttributeValue } from '../../commands/index.js';
import { decimalText } from '../../commands/attributes/decimal.js';
import { powerOf, significantDigits } from '../../commands/attributes/digits.js';
import { checkText } from '../../commands/attributes/text.js';
import { invalid } from '../../commands/errors/errors.js';
import { maximumDepth } from '../mapper/path.js';

type Copy = (value: unknown, name: string, depth: number) => unknown;

const text: Copy = (value, name) => checkText(value, name);
const number: Copy = (value, name) =>
  typeof value === 'string' ? decimalText(value, name) : invalid(name, 'has an N that is no text');
const bytes: Copy = (value, name) =>
  value instanceof Uint8Array ? new Uint8Array(value) : invalid(name, 'has a B that is no Uint8Array');

/** DynamoDB has no empty set, and refuses equal members. */
const setOf =
  (member: Copy, identity: (copy: never) => string): Copy =>
  (value, name, depth) => {
    if (!Array.isArray(value) || value.length === 0)
      return invalid(name, 'has a set that is no array with members: leave an empty set out');
    const copies = Array.from(value, (given) => member(given, name, depth));
    const identities = new Set(copies.map((copy) => identity(copy as never)));
    return identities.size === copies.length ? copies : invalid(name, 'has a set with equal members');
  };

/** One text for all that are one number: `1`, `1.0` and `10e-1`. */
export const numberIdentity = (stored: string): string => {
  const digits = significantDigits(stored);
  return digits === '' ? '0' : `${stored.startsWith('-') ? '-' : ''}${digits}e${powerOf(stored)}`;
};

/** One text for equal bytes. */
export const bytesIdentity = (stored: Uint8Array): string =>
  Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('base64');

const copies: Readonly<Record<string, Copy>> = {
  S: text,
  N: number,
  B: bytes,
  BOOL: (value, name) =>
    typeof value === 'boolean' ? value : invalid(name, 'has a BOOL that is neither true nor false'),
  NULL: (value, name) => value === true || invalid(name, 'has a NULL that is not true'),
  L: (value, name, depth) =>
    Array.isArray(value)
      ? Array.from(value, (element) => copiedValue(element, name, depth + 1))
      : invalid(name, 'has an L that is no array'),
  M: (value, name, depth) => copiedMap(value, name, depth + 1),
  SS: setOf(text, (copy) => copy),
  NS: setOf(number, numberIdentity),
  BS: setOf(bytes, bytesIdentity),
};

const copiedValue = (value: unknown, name: string, depth: number): AttributeValue => {
  if (depth > maximumDepth) throw new LimitExceededError(name, `is nested deeper than ${maximumDepth} levels`);
  const given = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  // An undefined member of a value is as good as none.
  const [entry, ...others] = given.filter(([, content]) => content !== undefined);
  const [type = '', content] = entry ?? [];
  const copy = Object.hasOwn(copies, type) ? copies[type] : undefined;
  if (copy === undefined || others.length > 0)
    return invalid(name, "has a member that is no attribute value, such as { S: 'text' }: toItem(object) makes them");
  return { [type]: copy(content, name, depth) } as unknown as AttributeValue;
};

/**
 * A copy of attribute values, all the way down, bytes included: what a caller changes afterwards is not sent. Refuses
 * plain values, which lib-dynamodb takes, and what DynamoDB would refuse at the commit.
 */
export const copiedMap = (values: unknown, name: string, depth = 0): AttributeMap => {
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    return invalid(name, 'expected attribute values by their names');
  const copy: AttributeMap = {};
  for (const [attribute, value] of Object.entries(values)) {
    if (attribute === '' || attribute === '__proto__')
      invalid(name, 'has a member of a name that no attribute can have');
    copy[checkText(attribute, name)] = copiedValue(value, name, depth);
  }
  return copy;
};
