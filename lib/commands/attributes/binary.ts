import { corrupt, invalid } from '../errors/errors.js';
import { weight } from './attribute-value.js';
import { AttributeBuilder, type Attribute } from './attribute.js';

/**
 * Bytes, stored as B. The array is handed on by reference: don't change it before the command has ended, since a
 * transaction may be sent again.
 *
 * @example attributes: { photo: binary().optional() }
 */
export const binary = (): Attribute<Uint8Array> =>
  new AttributeBuilder(
    (path) => [
      (value) => {
        if (!(value instanceof Uint8Array)) return invalid(path, 'expected a Uint8Array');
        weight.units += value.byteLength;
        return { B: value };
      },
      (stored) => stored.B ?? corrupt(path, 'bytes'),
    ],
    { kind_: 'value' },
  ) as unknown as Attribute<Uint8Array>;
