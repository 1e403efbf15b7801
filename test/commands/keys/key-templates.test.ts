import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  bigint,
  boolean,
  calendarDate,
  entity,
  instant,
  integer,
  oneOf,
  string,
  timestamp,
  toTimestamp,
  uuid,
} from '../../../lib/commands/index.js';

const attributes = {
  text: string(),
  id: uuid(),
  number: integer(),
  big: bigint(),
  at: instant(),
  stamp: timestamp(),
  day: calendarDate(),
  status: oneOf('OPEN', 'PAID'),
};
const Everything = entity('EVERYTHING', {
  pk: 'E#{text}#{id}#{number:16}#v{big:38}!',
  sk: '{at}#{stamp}#{day}#{status}',
  attributes,
});
const Free = entity('FREE', { pk: '{a}#x{b}y#{c}', sk: 'S', attributes: { a: string(), b: string(), c: integer() } });
const Escaped = entity('ESCAPED', {
  pk: '{a}#x{b}y',
  sk: '{c}',
  escape: true,
  attributes: { a: string(), b: string(), c: string() },
});

/** Text that the attribute takes; often of characters that a template gives a meaning. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('#', '%', '2', '3', 'x', 'y', '\0', '\u{10ffff}') }),
  )
  .filter((value) => value !== '' && value.isWellFormed());
const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true });
const inputs = fc.record({
  text: text.filter((value) => !/[#\u{10ffff}]/u.test(value)),
  id: fc.uuid(),
  number: fc.nat(Number.MAX_SAFE_INTEGER),
  big: fc.bigInt(0n, 10n ** 38n - 1n),
  at: date,
  stamp: date.map(toTimestamp),
  day: date.map((value) => value.toISOString().slice(0, 10)),
  status: fc.constantFrom('OPEN' as const, 'PAID' as const),
});

/** The key's text, or undefined where an input is refused. */
const keyText = (of: () => string): string | undefined => {
  try {
    return of();
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
};

describe('a key template', () => {
  it('gives back the inputs of any key it made', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { pk, sk } = Everything.key(given);
        const { text, id, number, big, at, stamp, day, status } = given;
        expect(Everything.pk.parse(pk)).toEqual({ text, id, number, big });
        expect(Everything.sk.parse(sk)).toEqual({ at, stamp, day, status });
      }),
    );
  });

  it('never gives two different inputs one text', () => {
    const given = fc.record({ a: text, b: text, c: fc.integer() });
    fc.assert(
      fc.property(given, given, (first, second) => {
        const [one, other] = [keyText(() => Free.pk.of(first)), keyText(() => Free.pk.of(second))];
        if (one === undefined || one !== other) return;
        expect(first).toEqual(second);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes any text with escape: true, and still tells all inputs apart', () => {
    const given = fc.record({ a: text, b: text });
    fc.assert(
      fc.property(given, given, (first, second) => {
        const one = Escaped.pk.of(first);
        expect(Escaped.pk.parse(one)).toEqual(first);
        if (one === Escaped.pk.of(second)) expect(first).toEqual(second);
        expect(one.split('#')).toHaveLength(2);
      }),
      { numRuns: 1000 },
    );
  });

  it('makes texts that sort as the numbers, times and versions in them', () => {
    const sorted = <V>(of: (value: V) => string, compare: (a: V, b: V) => number, value: fc.Arbitrary<V>): void =>
      fc.assert(
        fc.property(value, value, (a, b) => {
          const [first, second] = [of(a), of(b)];
          expect(first < second ? -1 : first > second ? 1 : 0).toBe(Math.sign(compare(a, b)));
        }),
      );
    const at = entity('AT', { pk: 'A', sk: '{at}', attributes: { at: instant() } });
    const numbered = entity('N', { pk: 'N', sk: '{n:16}', attributes: { n: integer() } });
    const big = entity('B', { pk: 'B', sk: '{n:38}', attributes: { n: bigint() } });
    sorted(
      (n) => numbered.sk.of({ n }),
      (a, b) => a - b,
      fc.nat(Number.MAX_SAFE_INTEGER),
    );
    sorted(
      (n) => big.sk.of({ n }),
      (a, b) => (a < b ? -1 : a > b ? 1 : 0),
      fc.bigInt(0n, 10n ** 38n - 1n),
    );
    sorted(
      (value) => at.sk.of({ at: value }),
      (a, b) => a.getTime() - b.getTime(),
      date,
    );
  });

  it.each([
    ['another head', 'F#a'],
    ['a missing part', 'E'],
    ['one part more', 'E#a#b'],
    ['an empty input', 'E#'],
    ['an empty text', ''],
  ])('refuses to parse %s', (_, key) => {
    const plain = entity('P', { pk: 'E#{a}', sk: 'S', attributes: { a: string() } });
    expect(() => plain.pk.parse(key)).toThrow(InvalidStoredItemError);
  });

  it('parses only what it would make itself', () => {
    const typed = entity('T', {
      pk: '{n:4}#{i}#{id}#{big}',
      sk: '{at}',
      attributes: { n: integer(), i: integer(), id: uuid(), big: bigint(), at: instant() },
    });
    const id = '0190b2c4-7e1d-7abc-8def-0123456789ab';
    expect(typed.pk.parse(`0007#-5#${id}#-12`)).toEqual({ n: 7, i: -5, id, big: -12n });
    for (const key of [
      `7#5#${id}#1`,
      `00007#5#${id}#1`,
      `-007#5#${id}#1`,
      `0007#05#${id}#1`,
      `0007#1e3#${id}#1`,
      `0007#99999999999999999999#${id}#1`,
      `0007#5#${id.toUpperCase()}#1`,
      `0007#5#${id}#0x1`,
      `0007#5#${id}# 1`,
    ]) {
      expect(() => typed.pk.parse(key), key).toThrow(InvalidStoredItemError);
    }
    for (const key of ['2026-13-45T00:00:00.000Z', '2026-12-01', '2026-12-01T00:00:00.000+00:00']) {
      expect(() => typed.sk.parse(key), key).toThrow(InvalidStoredItemError);
    }
    for (const key of ['%2#xay', '%23%#xay', 'a%2f#xay', 'a%61#xay', '%ED%A0%80#xay', 'a#xy']) {
      expect(() => Escaped.pk.parse(key), key).toThrow(InvalidStoredItemError);
    }
  });

  it('converts values through via() in both directions', () => {
    const cents = integer().via({ encode: (euro: number) => Math.round(euro * 100), decode: (n) => n / 100 });
    const priced = entity('PRICED', { pk: 'P#{price:6}', sk: 'S', attributes: { price: cents } });
    expect(priced.pk.of({ price: 1.5 })).toBe('P#000150');
    expect(priced.pk.parse('P#000150')).toEqual({ price: 1.5 });
    expect(() => priced.pk.of({ price: NaN })).toThrow(InvalidInputError);
  });
});

describe('a key', () => {
  const key = (a: unknown): unknown => {
    const one = entity('ONE', { pk: 'A#{a}', sk: '{a}', attributes: { a: string() } });
    return one.key({ a: a as string });
  };

  it.each([
    ['empty', ''],
    ['missing', undefined],
    ['null', null],
    ['a number', 5],
    ['with the separator', 'a#b'],
    ['with a lone surrogate', '\ud800'],
    ['with U+10FFFF', 'a\u{10ffff}'],
    ['an object', { toString: () => 'x' }],
    ['an array', ['x']],
  ])('refuses an input that is %s', (_, value) => {
    expect(() => key(value)).toThrow(InvalidInputError);
  });

  it('refuses what is no object of inputs', () => {
    const one = entity('ONE', { pk: 'A', sk: 'B', attributes: {} });
    expect(one.key({})).toEqual({ pk: 'A', sk: 'B' });
    const two = entity('TWO', {
      pk: '{constructor}',
      sk: '{toString}',
      attributes: { constructor: string(), toString: string() },
    });
    expect(() => two.key({} as never)).toThrow(InvalidInputError);
    expect(two.key({ constructor: 'c', toString: 't' })).toEqual({ pk: 'c', sk: 't' });
  });

  it('is at most 2048 bytes for a partition and 1024 for a sort key, in UTF-8', () => {
    const pk = entity('PK', { pk: 'A#{a}', sk: 'S', attributes: { a: string() } });
    const sk = entity('SK', { pk: 'A', sk: 'A#{a}', attributes: { a: string() } });
    expect(pk.key({ a: 'x'.repeat(2046) }).pk).toHaveLength(2048);
    expect(() => pk.key({ a: 'x'.repeat(2047) })).toThrow(/2048 bytes/);
    expect(() => pk.key({ a: 'é'.repeat(1024) })).toThrow(/2048 bytes/);
    expect(sk.key({ a: 'é'.repeat(511) }).sk).toHaveLength(513);
    expect(() => sk.key({ a: 'é'.repeat(512) })).toThrow(/1024 bytes/);
  });

  it.each([-1, 10_000, 1.5, NaN, 2 ** 53, '5', 5n, null])('refuses %s as a number of four digits', (n) => {
    const numbered = entity('N', { pk: 'N', sk: '{n:4}', attributes: { n: integer() } });
    expect(() => numbered.sk.of({ n: n as number })).toThrow(InvalidInputError);
  });

  it('pads numbers to their width', () => {
    const numbered = entity('N', { pk: 'N', sk: '{n:4}', attributes: { n: integer() } });
    expect([0, -0, 7, 9999].map((n) => numbered.sk.of({ n }))).toEqual(['0000', '0000', '0007', '9999']);
    const wide = entity('W', { pk: '{n:2048}', sk: '{n:1024}', attributes: { n: integer() } });
    expect(wide.key({ n: 7 })).toEqual({ pk: '7'.padStart(2048, '0'), sk: '7'.padStart(1024, '0') });
  });

  it('says no value in errors', () => {
    for (const secret of ['secret#x', 'secret\ud800', 'secret'.repeat(400), 'secret\u{10ffff}']) {
      expect(() => key(secret)).toThrow(/^(?!.*secret)/s);
    }
  });
});

describe('entity() refuses', () => {
  const declare = (pk: string, sk = 'S', options = {}) =>
    entity('BAD', {
      pk,
      sk,
      attributes: {
        a: string(),
        b: string(),
        n: integer(),
        flag: boolean(),
        maybe: string().optional(),
        usual: string().default('x'),
      },
      ...options,
    } as never);

  it.each([
    ['two inputs without a separator between them', '{a}{b}', 'S'],
    ['two inputs with other text between them', '{a}-{b}', 'S'],
    ['an input that is no attribute', '{c}', 'S'],
    ['an input of a kind that has no text', '{flag}', 'S'],
    ['an optional input', '{maybe}', 'S'],
    ['a defaulted input', 'A', '{usual}'],
    ['an input twice', '{a}#{a}', 'S'],
    ['a number in a sort key without a width', 'A', '{n}'],
    ['a width on text', '{a:5}', 'S'],
    ['a width that a partition key has no room for', '{n:2049}', 'S'],
    ['a width that a sort key has no room for', 'A', '{n:1025}'],
    ['a width beyond all numbers', 'A', `{n:${'9'.repeat(400)}}`],
    ['a brace without an input', 'A#{', 'S'],
    ['an empty name', 'A#{}', 'S'],
    ['an empty template', '', 'S'],
    ['an empty sort key', 'A', ''],
    ['a template that UTF-8 can not hold', 'A\ud800', 'S'],
  ])('%s', (_, pk, sk) => {
    expect(() => declare(pk, sk)).toThrow(InvalidInputError);
  });

  it.each(['', '{', '}', '%', '::', 'a', '0', '\u{10ffff}', '\ud800', 5, null])('the separator %j', (separator) => {
    expect(() => declare('A', 'S', { separator })).toThrow(/separator/);
  });

  it.each(['|', '/', '_', ' ', '\0', '€', '😀'])('no separator %j', (separator) => {
    const free = entity('OK', {
      pk: `{a}${separator}{b}`,
      sk: 'S',
      separator,
      attributes: { a: string(), b: string() },
    });
    expect((free.pk.of as (inputs: object) => string)({ a: '#', b: 'x' })).toBe(`#${separator}x`);
    expect(() => (free.pk.of as (inputs: object) => string)({ a: `a${separator}`, b: 'x' })).toThrow(InvalidInputError);
  });

  it('a name that is none', () => {
    for (const name of ['', undefined, 5, 'a\ud800']) {
      expect(() => entity(name as string, { pk: 'A', sk: 'S', attributes: {} })).toThrow(InvalidInputError);
    }
  });

  it('two versions, and two times to live', async () => {
    const { version, timeToLive } = await import('../../../lib/commands/index.js');
    expect(() => entity('V', { pk: 'A', sk: 'S', attributes: { a: version(), b: version() } })).toThrow(/at most one/);
    expect(() => entity('T', { pk: 'A', sk: 'S', attributes: { a: timeToLive(), b: timeToLive() } })).toThrow(
      /at most one/,
    );
  });
});
