import { corrupt, invalid } from '../errors/errors.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { checkText, textCodec, textKey } from './text.js';

/**
 * One of the given strings, stored as S; the type is their union. A stored value outside of them is refused when read,
 * so add a value to every reader before the first writer uses it.
 *
 * @example attributes: { status: oneOf('OPEN', 'PAID') }
 */
export const oneOf = <const V extends string>(...values: readonly [V, ...V[]]): Attribute<V, 'text'> => {
  values.forEach((value) => checkText(value, 'oneOf'));
  const known = new Set<unknown>(values);
  const check = (value: unknown, path: string): string =>
    known.has(value) ? (value as string) : invalid(path, `expected one of its ${known.size} values`);
  const decode = (text: string, path: string): unknown => (known.has(text) ? text : corrupt(path, 'one of its values'));
  const pattern = new RegExp(`^(${values.map((value) => value.replace(/[^\w]/g, '\\$&')).join('|')})$`);
  return new AttributeBuilder(textCodec(check, decode), {
    kind_: 'text',
    key_: textKey(check, decode, pattern),
  }) as unknown as Attribute<V, 'text'>;
};
