import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute, type Make } from './attribute.js';
import { inNumberRange, losesDigits } from './digits.js';

const codec: Make = (path) => [
  (value) => {
    if (typeof value !== 'number' || !inNumberRange(value)) {
      return invalid(path, 'expected a finite number of magnitude 1e-130 to 9.9e125, or 0');
    }
    weight.units += 8;
    return { N: String(value) };
  },
  (stored) => {
    const text = stored.N;
    if (typeof text !== 'string') return corrupt(path, 'a number');
    const value = Number(text);
    return losesDigits(text, value) || !inNumberRange(value)
      ? corrupt(path, 'a number that a double holds without losing digits (decimal() or bigint() would)')
      : value;
  },
];

/**
 * A number, stored as N in its shortest form that reads back equal. Refuses NaN, infinities and what DynamoDB can't
 * hold; reading refuses a stored number with more digits than a double keeps, rather than rounding it: take
 * {@link decimal} or {@link bigint} for those.
 *
 * @example attributes: { price: number() }
 */
export const number = (): Attribute<number, 'number'> =>
  new AttributeBuilder(codec, { kind_: 'number' }) as unknown as Attribute<number, 'number'>;
