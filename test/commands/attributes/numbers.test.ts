import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  bigint,
  decimal,
  integer,
  number,
  version,
} from '../../../lib/commands/index.js';
import { codecOf } from '../support/codec.js';

describe('number()', () => {
  const { encode, decode } = codecOf(number());

  it.each([
    [0, '0'],
    [-0, '0'],
    [1.5, '1.5'],
    [-2, '-2'],
    [1e21, '1e+21'],
    [9.9e125, '9.9e+125'],
    [1e-130, '1e-130'],
    [0.1, '0.1'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ])('stores %d as N %s', (value, text) => {
    expect(encode(value)).toEqual({ N: text });
  });

  it.each([NaN, Infinity, -Infinity, 1e126, -1e126, 1e-131, Number.MAX_VALUE, Number.MIN_VALUE])(
    'refuses %d, which DynamoDB can not hold',
    (value) => {
      expect(() => encode(value)).toThrow(InvalidInputError);
    },
  );

  it.each(['1', 1n, null, true, new Date(), {}, [1], Object(1)])('refuses %s, which is no number', (value) => {
    expect(() => encode(value)).toThrow(InvalidInputError);
  });

  it('reads back what it stored, for any number that DynamoDB holds', () => {
    const held = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((value) => value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) < 1e126));
    fc.assert(fc.property(held, (value) => decode(encode(value) as object) === value));
  });

  it.each(['12345678901234567890', '0.12345678901234567891', '9007199254740993', '1e200', '-1.2345678901234567891'])(
    'refuses to read %s, which a double would round',
    (text) => {
      expect(() => decode({ N: text })).toThrow(InvalidStoredItemError);
    },
  );

  it.each([
    ['100000000000000000000', 1e20],
    ['0.1000000000000000', 0.1],
    ['1E2', 100],
  ])('reads %s as %d', (text, value) => {
    expect(decode({ N: text })).toBe(value);
  });

  it('refuses to read another stored type', () => {
    for (const stored of [{ S: '1' }, { NULL: true }, {}]) expect(() => decode(stored)).toThrow(InvalidStoredItemError);
  });
});

describe('integer()', () => {
  const { encode, decode } = codecOf(integer());

  it.each([0, -1, 2 ** 53 - 1, -(2 ** 53 - 1)])('stores %d', (value) => {
    expect(encode(value)).toEqual({ N: String(value) });
  });

  it.each([2 ** 53, -(2 ** 53), 1.5, NaN, Infinity, '1', 1n, null])('refuses %s', (value) => {
    expect(() => encode(value)).toThrow(InvalidInputError);
  });

  it('stores -0 as 0', () => {
    expect(encode(-0)).toEqual({ N: '0' });
  });

  it.each(['9007199254740993', '1.5', '1.00000000000000000001', '1e400'])('refuses to read %s', (text) => {
    expect(() => decode({ N: text })).toThrow(InvalidStoredItemError);
  });

  it.each([
    ['5', 5],
    ['5.0', 5],
    ['5E2', 500],
    ['-0', -0],
  ])('reads %s', (text, value) => {
    expect(decode({ N: text })).toBe(value);
  });
});

describe('bigint()', () => {
  const { encode, decode } = codecOf(bigint());

  it('keeps 38 significant digits and any zeros after them', () => {
    const digits = 12345678901234567890123456789012345678n;
    for (const value of [digits, -digits, digits * 10n ** 88n, 10n ** 125n, -(10n ** 125n), 0n]) {
      expect(encode(value)).toEqual({ N: String(value) });
    }
  });

  it.each([123456789012345678901234567890123456789n, 10n ** 126n, -(10n ** 126n), 5, '5', null])(
    'refuses %s',
    (value) => {
      expect(() => encode(value)).toThrow(InvalidInputError);
    },
  );

  it('reads back what it stored, in whatever form DynamoDB gives it', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n), fc.nat(80), (digits, zeros) => {
        const value = digits * 10n ** BigInt(zeros);
        expect(decode({ N: String(value) })).toBe(value);
        expect(decode({ N: `${digits}E+${zeros}` })).toBe(value);
        expect(decode({ N: `${digits}.0E${zeros}` })).toBe(value);
      }),
    );
  });

  it.each(['1.5', '1e-1', '1e999999999999', 'x', '', '1.05E1'])('refuses to read %s', (text) => {
    expect(() => decode({ N: text })).toThrow(InvalidStoredItemError);
  });
});

describe('decimal()', () => {
  const { encode, decode } = codecOf(decimal());

  it.each(['0.1', '-12.50', '1e3', '1.5E-7', '.5', '5.', '99999999999999999999999999999999999999', '1e-130'])(
    'stores %s without rounding',
    (text) => {
      expect(encode(text)).toEqual({ N: text });
    },
  );

  it.each(['0', '-0', '0.000', '0e99999999999999999999'])('stores the zero %s as 0', (text) => {
    expect(encode(text)).toEqual({ N: '0' });
  });

  it.each([
    '999999999999999999999999999999999999999',
    '1e126',
    '1e-131',
    '0.1e-130',
    '1e99999999999999999999',
    'NaN',
    'Infinity',
    '',
    ' 1',
    '1,5',
    '0x10',
    '1.2.3',
    1.5,
    null,
  ])('refuses %s', (value) => {
    expect(() => encode(value)).toThrow(InvalidInputError);
  });

  it('reads the text that DynamoDB gives', () => {
    expect(decode({ N: '12.5' })).toBe('12.5');
  });

  it('stores and reads objects of the decimal class handed to it', () => {
    class Big {
      constructor(readonly text: string) {}
      toString(): string {
        return this.text;
      }
    }
    const ofClass = codecOf(decimal(Big));
    expect(ofClass.encode(new Big('1.50'))).toEqual({ N: '1.50' });
    expect(ofClass.decode({ N: '1.5' })).toEqual(new Big('1.5'));
    for (const wrong of ['1.5', 1.5, new Big('NaN'), { toString: () => '1' }]) {
      expect(() => ofClass.encode(wrong)).toThrow(InvalidInputError);
    }
  });
});

describe('version()', () => {
  const { encode, decode } = codecOf(version());

  it('takes whole numbers from 0 on', () => {
    expect(encode(0)).toEqual({ N: '0' });
    expect(encode(7)).toEqual({ N: '7' });
    for (const wrong of [-1, 1.5, NaN, '1', null, 2 ** 53]) expect(() => encode(wrong)).toThrow(InvalidInputError);
  });

  it('reads them back', () => {
    expect(decode({ N: '7' })).toBe(7);
    expect(() => decode({ N: '7.5' })).toThrow(InvalidStoredItemError);
  });
});
