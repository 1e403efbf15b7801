import { corrupt, invalid } from '../errors/errors.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { textCodec, textKey } from './text.js';

const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const check = (value: unknown, path: string): string => {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return invalid(path, 'expected a valid Date');
  const text = value.toISOString();
  // Years outside 0..9999 take a sign and two digits more, so their texts would not compare with the others.
  return text.length === 24 ? text : invalid(path, 'expected a Date between the years 0 and 9999');
};

const decode = (text: string, path: string): Date => {
  const date = new Date(text);
  return form.test(text) && !Number.isNaN(date.getTime()) ? date : corrupt(path, 'an ISO instant of 24 characters');
};

/**
 * A point in time to the millisecond: a Date, stored as S in ISO form of fixed width (`2026-12-01T00:00:00.000Z`), so
 * that texts compare as times do. For the order of events take {@link timestamp}: two events of one millisecond look
 * equal here.
 *
 * @example attributes: { placedAt: instant() }
 */
export const instant = (): Attribute<Date> =>
  new AttributeBuilder(textCodec(check, decode), {
    kind_: 'value',
    key_: textKey(check, decode, form),
  }) as unknown as Attribute<Date>;
