import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  LimitExceededError,
  entity,
  integer,
  stringSet,
  string,
  type AttributeMap,
} from '../../lib/commands/index.js';
import { TestSession, mapper, toItem, toObject } from '../../lib/messaging/index.js';
import { messagingShop, type MessagingShop } from './support/messaging-shop.js';

const bytes = new Uint8Array([1, 2]);
const buffer = Buffer.from('ab');

class Point {
  x = 1;
}
class Tagged extends Array<number> {
  tag = 'a';
}
class Lookup extends Map<string, number> {}
class Labels extends Set<string> {}
class Moment extends Date {}
const hidden = (value: object) => Object.defineProperty(value, 'hidden', { value: 1 });

describe('toItem', () => {
  it.each<[string, unknown, AttributeMap[string] | undefined]>([
    ['a string', 'text', { S: 'text' }],
    ['an empty string', '', { S: '' }],
    ['a whole number', 42, { N: '42' }],
    ['a fraction', -0.1, { N: '-0.1' }],
    ['a small number', 1e-130, { N: '1e-130' }],
    ['minus zero', -0, { N: '0' }],
    ['a bigint', 12345678901234567890n, { N: '12345678901234567890' }],
    ['a boolean', false, { BOOL: false }],
    ['null', null, { NULL: true }],
    ['undefined', undefined, undefined],
    ['an array', [1, 'a', null], { L: [{ N: '1' }, { S: 'a' }, { NULL: true }] }],
    ['an empty array', [], { L: [] }],
    ['an object', { a: { b: 1 } }, { M: { a: { M: { b: { N: '1' } } } } }],
    ['an empty object', {}, { M: {} }],
    ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }), { M: { a: { N: '1' } } }],
    ['an undefined member', { a: undefined }, { M: {} }],
    ['a Map', new Map([['a b', 1]]), { M: { 'a b': { N: '1' } } }],
    ['an empty Map', new Map(), { M: {} }],
    ['a set of strings', new Set(['a', 'b']), { SS: ['a', 'b'] }],
    ['a set of numbers', new Set([1, 2n]), { NS: ['1', '2'] }],
    ['a set of bytes', new Set([bytes, buffer]), { BS: [bytes, buffer] }],
    ['an empty set', new Set(), undefined],
    ['a Date', new Date(0), { S: '1970-01-01T00:00:00.000Z' }],
    ['a getter', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true }), { M: { a: { N: '1' } } }],
  ])('takes %s', (_what, value, stored) => {
    expect(toItem({ value })).toEqual(stored === undefined ? {} : { value: stored });
  });

  it('takes bytes by reference, and gives them back so', () => {
    const item = toItem({ bytes, buffer, inside: [bytes], set: new Set([bytes]) });
    expect(item['bytes']?.B).toBe(bytes);
    expect(item['buffer']?.B).toBe(buffer);
    const back = toObject<{ bytes: Uint8Array; inside: Uint8Array[]; set: Set<Uint8Array> }>(item);
    expect(back.bytes).toBe(bytes);
    expect(back.inside[0]).toBe(bytes);
    expect([...back.set][0]).toBe(bytes);
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = { list: [cycle] };
  it.each<[string, unknown, string]>([
    ['NaN', NaN, 'finite'],
    ['Infinity', -Infinity, 'finite'],
    ['a number out of range', 1e126, 'finite'],
    ['a number too small', 1e-131, 'finite'],
    ['a whole number that a double may not hold', 2 ** 53, 'bigint'],
    ['a bigint of 39 digits', 10n ** 38n + 1n, '38 digits'],
    ['a bigint out of range', 10n ** 126n, '38 digits'],
    ['a lone surrogate', '\ud800', 'well-formed'],
    ['a function', () => 1, 'function'],
    ['a symbol', Symbol('x'), 'symbol'],
    ['a member named by a symbol', { [Symbol('x')]: 1 }, 'symbol'],
    ['a class instance', new Point(), 'class instance'],
    ['a member that is not enumerable', hidden({ a: 1 }), 'not enumerable'],
    ['an array of a derived class', Tagged.of(1), 'derived class'],
    ['an array with a member', Object.assign([1], { tag: 'a' }), 'members of its own'],
    ['an array with a hidden member', hidden([1]), 'members of its own'],
    ['an array with a symbol', Object.assign([1], { [Symbol('x')]: 1 }), 'members of its own'],
    ['a match', /(?<a>.)/.exec('a'), 'members of its own'],
    ['a Map of a derived class', new Lookup([['a', 1]]), 'derived class'],
    ['a Map with a member', Object.assign(new Map(), { tag: 'a' }), 'members of its own'],
    ['a Set of a derived class', new Labels(['a']), 'derived class'],
    ['an empty Set of a derived class', new Labels(), 'derived class'],
    ['a Set with a member', Object.assign(new Set(['a']), { tag: 'a' }), 'members of its own'],
    ['a Date of a derived class', new Moment(0), 'derived class'],
    ['a Date with a hidden member', hidden(new Date(0)), 'members of its own'],
    ['a lone surrogate in a name', { '\ud800': 1 }, 'well-formed'],
    ['a lone surrogate in a key of a Map', new Map([['\ud800', 1]]), 'well-formed'],
    ['a lone surrogate in a set', new Set(['\ud800']), 'well-formed'],
    ['a set with infinity', new Set([Infinity]), 'finite'],
    ['a Date before year 0', new Date(Date.UTC(-1, 0)), 'valid Date'],
    ['a DataView', new DataView(new ArrayBuffer(1)), 'Uint8Array'],
    ['a boxed string', Object('a'), 'class instance'],
    ['an Error', new Error('x'), 'class instance'],
    ['a promise', Promise.resolve(1), 'class instance'],
    ['a WeakMap', new WeakMap(), 'class instance'],
    ['a boxed number', Object(1), 'class instance'],
    ['a RegExp', /x/, 'class instance'],
    ['an object with a prototype of its own', Object.create({ a: 1 }), 'class instance'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'Uint8Array'],
    ['other bytes', new Uint16Array(1), 'Uint8Array'],
    ['an invalid Date', new Date(NaN), 'valid Date'],
    ['a Date beyond year 9999', new Date(Date.UTC(10_000, 0)), 'valid Date'],
    ['undefined in an array', [undefined], 'a list can not leave out'],
    ['an empty set in an array', [new Set()], 'a list can not leave out'],
    ['a sparse array', new Array(1), 'hole'],
    ['a Map with a key that is no text', new Map([[1, 1]]), 'no text'],
    ['a set of objects', new Set([{}]), 'something else'],
    ['a set of sets', new Set([new Set(['a'])]), 'something else'],
    ['a set of booleans', new Set([true]), 'something else'],
    ['a mixed set', new Set(['a', 1]), 'something else'],
    ['a set with undefined', new Set(['a', undefined]), 'something else'],
    ['a set with a number twice', new Set([1, 1n]), 'twice'],
    ['a set with the same bytes twice', new Set([new Uint8Array([1]), new Uint8Array([1])]), 'twice'],
    ['a set with NaN', new Set([NaN]), 'finite'],
    ['a cycle', cycle, 'holds itself'],
    ['a member named __proto__', JSON.parse('{"__proto__":1}'), 'no attribute can have'],
    ['a Map with a member named __proto__', new Map([['__proto__', 1]]), 'no attribute can have'],
    ['a member without name', { '': 1 }, 'no attribute can have'],
  ])('refuses %s', (_what, value, message) => {
    for (const object of [{ value }, { value: { deep: [value] } }]) {
      expect(() => toItem(object)).toThrow(InvalidInputError);
      expect(() => toItem(object)).toThrow(message);
      expect(() => toItem(object)).toThrow(/^\{0\}/);
      expect(() => toItem(object, { names: { value: 'v' } })).toThrow(/^value/);
    }
  });

  it.each([null, undefined, 'text', 1, [], new Map(), new Point(), new Set(['a'])])(
    'refuses what is no object',
    (value) => {
      expect(() => toItem(value as never)).toThrow('expected a plain object');
    },
  );

  it('refuses such members and names of the object itself', () => {
    expect(() => toItem({ '\ud800': 1 })).toThrow(/^toItem: .*well-formed/);
    expect(() => toItem({ a: 1 }, { names: { a: '\ud800' } })).toThrow('well-formed');
    expect(() => toItem({ a: 1 }, { names: { a: 5 as never } })).toThrow(InvalidInputError);
    expect(() => toItem(hidden({ a: 1 }))).toThrow(/^toItem: .*not enumerable/);
    expect(() => toItem({ [Symbol('x')]: 1 })).toThrow(/^toItem: .*symbol/);
    expect(() => toItem({ '': 1 })).toThrow('no attribute can have');
    expect(() => toItem(JSON.parse('{"__proto__":1}') as object)).toThrow('no attribute can have');
  });

  it('takes the bytes alone of an array of a derived class', () => {
    class Blob extends Uint8Array {}
    const blob = new Blob([1]);
    expect(toItem({ blob })['blob']?.B).toBe(blob);
  });

  it('takes 32 levels and refuses the 33rd', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(toItem({ value: nested(32) })).toBeDefined();
    expect(() => toItem({ value: nested(33) })).toThrow(LimitExceededError);
  });

  it('takes an object that stands in two places', () => {
    const shared = { a: 1 };
    expect(toItem({ x: shared, y: [shared, shared] })['y']).toEqual({
      L: [{ M: { a: { N: '1' } } }, { M: { a: { N: '1' } } }],
    });
  });

  it('says the place of a member that nothing declares, and neither its name nor its value', () => {
    const object = { id: 'a', orders: new Map([['alice', [{ day: 1, total: NaN }]]]) };
    expect(() => toItem(object)).toThrow(/^\{1\}\{0\}\[\]\{1\}: /);
    expect(() => toItem(object, { names: { orders: 'o' } })).toThrow(/^orders\{0\}\[\]\{1\}: /);
  });
});

