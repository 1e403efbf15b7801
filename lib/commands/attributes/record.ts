import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeMap } from './attribute-value.js';
import { AttributeBuilder, attributeOf, type AnyAttribute, type Attribute } from './attribute.js';
import { hasMembers } from './plain-object.js';

/**
 * A map from names that are not known in advance to one kind of value, stored as M. A member that is `undefined` is
 * left out. `__proto__` is refused as a name.
 *
 * @example attributes: { labels: record(string()) }
 */
export const record = <A extends AnyAttribute>(
  element: A,
): Attribute<Readonly<Record<string, A['~v']>>, 'record', A, Readonly<Record<string, A['~i']>>> => {
  const of = attributeOf(element, 'record');
  return new AttributeBuilder(
    (path) => {
      const at = `${path}{}`;
      const [encode, decode] = of.make_(at);
      return [
        (value) => {
          if (!hasMembers(value)) return invalid(path, 'expected an object of names and values');
          const out: AttributeMap = {};
          weight.units += 3;
          for (const name in value) {
            if (!Object.hasOwn(value, name)) return invalid(path, 'expected members of its own, not inherited ones');
            if (name === '__proto__') return invalid(path, 'can not hold a member named __proto__');
            // UTF-8 has no lone surrogates: two different names would be stored as one.
            if (!name.isWellFormed()) return invalid(path, 'expected names of well-formed text');
            const member = value[name];
            const encoded = member === undefined ? undefined : encode(member);
            weight.units += name.length + 1;
            if (encoded) out[name] = encoded;
          }
          return { M: out };
        },
        (stored) =>
          stored.M
            ? // fromEntries defines members, so that a stored __proto__ is one and no prototype
              Object.fromEntries(Object.entries(stored.M).map(([name, member]) => [name, decode(member)]))
            : corrupt(path, 'a map'),
      ];
    },
    { kind_: 'record', of_: of },
  ) as unknown as Attribute<Readonly<Record<string, A['~v']>>, 'record', A, Readonly<Record<string, A['~i']>>>;
};
