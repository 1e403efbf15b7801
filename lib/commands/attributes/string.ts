import { AttributeBuilder, type Attribute } from './attribute.js';
import { checkText, textCodec, textKey } from './text.js';

const codec = textCodec(checkText);
const key = textKey(checkText);

/**
 * A string, stored as S. Empty is allowed outside keys. Refuses lone surrogates, which UTF-8 can't hold.
 *
 * @example attributes: { name: string(), note: string().optional() }
 */
export const string = (): Attribute<string, 'text'> =>
  new AttributeBuilder(codec, { kind_: 'text', key_: key }) as unknown as Attribute<string, 'text'>;
