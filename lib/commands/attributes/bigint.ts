import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute, type KeyText } from './attribute.js';
import { significantDigits } from './digits.js';

const check = (value: unknown, path: string): string => {
  const text = typeof value === 'bigint' ? String(value) : invalid(path, 'expected a bigint');
  if (significantDigits(text).length > 38 || text.replace('-', '').length > 126) {
    return invalid(path, 'expected at most 38 significant digits and a magnitude below 1e126');
  }
  weight.units += text.length;
  return text;
};

/** DynamoDB gives long whole numbers back with digits only, others may carry an exponent. */
const parse = (text: string): bigint | undefined => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent) - fraction.length;
  if (whole === '' || shift > 126) return undefined;
  const digits = whole + fraction;
  if (shift >= 0) return BigInt(sign + digits + '0'.repeat(shift));
  return /^0*$/.test(digits.slice(shift)) ? BigInt(sign + (digits.slice(0, shift) || '0')) : undefined;
};

const key: KeyText = { encode_: check, decode_: BigInt, padded_: true, pattern_: /^-?\d+$/ };

/**
 * A whole number of up to 38 significant digits as a bigint, stored as N. In a sort key it takes a width (`{n:20}`).
 *
 * @example attributes: { sequence: bigint() }
 */
export const bigint = (): Attribute<bigint, 'bigint'> =>
  new AttributeBuilder(
    (path) => [
      (value) => ({ N: check(value, path) }),
      (stored) => parse(stored.N ?? '') ?? corrupt(path, 'a whole number'),
    ],
    { kind_: 'bigint', key_: key },
  ) as unknown as Attribute<bigint, 'bigint'>;
