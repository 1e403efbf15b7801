import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  binarySet,
  boolean,
  instant,
  integer,
  list,
  map,
  number,
  numberSet,
  record,
  string,
  stringSet,
  type AttributeValue,
} from '../../../lib/commands/index.js';
import { codecOf } from '../support/codec.js';

describe('list()', () => {
  const { encode, decode } = codecOf(list(integer()));

  it('stores elements in order, and an empty list as one', () => {
    expect(encode([1, 2])).toEqual({ L: [{ N: '1' }, { N: '2' }] });
    expect(encode([])).toEqual({ L: [] });
    expect(decode({ L: [{ N: '2' }, { N: '1' }] })).toEqual([2, 1]);
  });

  it('refuses holes, undefined and null: leaving one out would move the others', () => {
    for (const wrong of [[1, , 3], [undefined], [null], new Array(2)]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('refuses an empty set as an element', () => {
    expect(() => codecOf(list(stringSet())).encode([new Set()])).toThrow(/empty set/);
  });

  it('refuses what is no array', () => {
    for (const wrong of [new Set([1]), { 0: 1, length: 1 }, '1', null, new Uint8Array(1)]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
    expect(() => decode({ SS: ['x'] })).toThrow(InvalidStoredItemError);
  });

  it('names the list and no index in errors', () => {
    expect(() => encode([1, 'secret'])).toThrow(/^v\[\]: /);
  });

  it('refuses an element that is no attribute when it is declared', () => {
    expect(() => list('x' as never)).toThrow(InvalidInputError);
    expect(() => record(undefined as never)).toThrow(InvalidInputError);
  });
});

describe('map()', () => {
  const { encode, decode } = codecOf(
    map({ street: string(), city: string().optional(), tags: stringSet(), n: integer().default(7).savedAs('m') }),
  );

  it('leaves out members that are undefined, and empty sets', () => {
    expect(encode({ street: 'x', city: undefined, tags: [] })).toEqual({ M: { street: { S: 'x' }, m: { N: '7' } } });
  });

  it('reads an absent set as empty and an absent default as its value', () => {
    expect(decode({ M: { street: { S: 'x' } } })).toEqual({ street: 'x', tags: new Set(), n: 7 });
  });

  it('refuses a missing required member and null', () => {
    for (const wrong of [{}, { street: undefined }, { street: null }, { street: 'x', city: null }]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
    expect(() => decode({ M: {} })).toThrow(InvalidStoredItemError);
  });

  it('refuses members that are not declared, which would be lost', () => {
    expect(() => encode({ street: 'x', tags: [], zip: '8000' })).toThrow(/not declared: it takes street, .*tags/);
    expect(() => encode({ street: 'x', tags: [], m: 1 })).toThrow(InvalidInputError);
    expect(() => encode({ street: 'x', tags: [], zip: undefined })).not.toThrow();
  });

  it('says no name in errors that may be data', () => {
    const message = (object: object): string => {
      try {
        encode({ street: 'x', tags: [], ...object });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    for (const name of ['alice@example.com', 'card4242424242424242', 'zip', 'x'.repeat(1000)]) {
      expect(message({ [name]: 1 })).toMatch(/not declared: it takes street, /);
      expect(message({ [name]: 1 })).not.toContain(name);
    }
  });

  it('takes frozen objects, objects without prototype, and instances of classes', () => {
    class Address {
      street = 'x';
      tags = new Set(['a']);
    }
    const stored = { M: { street: { S: 'x' }, tags: { SS: ['a'] }, m: { N: '7' } } };
    expect(encode(Object.freeze({ street: 'x', tags: ['a'] }))).toEqual(stored);
    expect(encode(Object.assign(Object.create(null) as object, { street: 'x', tags: ['a'] }))).toEqual(stored);
    expect(encode(new Address())).toEqual(stored);
  });

  it('reads getters of a class, and still refuses what is not declared', () => {
    class Address {
      get street(): string {
        return 'x';
      }
      tags = [];
      zip: string | undefined = undefined;
    }
    expect(encode(new Address())).toEqual({ M: { street: { S: 'x' }, m: { N: '7' } } });
    expect(() => encode(Object.assign(new Address(), { zip: '8000' }))).toThrow(
      /not declared: it takes street, .*tags/,
    );
  });

  it('refuses objects whose members it can not see, which would be stored empty', () => {
    const optional = codecOf(map({ a: string().optional() }));
    for (const wrong of [new Map([['a', 'x']]), new Date(), new Set(), /x/, Promise.resolve(), new (class {})()]) {
      expect(() => optional.encode(wrong)).toThrow(InvalidInputError);
    }
    expect(optional.encode({})).toEqual({ M: {} });
  });

  it('refuses what is no object', () => {
    for (const wrong of ['x', 1, null, [], () => 0]) expect(() => encode(wrong)).toThrow(InvalidInputError);
  });

  it('keeps members apart that every object inherits', () => {
    const inherited = codecOf(
      map({ constructor: string().optional(), toString: string().optional(), x: string().savedAs('valueOf') }),
    );
    expect(inherited.encode({ x: '1' })).toEqual({ M: { valueOf: { S: '1' } } });
    expect(inherited.encode({ x: '1', constructor: 'c' })).toEqual({
      M: { valueOf: { S: '1' }, constructor: { S: 'c' } },
    });
    expect(inherited.decode({ M: { valueOf: { S: '1' } } })).toEqual({ x: '1' });
    expect(() => inherited.decode({ M: {} })).toThrow(InvalidStoredItemError);
    expect(() => inherited.encode({})).toThrow(/is required/);
  });

  it('refuses names that can not be members', () => {
    const proto = JSON.parse('{"__proto__":1}') as object;
    expect(() => codecOf(map(Object.fromEntries([['', string()]])))).toThrow(InvalidInputError);
    expect(() => codecOf(map(Object.fromEntries([['__proto__', string()]])))).toThrow(InvalidInputError);
    expect(() => encode({ street: 'x', tags: [], ...proto })).toThrow(InvalidInputError);
    expect(() => string().savedAs('__proto__')).toThrow(InvalidInputError);
    expect(() => string().savedAs('')).toThrow(InvalidInputError);
  });

  it('refuses two members of one stored name', () => {
    expect(() => codecOf(map({ a: string().savedAs('b'), b: string() }))).toThrow(/stored name of another/);
  });
});

describe('record()', () => {
  const { encode, decode } = codecOf(record(integer()));

  it('stores the names it is given, those of prototypes too', () => {
    const names = { a: 1, constructor: 2, toString: 3, '': 4, 'a.b': 5 };
    const stored = encode(names) as { M: Record<string, AttributeValue> };
    expect(Object.keys(stored.M)).toEqual(Object.keys(names));
    expect(decode(stored)).toEqual(names);
  });

  it('refuses __proto__ as a name, and reads a stored one as a member', () => {
    expect(() => encode(JSON.parse('{"__proto__":1}'))).toThrow(InvalidInputError);
    const read = decode({ M: JSON.parse('{"__proto__":{"N":"1"}}') as object }) as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.entries(read)).toEqual([['__proto__', 1]]);
  });

  it('leaves out members that are undefined, and refuses null', () => {
    expect(encode({ a: undefined, b: 1 })).toEqual({ M: { b: { N: '1' } } });
    expect(() => encode({ a: null })).toThrow(InvalidInputError);
  });

  it('refuses a Map, which would be stored empty', () => {
    for (const wrong of [new Map([['a', 1]]), new Set(), [], null, 'x', new Date()]) {
      expect(() => encode(wrong)).toThrow(InvalidInputError);
    }
  });

  it('says no name in errors', () => {
    expect(() => encode({ alice: 'secret' })).toThrow(/^v\{\}: (?!.*(alice|secret))/);
  });
});

describe('sets', () => {
  it('store equal members once, from any iterable', () => {
    expect(codecOf(stringSet()).encode(['a', 'a', 'b'])).toEqual({ SS: ['a', 'b'] });
    expect(codecOf(numberSet()).encode(new Set([1, 1.5, -0, 0]))).toEqual({ NS: ['1', '1.5', '0'] });
    const bytes = [new Uint8Array([1]), new Uint8Array([1]), Buffer.from([2])];
    expect(codecOf(binarySet()).encode(bytes)).toEqual({ BS: [new Uint8Array([1]), Buffer.from([2])] });
  });

  it('store an empty set as an absent attribute, never as NULL', () => {
    for (const kind of [stringSet(), numberSet(), binarySet()]) {
      expect(codecOf(kind).encode(new Set())).toBeUndefined();
      expect(codecOf(kind).encode([])).toBeUndefined();
    }
  });

  it('refuse text, which is an iterable of characters, and wrong members', () => {
    expect(() => codecOf(stringSet()).encode('abc')).toThrow(InvalidInputError);
    expect(() => codecOf(stringSet()).encode(new Map([['a', 'b']]))).toThrow(InvalidInputError);
    expect(() => codecOf(stringSet()).encode({})).toThrow(InvalidInputError);
    expect(() => codecOf(stringSet()).encode(null)).toThrow(InvalidInputError);
    expect(() => codecOf(stringSet()).encode([1])).toThrow(InvalidInputError);
    expect(() => codecOf(numberSet()).encode([NaN])).toThrow(InvalidInputError);
  });

  it('read back as sets', () => {
    expect(codecOf(stringSet()).decode({ SS: ['a'] })).toEqual(new Set(['a']));
    expect(codecOf(numberSet()).decode({ NS: ['1', '2.5'] })).toEqual(new Set([1, 2.5]));
    for (const stored of [{ L: [] }, { NS: ['1'] }, { NULL: true }]) {
      expect(() => codecOf(stringSet()).decode(stored)).toThrow(InvalidStoredItemError);
    }
    expect(() => codecOf(numberSet()).decode({ NS: ['12345678901234567890123'] })).toThrow(InvalidStoredItemError);
  });
});

describe('via()', () => {
  const celsius = { encode: (c: number) => c + 273, decode: (k: number) => k - 273 };

  it('converts in both directions, inside collections too', () => {
    const codec = codecOf(list(number().via(celsius)));
    expect(codec.encode([0, 20])).toEqual({ L: [{ N: '273' }, { N: '293' }] });
    expect(codec.decode({ L: [{ N: '273' }] })).toEqual([0]);
  });

  it('checks what the converter gives', () => {
    expect(() => codecOf(number().via({ encode: () => NaN, decode: (n) => n })).encode(1)).toThrow(InvalidInputError);
  });

  it('keeps the stored name', () => {
    const inner = codecOf(map({ t: number().savedAs('kelvin').via(celsius) }));
    expect(inner.encode({ t: 0 })).toEqual({ M: { kelvin: { N: '273' } } });
  });

  it('reads an absent set through the converter', () => {
    const sorted = {
      encode: (tags: readonly string[]) => new Set(tags),
      decode: (tags: ReadonlySet<string>) => [...tags],
    };
    const codec = codecOf(map({ tags: stringSet().via(sorted) }));
    expect(codec.encode({ tags: [] })).toEqual({ M: {} });
    expect(codec.decode({ M: {} })).toEqual({ tags: [] });
  });

  it('may be chained, and made optional afterwards', () => {
    const codec = codecOf(
      map({
        at: instant()
          .via({ encode: (ms: number) => new Date(ms), decode: Number })
          .optional(),
      }),
    );
    expect(codec.encode({ at: 0 })).toEqual({ M: { at: { S: '1970-01-01T00:00:00.000Z' } } });
    expect(codec.encode({})).toEqual({ M: {} });
  });
});

describe('default()', () => {
  it('stores and reads falsy values as they are', () => {
    const codec = codecOf(map({ a: boolean().default(false), b: integer().default(0), c: string().default('') }));
    expect(codec.encode({})).toEqual({ M: { a: { BOOL: false }, b: { N: '0' }, c: { S: '' } } });
    expect(codec.decode({ M: {} })).toEqual({ a: false, b: 0, c: '' });
    expect(codec.decode({ M: { a: { BOOL: true } } })).toEqual({ a: true, b: 0, c: '' });
  });

  it('asks a function each time', () => {
    let n = 0;
    const codec = codecOf(map({ a: integer().default(() => ++n) }));
    expect(codec.encode({})).toEqual({ M: { a: { N: '1' } } });
    expect(codec.encode({})).toEqual({ M: { a: { N: '2' } } });
  });
});
