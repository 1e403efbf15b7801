import { corrupt, invalid } from '../errors/errors.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { textCodec, textKey } from './text.js';

const form = /^\d{4}-\d\d-\d\d$/;

const isDate = (text: string): boolean => {
  if (!form.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Date rolls 31 February over to March; the same text must come back.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const check = (value: unknown, path: string): string =>
  typeof value === 'string' && isDate(value) ? value : invalid(path, 'expected a calendar date, as YYYY-MM-DD');

const decode = (text: string, path: string): unknown => (isDate(text) ? text : corrupt(path, 'a calendar date'));

/**
 * A day of the calendar without time or zone, as `YYYY-MM-DD`, stored as S. A Date is refused: its day depends on a
 * zone, so the caller decides it.
 *
 * @example attributes: { day: calendarDate() }
 */
export const calendarDate = (): Attribute<string, 'text'> =>
  new AttributeBuilder(textCodec(check, decode), {
    kind_: 'text',
    key_: textKey(check, decode, form),
  }) as unknown as Attribute<string, 'text'>;
