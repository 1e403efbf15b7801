import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeValue } from './attribute-value.js';
import { AttributeBuilder, attributeOf, type AnyAttribute, type Attribute } from './attribute.js';

/**
 * A list of one kind of element, stored as L. An element that is `undefined`, or an empty set, is refused: a list can't
 * leave it out without moving the others.
 *
 * @example attributes: { lines: list(map({ sku: string(), quantity: integer() })) }
 */
export const list = <A extends AnyAttribute>(
  element: A,
): Attribute<readonly A['~v'][], 'list', A, readonly A['~i'][]> => {
  const of = attributeOf(element, 'list');
  return new AttributeBuilder(
    (path) => {
      const at = `${path}[]`;
      const [encode, decode] = of.make_(at);
      return [
        (value) => {
          if (!Array.isArray(value)) return invalid(path, 'expected an array');
          weight.units += 3 + value.length;
          const out = new Array<AttributeValue>(value.length);
          for (let i = 0; i < value.length; i++) {
            out[i] = encode(value[i]) ?? invalid(at, 'an empty set can not stand in a list');
          }
          return { L: out };
        },
        (stored) => {
          if (!stored.L) return corrupt(path, 'a list');
          return stored.L.map(decode);
        },
      ];
    },
    { kind_: 'list', of_: of },
  ) as unknown as Attribute<readonly A['~v'][], 'list', A, readonly A['~i'][]>;
};
