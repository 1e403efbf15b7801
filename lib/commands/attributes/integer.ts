import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute, type KeyText, type Make } from './attribute.js';
import { losesDigits } from './digits.js';

/** The whole number that a stored N is, if a double holds it without rounding. */
export const wholeNumber = (text: string | undefined): number | undefined => {
  const value = Number(text);
  return text !== undefined && Number.isSafeInteger(value) && !losesDigits(text, value) ? value : undefined;
};

/** Encodes safe integers as N. */
export const integerCodec: Make = (path) => [
  (value) => {
    if (!Number.isSafeInteger(value)) return invalid(path, 'expected a safe integer (at most 2^53 - 1 in magnitude)');
    weight.units += 8;
    return { N: String(value) };
  },
  (stored) => {
    return wholeNumber(stored.N) ?? corrupt(path, 'a safe integer');
  },
];

const key: KeyText = {
  encode_: (value, path) =>
    Number.isSafeInteger(value) ? String(value) : invalid(path, 'expected a safe integer (at most 2^53 - 1)'),
  decode_: Number,
  padded_: true,
  pattern_: /^-?\d+$/,
};

/**
 * A whole number between -(2^53 - 1) and 2^53 - 1, stored as N; money in minor units, counts, sequences. In a sort key
 * it takes a width (`{n:10}`), and no negative value.
 *
 * @example attributes: { balance: integer() }
 */
export const integer = (): Attribute<number, 'number'> =>
  new AttributeBuilder(integerCodec, { kind_: 'number', key_: key }) as unknown as Attribute<number, 'number'>;
