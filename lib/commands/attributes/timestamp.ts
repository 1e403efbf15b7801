import { corrupt, invalid } from '../errors/errors.js';
import { AttributeBuilder, type Attribute } from './attribute.js';
import { textCodec, textKey } from './text.js';

/** ISO text of 30 characters, to the nanosecond, in UTC; made by {@link toTimestamp}. */
export type Timestamp = string & { readonly '~timestamp': true };

const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;
const loose = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

const exists = (seconds: string, zone: string): boolean => {
  const date = new Date(`${seconds}Z`);
  if (Number.isNaN(date.getTime())) return false;
  // Date rolls 31 February over to March; the same text must come back (compared without the zone).
  return date.toISOString().startsWith(seconds) && (zone === 'Z' || !Number.isNaN(Date.parse(`${seconds}${zone}`)));
};

/**
 * Brings a time to the one form that {@link timestamp} stores: UTC, nine fractional digits. Times of different widths
 * don't compare as text, and two events of one millisecond must not look equal.
 *
 * @param time ISO 8601 text with up to nine fractional digits and `Z` or an offset, or a Date
 * @throws InvalidInputError where it is not such a time, or has more digits than nanoseconds
 * @example toTimestamp('2026-12-01T01:00:00.5+01:00') // '2026-12-01T00:00:00.500000000Z'
 */
export const toTimestamp = (time: string | Date): Timestamp => {
  const text = time instanceof Date ? (Number.isNaN(time.getTime()) ? '' : time.toISOString()) : time;
  const [, seconds, fraction = '', zone] = (typeof text === 'string' && loose.exec(text)) || [];
  if (seconds === undefined || zone === undefined || !exists(seconds, zone)) {
    return invalid(
      'toTimestamp',
      'expected ISO 8601 text with a zone and up to nine fractional digits, or a valid Date',
    );
  }
  const utc = zone === 'Z' ? seconds : new Date(`${seconds}${zone}`).toISOString().slice(0, -5);
  const result = `${utc}.${fraction.padEnd(9, '0')}Z`;
  // A zone may move the last day of 9999 to a year of five digits.
  return form.test(result) ? (result as Timestamp) : invalid('toTimestamp', 'expected a time of the years 0 to 9999');
};

/** The last text that was found to be one: an event's version stands in several clauses, and each checks it. */
let known: unknown = NaN;

const check = (value: unknown, path: string): string =>
  value === known || (typeof value === 'string' && form.test(value) && exists(value.slice(0, 19), 'Z'))
    ? ((known = value) as string)
    : invalid(path, 'expected a timestamp of 30 characters: bring the time to that form with toTimestamp()');

const decode = (text: string, path: string): unknown =>
  form.test(text) ? text : corrupt(path, 'a timestamp of 30 characters');

/**
 * A point in time to the nanosecond, as text of fixed width; what versions of events are compared by. Takes what
 * {@link toTimestamp} gives.
 *
 * @example attributes: { scoreAt: timestamp().optional() }
 */
export const timestamp = (): Attribute<Timestamp> =>
  new AttributeBuilder(textCodec(check, decode), {
    kind_: 'value',
    key_: textKey(check, decode, form),
  }) as unknown as Attribute<Timestamp>;
