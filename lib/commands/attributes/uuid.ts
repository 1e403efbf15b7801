import { corrupt, invalid } from '../errors/errors.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { textCodec, textKey } from './text.js';

const form = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

const check = (value: unknown, path: string): string =>
  typeof value === 'string' && form.test(value)
    ? value.toLowerCase()
    : invalid(path, 'expected a UUID of 36 characters');

const decode = (text: string, path: string): unknown =>
  form.test(text) ? text.toLowerCase() : corrupt(path, 'a UUID of 36 characters');

/**
 * A UUID (RFC 9562 text form), stored in lower case as S, so that two spellings of one id are one id.
 *
 * @example attributes: { eventId: uuid() }
 */
export const uuid = (): Attribute<string, 'text'> =>
  new AttributeBuilder(textCodec(check, decode), {
    kind_: 'text',
    key_: textKey(check, decode, form),
  }) as unknown as Attribute<string, 'text'>;
