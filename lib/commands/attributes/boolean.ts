import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute } from './attribute.js';

/**
 * True or false, stored as BOOL.
 *
 * @example attributes: { paid: boolean() }
 */
export const boolean = (): Attribute<boolean> =>
  new AttributeBuilder(
    (path) => [
      (value) => {
        weight.units += 1;
        return typeof value === 'boolean' ? { BOOL: value } : invalid(path, 'expected a boolean');
      },
      (stored) => (typeof stored.BOOL === 'boolean' ? stored.BOOL : corrupt(path, 'a boolean')),
    ],
    { kind_: 'value' },
  ) as unknown as Attribute<boolean>;