describe('toObject', () => {
  it('gives a whole number beyond ±(2^53 - 1) as a bigint', () => {
    expect(toObject({ a: { N: '9007199254740991' }, b: { N: '9007199254740992' }, c: { N: '-1E40' } })).toEqual({
      a: 9007199254740991,
      b: 9007199254740992n,
      c: -(10n ** 40n),
    });
    expect(toObject({ s: { NS: ['1', '90071992547409930'] } })).toEqual({ s: new Set([1, 90071992547409930n]) });
  });

  it('refuses a fraction with more digits than a double keeps, rather than rounding it', () => {
    for (const N of ['0.12345678901234567890', '12345678901234567.5']) {
      expect(() => toObject({ price: { N } })).toThrow(InvalidStoredItemError);
      expect(() => toObject({ price: { N } })).toThrow(/^\{0\}: /);
      expect(() => toObject({ p: { N } }, { names: { price: 'p' } })).toThrow(/^price: /);
    }
  });

  it('defines a stored __proto__ as a member', () => {
    const object = toObject(JSON.parse('{"__proto__":{"M":{"__proto__":{"S":"x"}}}}') as AttributeMap);
    expect(Object.keys(object)).toEqual(['__proto__']);
    expect((object as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([undefined, null, 'text', 1, []])('refuses what is no item', (item) => {
    expect(() => toObject(item as never)).toThrow(InvalidInputError);
  });

  const deep = (levels: number): unknown => (levels === 0 ? { S: 'x' } : { L: [deep(levels - 1)] });
  it.each<[unknown]>([
    [{}],
    [null],
    [undefined],
    ['text'],
    [5],
    [{ S: undefined }],
    [{ S: 5 }],
    [{ S: null }],
    [{ N: '' }],
    [{ N: ' ' }],
    [{ N: ' 5' }],
    [{ N: '0x10' }],
    [{ N: 'Infinity' }],
    [{ N: 'NaN' }],
    [{ N: '1e400' }],
    [{ N: '1e-400' }],
    [{ N: 5 }],
    [{ N: '1,5' }],
    [{ BOOL: 'true' }],
    [{ BOOL: 0 }],
    [{ NULL: false }],
    [{ B: 'AAAA' }],
    [{ B: [1] }],
    [{ L: {} }],
    [{ L: 'ab' }],
    [{ L: [null] }],
    [{ L: new Array(1) }],
    [{ L: [5] }],
    [{ M: [] }],
    [{ M: null }],
    [{ M: 'ab' }],
    [{ M: { a: null } }],
    [{ SS: 'ab' }],
    [{ SS: [5] }],
    [{ NS: [5] }],
    [{ NS: [''] }],
    [{ BS: ['AAAA'] }],
    [{ S: 'a', N: '1' }],
    [{ X: 'a' }],
    [{ constructor: 'a' }],
    [deep(33)],
  ])('refuses what is no attribute value, also deep inside', (value) => {
    for (const item of [{ a: value }, { a: { L: [value] } }, { a: { M: { b: value } } }]) {
      expect(() => toObject(item as never)).toThrow(InvalidStoredItemError);
      expect(() => toObject(item as never)).toThrow(/^\{0\}/);
    }
  });

  it('takes 32 levels', () => {
    expect(toObject({ a: deep(32) } as never)).toBeDefined();
  });
});

describe('mapper', () => {
  const customers = mapper<{ id: string; kind: string; preferred?: boolean }>({ names: { id: 'PK', kind: 'SK' } });

  it('renames members, of the object itself only', () => {
    const item = customers.toItem({ id: '1', kind: 'c', preferred: true });
    expect(item).toEqual({ PK: { S: '1' }, SK: { S: 'c' }, preferred: { BOOL: true } });
    expect(customers.toObject(item)).toEqual({ id: '1', kind: 'c', preferred: true });
    expect(toItem({ inner: { id: 1 } }, { names: { id: 'PK' } })).toEqual({ inner: { M: { id: { N: '1' } } } });
  });

  it('refuses an item with two attributes for one member', () => {
    const item = { PK: { S: '1' }, id: { S: '2' }, SK: { S: 'c' } };
    expect(() => customers.toObject(item)).toThrow(InvalidStoredItemError);
  });

  it('refuses two members of one stored name', () => {
    expect(() => mapper({ names: { a: 'x', b: 'x' } })).toThrow(/^names: /);
    expect(() => toItem({ a: 1, x: 2 }, { names: { a: 'x' } })).toThrow(/^names: /);
    expect(() => toItem({ x: 2, a: 1 }, { names: { a: 'x' } })).toThrow(/^names: /);
    expect(() => toItem({ a: 1 }, { names: { a: '' } })).toThrow('no attribute can have');
  });
});

/** What comes back as it was. */
const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text !== '__proto__' && text.isWellFormed());
const text = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => {
    const size = Math.abs(value);
    return value === 0
      ? !Object.is(value, -0)
      : size >= 1e-130 && size < 1e126 && !(Number.isInteger(value) && !Number.isSafeInteger(value));
  }),
);
const big = fc
  .bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })
  .filter((value) => value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER));
