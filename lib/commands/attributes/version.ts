import { AttributeBuilder, type DefaultAttribute } from './attribute.js';
import { integerCodec } from './integer.js';

/**
 * The version of optimistic locking: every write of the entity becomes a compare-and-swap (seeds/003, Optimistic
 * locking). A put takes it from the item: absent or 0 says that no item has the key, any other value must be the stored
 * one; it stores the value plus one. An update or delete by key says `ifVersion(n)` or `ignoreVersion()`.
 *
 * @example attributes: { id: string(), balance: integer(), revision: version() }
 */
export const version = (): DefaultAttribute<number, 'version'> =>
  new AttributeBuilder(integerCodec, { kind: 'version', fallback: { value: 0 } }) as unknown as DefaultAttribute<
    number,
    'version'
  >;
