import { corrupt } from '../errors/errors.js';
import { AttributeBuilder, type Attribute, type Attributes, type InputOf, type ItemOf } from './attribute.js';
import { compileFields, objectDecoder, objectEncoder } from './fields.js';

/**
 * A nested document with declared members, stored as M. A member that is `undefined` is left out.
 *
 * @example attributes: { shipTo: map({ street: string(), city: string() }).optional() }
 */
export const map = <M extends Attributes>(members: M): Attribute<ItemOf<M>, 'map', M, InputOf<M>> => {
  const of = members as unknown as Record<string, AttributeBuilder>;
  return new AttributeBuilder(
    (path) => {
      const fields = compileFields(of, `${path}.`);
      const encode = objectEncoder(fields, path);
      const decode = objectDecoder(fields);
      return [
        (value) => ({ M: encode(value, {}) }),
        (stored) => (stored.M ? decode(stored.M) : corrupt(path, 'a map')),
      ];
    },
    { kind_: 'map', of_: of },
  ) as unknown as Attribute<ItemOf<M>, 'map', M, InputOf<M>>;
};