const scalar = fc.oneof(text, number, big, fc.boolean(), fc.constant(null), fc.uint8Array());
const set = fc.oneof(
  fc.array(text, { minLength: 1 }).map((members) => new Set(members)),
  fc.array(fc.oneof(number, big), { minLength: 1 }).map((members) => new Set(members)),
  fc.uniqueArray(fc.uint8Array(), { minLength: 1, selector: String }).map((members) => new Set(members)),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, set, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
}));
const object = fc.dictionary(name, value);

describe('round trips', () => {
  it('of any object through toItem and toObject give the object', () => {
    fc.assert(
      fc.property(object, (given) => {
        expect(toObject(toItem(given))).toEqual({ ...given });
      }),
    );
  });

  it('of any object give an item that a session takes, as it is', () => {
    fc.assert(
      fc.property(object, (given) => {
        const session = new TestSession();
        const Item = { ...toItem(given), pk: { S: 'a' }, sk: { S: 'b' } };
        session.add({ Put: { TableName: 'test', Item } });
        expect(session.operations[0]?.item.Put?.Item).toEqual(Item);
      }),
    );
  });

  it('of any item through toObject and toItem give the item', () => {
    fc.assert(
      fc.property(object, (given) => {
        const item = toItem(given);
        expect(toItem(toObject(item))).toEqual(item);
      }),
    );
  });
});

