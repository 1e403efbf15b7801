import { corrupt, invalid } from '../errors/errors.js';
import type { Encode } from './attribute-value.js';
import { AttributeBuilder, type DefaultAttribute, type Make } from './attribute.js';
import { integerCodec } from './integer.js';

const codec: Make = (path) => {
  const [encode, decode] = integerCodec(path);
  const check = (value: unknown): ReturnType<Encode> => {
    const encoded = encode(value);
    return (value as number) < 0 ? invalid(path, 'expected a version, which is 0 or more') : encoded;
  };
  return [
    check,
    (stored) => {
      const value = decode(stored) as number;
      return value < 0 ? corrupt(path, 'a version, which is 0 or more') : value;
    },
  ];
};

/**
 * The version of optimistic locking: every write of the entity becomes a compare-and-swap (seeds/003, Optimistic
 * locking). A put takes it from the item: absent or 0 says that no item has the key, any other value must be the stored
 * one; it stores the value plus one. An update or delete by key says `ifVersion(n)` or `ignoreVersion()`.
 *
 * @example attributes: { id: string(), balance: integer(), revision: version() }
 */
export const version = (): DefaultAttribute<number, 'version'> =>
  new AttributeBuilder(codec, { kind_: 'version', fallback_: { value: 0 } }) as unknown as DefaultAttribute<
    number,
    'version'
  >;
