import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { wholeNumber } from './integer.js';

/**
 * The item's expiry: a Date, stored as epoch seconds (N) in the table's time-to-live attribute, rounded up to the next
 * second so that an item never expires early. DynamoDB removes an expired item up to days later: a condition on it
 * checks the time, never the item's absence, and it is no timer
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
 *
 * @example attributes: { expiresAt: timeToLive() }
 */
export const timeToLive = (): Attribute<Date> =>
  new AttributeBuilder(
    (path) => [
      (value) => {
        const time = value instanceof Date ? value.getTime() : NaN;
        if (!(time >= 0)) return invalid(path, 'expected a valid Date from 1970 on');
        weight.units += 8;
        return { N: String(Math.ceil(time / 1000)) };
      },
      (stored) => {
        const date = new Date((wholeNumber(stored.N) ?? NaN) * 1000);
        return Number.isNaN(date.getTime()) ? corrupt(path, 'epoch seconds') : date;
      },
    ],
    { kind_: 'value', timeToLive_: true },
  ) as unknown as Attribute<Date>;
