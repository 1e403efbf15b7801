import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeValue } from './attribute-value.js';
import { AttributeBuilder, type Attribute, type Make } from './attribute.js';
import { binary } from './binary.js';
import { number } from './number.js';
import { string } from './string.js';

type SetType = 'SS' | 'NS' | 'BS';

/** Every set takes a Set or any other iterable; equal members count once, and an empty one is an absent attribute. */
const setOf = (type: SetType, element: AttributeBuilder): AttributeBuilder => {
  const member = type.charAt(0) as 'S' | 'N' | 'B';
  const make: Make = (path) => {
    const [encode, decode] = element.make_(path);
    return [
      (value) => {
        if (
          typeof value === 'string' ||
          typeof (value as Iterable<unknown> | undefined)?.[Symbol.iterator] !== 'function'
        ) {
          return invalid(path, 'expected a Set');
        }
        const members = new Map<unknown, unknown>();
        for (const item of value as Iterable<unknown>) {
          const stored = (encode(item) as unknown as Record<string, unknown>)[member];
          members.set(type === 'BS' ? Buffer.from(stored as Uint8Array).toString('base64') : stored, stored);
        }
        weight.units += members.size;
        return members.size === 0 ? undefined : ({ [type]: [...members.values()] } as unknown as AttributeValue);
      },
      (stored) => {
        const members = (stored as unknown as Record<string, unknown[] | undefined>)[type];
        if (members === undefined) return corrupt(path, 'a set');
        return new Set(members.map((item) => decode({ [member]: item } as unknown as AttributeValue)));
      },
    ];
  };
  return new AttributeBuilder(make, { kind_: 'set', empty_: () => new Set(), element_: element.make_ });
};

/**
 * A set of strings, stored as SS. DynamoDB has no empty set: an empty one is an absent attribute, and a required set
 * that is absent reads as empty.
 *
 * @example attributes: { tags: stringSet() }
 */
export const stringSet = (): Attribute<ReadonlySet<string>, 'set'> =>
  setOf('SS', string() as unknown as AttributeBuilder) as unknown as Attribute<ReadonlySet<string>, 'set'>;

/**
 * A set of numbers, stored as NS; see {@link stringSet} for empty sets and `number()` for digits.
 *
 * @example attributes: { scores: numberSet().optional() }
 */
export const numberSet = (): Attribute<ReadonlySet<number>, 'set'> =>
  setOf('NS', number() as unknown as AttributeBuilder) as unknown as Attribute<ReadonlySet<number>, 'set'>;

/**
 * A set of byte arrays, stored as BS; equal bytes count once. See {@link stringSet} for empty sets.
 *
 * @example attributes: { fingerprints: binarySet() }
 */
export const binarySet = (): Attribute<ReadonlySet<Uint8Array>, 'set'> =>
  setOf('BS', binary() as unknown as AttributeBuilder) as unknown as Attribute<ReadonlySet<Uint8Array>, 'set'>;
