import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  binary,
  boolean,
  calendarDate,
  instant,
  oneOf,
  string,
  timeToLive,
  timestamp,
  toTimestamp,
  uuid,
} from '../../../lib/commands/index.js';
import { codecOf } from '../support/codec.js';

const loneSurrogate = 'a\ud800b';

describe('string()', () => {
  const { encode, decode } = codecOf(string());

  it('stores text as it is, empty text too', () => {
    for (const text of ['', 'x', '\0', '\u{10ffff}', 'é'.normalize('NFD')]) expect(encode(text)).toEqual({ S: text });
  });

  it('refuses what is no text, and text that UTF-8 can not hold', () => {
    for (const wrong of [loneSurrogate, '\udc00', 1, null, new String('x'), ['x']]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('refuses to read another stored type', () => {
    for (const stored of [{ N: '1' }, { NULL: true }, { M: {} }]) {
      expect(() => decode(stored)).toThrow(InvalidStoredItemError);
    }
  });
});

describe('boolean()', () => {
  const { encode, decode } = codecOf(boolean());

  it('stores true and false as BOOL, and nothing else', () => {
    expect(encode(true)).toEqual({ BOOL: true });
    expect(encode(false)).toEqual({ BOOL: false });
    for (const wrong of [0, 'true', null, new Boolean(true)]) expect(() => encode(wrong)).toThrow(InvalidInputError);
  });

  it('reads false as false', () => {
    expect(decode({ BOOL: false })).toBe(false);
    expect(() => decode({ N: '0' })).toThrow(InvalidStoredItemError);
  });
});

describe('binary()', () => {
  const { encode, decode } = codecOf(binary());

  it('stores bytes, those of a Buffer too', () => {
    expect(encode(new Uint8Array([1, 2]))).toEqual({ B: new Uint8Array([1, 2]) });
    expect(encode(Buffer.from('x'))).toEqual({ B: Buffer.from('x') });
    for (const wrong of ['x', [1], new ArrayBuffer(1), null, new Uint16Array(1)]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('reads empty bytes', () => {
    expect(decode({ B: new Uint8Array() })).toEqual(new Uint8Array());
    expect(() => decode({ S: '' })).toThrow(InvalidStoredItemError);
  });
});

describe('instant()', () => {
  const { encode, decode } = codecOf(instant());

  it('stores a Date in one form of 24 characters', () => {
    expect(encode(new Date('2026-12-01T01:00:00+01:00'))).toEqual({ S: '2026-12-01T00:00:00.000Z' });
    expect(encode(new Date('0000-01-01T00:00:00Z'))).toEqual({ S: '0000-01-01T00:00:00.000Z' });
  });

  it('orders texts as times, and reads them back', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, date, (a, b) => {
        const [first, second] = [encode(a)?.S as string, encode(b)?.S as string];
        expect(Math.sign(a.getTime() - b.getTime())).toBe(first < second ? -1 : first > second ? 1 : 0);
        expect(decode({ S: first })).toEqual(a);
      }),
    );
  });

  it('refuses an invalid Date, a year beyond four digits, and what is no Date', () => {
    const wrong = [new Date(NaN), new Date('+010000-01-01T00:00:00Z'), new Date('-000001-01-01T00:00:00Z')];
    for (const value of [...wrong, '2026-12-01T00:00:00.000Z', 0, null]) {
      expect(() => encode(value)).toThrow(InvalidInputError);
    }
  });

  it('refuses to read other forms, which would not compare', () => {
    for (const text of ['2026-12-01', '2026-12-01T00:00:00Z', '2026-12-01T00:00:00.000+00:00', 'x']) {
      expect(() => decode({ S: text })).toThrow(InvalidStoredItemError);
    }
    expect(() => decode({ N: '0' })).toThrow(InvalidStoredItemError);
  });
});

describe('timestamp()', () => {
  const { encode, decode } = codecOf(timestamp());

  it.each([
    ['2026-12-01T01:00:00.5+01:00', '2026-12-01T00:00:00.500000000Z'],
    ['2026-12-01T00:00:00Z', '2026-12-01T00:00:00.000000000Z'],
    ['2026-12-01T00:00:00.123456789Z', '2026-12-01T00:00:00.123456789Z'],
    ['2026-12-01T23:30:00-01:00', '2026-12-02T00:30:00.000000000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000000Z'],
  ])('toTimestamp() brings %s to its one form', (time, text) => {
    expect(toTimestamp(time)).toBe(text);
    expect(encode(toTimestamp(time))).toEqual({ S: text });
  });

  it('toTimestamp() takes a Date', () => {
    expect(toTimestamp(new Date('2026-12-01T00:00:00.123Z'))).toBe('2026-12-01T00:00:00.123000000Z');
  });

  it.each([
    '2026-02-31T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-12-01T24:00:00Z',
    '2026-12-01T23:59:60Z',
    '2026-12-01T00:00:00',
    '2026-12-01',
    '2026-12-01T00:00:00.1234567891Z',
    '2026-12-01T00:00:00+99:00',
    '9999-12-31T23:30:00-01:00',
    '0000-01-01T00:30:00+01:00',
    '',
    'x',
  ])('toTimestamp() refuses %s', (time) => {
    expect(() => toTimestamp(time)).toThrow(InvalidInputError);
  });

  it('toTimestamp() refuses an invalid Date and what is no time', () => {
    for (const wrong of [new Date(NaN), new Date('+010000-01-01T00:00:00Z'), 0, null, undefined]) {
      expect(() => toTimestamp(wrong as Date)).toThrow(InvalidInputError);
    }
  });

  it('keeps two events of one millisecond apart, in their order', () => {
    const [first, second] = ['000001', '000002'].map((tail) => toTimestamp(`2026-12-01T00:00:00.000${tail}Z`));
    expect((first as string) < (second as string)).toBe(true);
  });

  it('checks each text, also behind one that was valid', () => {
    const valid = toTimestamp('2026-12-01T00:00:00Z');
    for (let run = 0; run < 2; run++) {
      expect(encode(valid)).toEqual({ S: valid });
      for (const wrong of [undefined, '', `${valid} `, '2026-02-31T00:00:00.000000000Z'])
        expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('refuses text of another width, and a Date', () => {
    const texts = ['2026-12-01T00:00:00.000Z', '2026-02-31T00:00:00.000000000Z', ''];
    for (const wrong of [...texts, new Date(), null, undefined, NaN]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
    expect(() => decode({ S: '2026-12-01T00:00:00.000Z' })).toThrow(InvalidStoredItemError);
  });
});

describe('calendarDate()', () => {
  const { encode, decode } = codecOf(calendarDate());

  it('stores a day that exists', () => {
    for (const day of ['2026-12-01', '2024-02-29', '0000-01-01', '9999-12-31']) expect(encode(day)).toEqual({ S: day });
  });

  it('refuses days that do not exist, other forms and a Date', () => {
    for (const wrong of ['2026-02-29', '2026-13-01', '2026-1-1', '2026-12-01T00:00:00Z', '', new Date(), null]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
    expect(() => decode({ S: '2026-02-30' })).toThrow(InvalidStoredItemError);
  });
});

describe('timeToLive()', () => {
  const { encode, decode } = codecOf(timeToLive());

  it('stores epoch seconds, rounded up so that nothing expires early', () => {
    expect(encode(new Date(1_000))).toEqual({ N: '1' });
    expect(encode(new Date(1_001))).toEqual({ N: '2' });
    expect(encode(new Date(0))).toEqual({ N: '0' });
  });

  it('refuses an invalid Date, one before 1970, and milliseconds', () => {
    for (const wrong of [new Date(NaN), new Date(-1), Date.now(), '2026-12-01', null]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('reads a Date, and refuses what is none', () => {
    expect(decode({ N: '1796000000' })).toEqual(new Date(1_796_000_000_000));
    for (const stored of [{ S: '1' }, { N: '1.5' }, { N: '9000000000000' }]) {
      expect(() => decode(stored)).toThrow(InvalidStoredItemError);
    }
  });
});

describe('uuid()', () => {
  const { encode, decode } = codecOf(uuid());
  const id = '0190b2c4-7e1d-7abc-8def-0123456789ab';

  it('stores two spellings of one id as one', () => {
    expect(encode(id.toUpperCase())).toEqual({ S: id });
    expect(decode({ S: id.toUpperCase() })).toBe(id);
  });

  it('refuses what is no UUID, in both directions', () => {
    for (const wrong of ['', `{${id}}`, id.replaceAll('-', ''), `${id}0`, null, 1]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
    expect(() => decode({ S: 'x' })).toThrow(InvalidStoredItemError);
  });
});

describe('oneOf()', () => {
  const { encode, decode } = codecOf(oneOf('OPEN', 'PAID', ''));

  it('stores its values only', () => {
    expect(encode('OPEN')).toEqual({ S: 'OPEN' });
    expect(encode('')).toEqual({ S: '' });
    for (const wrong of ['open', 'toString', '__proto__', null, 0]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('refuses to read another value', () => {
    expect(() => decode({ S: 'SHIPPED' })).toThrow(InvalidStoredItemError);
  });

  it('refuses a value that UTF-8 can not hold when it is declared', () => {
    expect(() => oneOf(loneSurrogate)).toThrow(InvalidInputError);
  });
});
