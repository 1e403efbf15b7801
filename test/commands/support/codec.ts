import type { AttributeValue } from '../../../lib/commands/index.js';
import type { AttributeBuilder } from '../../../lib/commands/attributes/attribute.js';

/** The two halves of an attribute kind, as an entity compiles them. */
export interface Codec {
  readonly encode: (value: unknown) => AttributeValue | undefined;
  readonly decode: (stored: object) => unknown;
}

/** Compiles an attribute for the path `v`. */
export const codecOf = (attribute: unknown): Codec => {
  const [encode, decode] = (attribute as AttributeBuilder).make_('v');
  return { encode, decode: (stored) => decode(stored as AttributeValue) };
};