describe('beside others in one table', () => {
  const Customer = entity('CUSTOMER', {
    pk: 'CUSTOMER#{id}',
    sk: 'PROFILE',
    attributes: { id: string(), orders: integer(), tags: stringSet() },
  });
  let here: MessagingShop;
  beforeAll(async () => {
    here = await messagingShop();
  });
  afterAll(() => here.close());

  it('reads what an entity wrote, and writes what it reads', async () => {
    const customers = here.shop.of(Customer);
    const customer = { id: '1', orders: 3, tags: new Set(['a']) };
    const written = customers.put(customer).toRequest().Item as AttributeMap;
    const object = toObject<{ orders: number }>(written);
    expect(object).toEqual({ ...customer, pk: 'CUSTOMER#1', sk: 'PROFILE', _type: 'CUSTOMER' });
    const Item = toItem({ ...object, orders: 4 });
    await here.shop.client.send(new PutItemCommand({ TableName: here.shop.name, Item }));
    expect(await customers.get({ id: '1' }).consistent().item()).toEqual({ ...customer, orders: 4 });
  });

  it('reads what lib-dynamodb wrote, and writes what it reads', async () => {
    const { client, name: TableName } = here.shop;
    const documents = DynamoDBDocumentClient.from(client);
    const sets = fc.oneof(
      fc.array(text, { minLength: 1 }).map((members) => new Set(members)),
      fc.array(fc.maxSafeInteger(), { minLength: 1 }).map((members) => new Set(members)),
    );
    const both = fc.oneof(
      text,
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.array(text),
      fc.uint8Array(),
      sets,
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, both, { maxKeys: 8 }), async (given) => {
        const key = { pk: 'document', sk: 'one' };
        const Key = toItem(key);
        const document = { ...given, ...key };
        await documents.send(new PutCommand({ TableName, Item: document }));
        const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
        expect(toObject(Item as AttributeMap)).toEqual(document);
        await client.send(new PutItemCommand({ TableName, Item: toItem(document) }));
        const read = await documents.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }));
        expect(read.Item).toEqual(document);
      }),
      { numRuns: 50 },
    );
  });
});
