import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { numberForm, powerOf, significantDigits } from './digits.js';

/** A decimal class: decimal.js, big.js, bignumber.js and the like. */
export interface DecimalClass<D> {
  new (text: string): D;
}

/** A number's text as DynamoDB takes it; refuses what it does not hold. */
export const decimalText = (text: string, path: string): string => {
  if (!numberForm.test(text)) return invalid(path, 'expected a decimal number');
  const digits = significantDigits(text);
  // However it is written: an exponent that means nothing may still be too large for DynamoDB to read.
  if (digits === '') return '0';
  if (digits.length > 38) return invalid(path, 'expected at most 38 significant digits');
  const power = powerOf(text);
  if (power > 125 || power < -130) return invalid(path, 'expected a magnitude of 1e-130 to 9.9e125, or 0');
  weight.units += text.length;
  // DynamoDB takes no plus sign before a number.
  return text.replace(/^\+/, '');
};

interface Decimal {
  <D extends object>(type: DecimalClass<D>): Attribute<D, 'decimal'>;
  (): Attribute<string, 'decimal'>;
}

/**
 * A decimal of up to 38 significant digits, stored as N without rounding: as text, or as an object of the decimal class
 * handed in, whose `toString()` is stored. DynamoDB gives numbers back normalised: `1.50` is read as `1.5`.
 *
 * @example
 * class Big {
 *   constructor(readonly digits: string) {}
 *   toString = () => this.digits;
 * }
 * const Rate = entity('RATE', { pk: 'RATE#{id}', sk: 'RATE', attributes: { id: string(), rate: decimal(), price: decimal(Big) } });
 */
export const decimal = ((type?: DecimalClass<object>) =>
  new AttributeBuilder(
    (path) => [
      (value) => {
        if (type === undefined && typeof value !== 'string') return invalid(path, 'expected a decimal number as text');
        if (type !== undefined && !(value instanceof type))
          return invalid(path, 'expected an object of its decimal class');
        return { N: decimalText(String(value), path) };
      },
      (stored) => {
        if (typeof stored.N !== 'string') return corrupt(path, 'a number');
        return type === undefined ? stored.N : new type(stored.N);
      },
    ],
    { kind_: 'decimal' },
  )) as unknown as Decimal;
