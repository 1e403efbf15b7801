import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SafeWritesError,
  binary,
  bigint,
  boolean,
  conditionCheck,
  decimal,
  entity,
  joinSteps,
  list,
  map,
  oneOf,
  record,
  string,
  table,
  toTimestamp,
  transactWrite,
  type AttributeValue,
} from '../../lib/commands/index.js';
import { offlineTable } from './support/offline.js';
import { Cart, Order, order, shopOptions } from './support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order) as unknown as Untyped;
const carts = shop.of(Cart) as unknown as Untyped;
const attrs = Order.attrs as unknown as Record<string, Untyped>;
const key = { customer: 'alice', number: 1 };

/** Anything of the API, without its types. */
interface Untyped {
  [name: string]: (...values: unknown[]) => Untyped;
}
const untyped = <F>(fn: F) => fn as unknown as (...values: unknown[]) => Untyped;

/** What a caller may hand over by mistake or on purpose; all text of it is marked. */
const text = fc
  .oneof(
    fc.constantFrom('', '#', '%', '{a}', '__proto__', 'constructor', '\ud800', '\u{10ffff}', ':0', '#0'),
    fc.string(),
  )
  .map((value) => `SECRET${value}`);
const anything = fc.oneof(
  fc.anything({
    key: fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString', 'customer', 'number', 'total')),
    values: [text, fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined, '', -0, NaN, Infinity)],
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: false,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    maxDepth: 3,
  }),
  fc.constantFrom<unknown>(
    Symbol('SECRET'),
    () => 'SECRET',
    class SECRET {},
    new Date(NaN),
    new (class Instance {
      secret = 'SECRET';
    })(),
    new Proxy({}, {}),
    Object.freeze({ total: 'SECRET' }),
    Promise.resolve('SECRET'),
    /SECRET/,
    new Error('SECRET'),
    Object.create({ customer: 'SECRET' }),
  ),
);
const cyclic = (): unknown => {
  const self: Record<string, unknown> = { total: 1 };
  self['self'] = self;
  self['list'] = [self];
  return self;
};

/** The calls that take a caller's value, each with where it stands. */
const calls: Record<string, (value: unknown) => unknown> = {
  table: (value) => untyped(table)(value),
  'table of a name': (name) => untyped(table)({ name, client: shop.client }),
  'table of a client': (client) => untyped(table)({ name: 'x', client }),
  of: (value) => untyped(shop.of.bind(shop))(value),
  get: (value) => orders['get']?.(value)['toRequest']?.(),
  'get of a customer': (customer) => orders['get']?.({ customer, number: 1 })['toRequest']?.(),
  'get of a number': (number) => orders['get']?.({ customer: 'a', number })['toRequest']?.(),
  project: (value) => orders['get']?.(key)['project']?.(value)['toRequest']?.(),
  select: (value) => orders['get']?.(key)['select']?.(value)['toRequest']?.(),
  put: (value) => orders['put']?.(value)['toRequest']?.(),
  'put of a versioned item': (revision) => carts['put']?.({ id: 'a', revision })['toRequest']?.(),
  update: (value) => orders['update']?.(value)['toRequest']?.(),
  set: (value) => orders['update']?.(key)['set']?.(value)['toRequest']?.(),
  'set of no attribute': (value) => orders['update']?.(key)['set']?.(value, 1)['toRequest']?.(),
  remove: (value) => orders['update']?.(key)['remove']?.(value)['toRequest']?.(),
  return: (value) => orders['update']?.(key)['return']?.(value)['toRequest']?.(),
  if: (value) => orders['update']?.(key)['if']?.(value)['toRequest']?.(),
  ifVersion: (value) => carts['update']?.({ id: 'a' })['ifVersion']?.(value)['toRequest']?.(),
  maxAttempts: (value) => orders['update']?.(key)['maxAttempts']?.(value)['toRequest']?.(),
  delete: (value) => orders['delete']?.(value)['toRequest']?.(),
  deleteItem: (value) => carts['deleteItem']?.(value)['toRequest']?.(),
  query: (value) => orders['query']?.(value)['toRequest']?.(),
  between: (value) => orders['query']?.({ customer: 'a' })['between']?.(value, value)['toRequest']?.(),
  lt: (value) => orders['query']?.({ customer: 'a' })['lt']?.(value)['toRequest']?.(),
  beginsWith: (value) => orders['query']?.({ customer: 'a' })['beginsWith']?.(value)['toRequest']?.(),
  filter: (value) => orders['query']?.({ customer: 'a' })['filter']?.(value)['toRequest']?.(),
  limit: (value) => orders['query']?.({ customer: 'a' })['limit']?.(value)['toRequest']?.(),
  after: (value) => orders['query']?.({ customer: 'a' })['after']?.(value)['toRequest']?.(),
  index: (value) => orders['index']?.(value),
  'query of an index': (status) => orders['index']?.('byStatus')['query']?.({ status })['toRequest']?.(),
  'parse of a key': (value) => untyped(Order.pk.parse.bind(Order.pk))(value),
  'of of a key': (value) => untyped(Order.sk.of.bind(Order.sk))(value),
  'key of an entity': (value) => untyped(Order.key.bind(Order))(value),
  'at of a record': (value) => attrs['labels']?.['at']?.(value)['eq']?.('x'),
  'at of a list': (value) => attrs['lines']?.['at']?.(value),
  'at of a map': (value) => attrs['shipTo']?.['at']?.(value),
  'size of a list': (value) => attrs['lines']?.['size']?.()['eq']?.(value),
  and: (value) => attrs['total']?.['eq']?.(1)['and']?.(value),
  text: (value) => untyped(Order.text.bind(Order))(value),
  'text of an insert': (value) => Order.text`${Order.attrs.total} = ${value as never}`,
  transactWrite: (value) => untyped(transactWrite)(shop, value)['toRequest']?.(),
  'transactWrite of a step': (value) => untyped(transactWrite)(shop, { step: value })['toRequest']?.(),
  'transactWrite of a table': (value) => untyped(transactWrite)(value, {}),
  'token of a transaction': (value) =>
    untyped(transactWrite)(shop, { put: shop.of(Order).put(order()) })
      ['token']?.(value)
      ['toRequest']?.(),
  joinSteps: (value) => untyped(joinSteps)(value, value),
  conditionCheck: (value) => untyped(conditionCheck)(value, key),
  'conditionCheck of a key': (value) => untyped(conditionCheck)(orders, value),
  toTimestamp: (value) => untyped(toTimestamp)(value),
  'savedAs of an attribute': (value) => untyped(string().savedAs.bind(string()))(value),
  'entity of a name': (value) => untyped(entity)(value, { pk: 'A', sk: 'S', attributes: {} }),
  'entity of a key': (value) => untyped(entity)('X', { pk: value, sk: 'S', attributes: {} }),
  'entity of a separator': (value) => untyped(entity)('X', { pk: 'A', sk: 'S', separator: value, attributes: {} }),
  'entity of an attribute': (value) => untyped(entity)('X', { pk: 'A', sk: 'S', attributes: { a: value } }),
  'list of an element': (value) => untyped(list)(value),
  'record of an element': (value) => untyped(record)(value),
};
for (const name of Object.keys(Order.attrs)) {
  calls[`put of ${name}`] = (value) => orders['put']?.({ ...order(), [name]: value })['toRequest']?.();
  calls[`set of ${name}`] = (value) =>
    orders['update']?.(key)
      ['set']?.({ [name]: value })
      ['toRequest']?.();
  for (const operator of ['eq', 'lt', 'in', 'between', 'notExistsOrLt', 'beginsWith', 'contains', 'value']) {
    calls[`${name}.${operator}()`] = (value) => attrs[name]?.[operator]?.(value, value);
  }
  for (const clause of ['set', 'setIfDefined', 'setIfNotExists', 'add', 'deleteFrom', 'append', 'prepend']) {
    calls[`${clause}() of ${name}`] = (value) => orders['update']?.(key)[clause]?.(attrs[name], value)['toRequest']?.();
  }
}
const More = entity('MORE', {
  pk: 'M',
  sk: '{id}',
  attributes: {
    id: string(),
    big: bigint().optional(),
    bytes: binary().optional(),
    flag: boolean().optional(),
    exact: decimal().optional(),
    nested: list(record(map({ a: oneOf('SECRETx'), b: list(list(string())).optional() }))).optional(),
  },
});
for (const name of Object.keys(More.attrs)) {
  calls[`put of ${name}`] = (value) =>
    (shop.of(More) as unknown as Untyped)['put']?.({ id: 'a', [name]: value })['toRequest']?.();
}

/** What DynamoDB could store: one type each, nothing undefined, no empty set, no NULL. */
const checkValue = (value: AttributeValue): void => {
  const entries = Object.entries(value);
  expect(entries).toHaveLength(1);
  const [type, content] = entries[0] as [string, unknown];
  if (type === 'S') expect(content).toSatisfy((stored: unknown) => typeof stored === 'string' && stored.isWellFormed());
  else if (type === 'N') expect(content).toMatch(/^[-+]?\d*\.?\d+(e[-+]?\d+)?$|^\d+\.$/i);
  else if (type === 'B') expect(content).toBeInstanceOf(Uint8Array);
  else if (type === 'BOOL') expect(content).toBeTypeOf('boolean');
  else if (type === 'L') (content as AttributeValue[]).forEach(checkValue);
  else if (type === 'M') Object.values(content as object).forEach(checkValue);
  else {
    expect(['SS', 'NS', 'BS']).toContain(type);
    expect((content as unknown[]).length).toBeGreaterThan(0);
  }
};

/** Calls, and checks that what is refused is refused as it should be, and what is taken can be sent. */
const check = (call: (value: unknown) => unknown, value: unknown, namesSteps = false): void => {
  let result: unknown;
  try {
    result = call(value);
  } catch (error) {
    if (!(error instanceof SafeWritesError)) throw error;
    // The names of steps are the caller's code, and said on purpose.
    if (!namesSteps) expect(error.message).not.toContain('SECRET');
    return;
  }
  const { Item, Key, ExpressionAttributeValues } = (result ?? {}) as Record<string, Record<string, AttributeValue>>;
  for (const values of [Item, Key, ExpressionAttributeValues]) Object.values(values ?? {}).forEach(checkValue);
};

describe('any value at all is taken, or refused with an error that says no value, by', () => {
  it.each(Object.entries(calls))('%s', (name, call) => {
    const namesSteps = name === 'transactWrite' || name === 'joinSteps';
    fc.assert(
      fc.property(anything, (value) => check(call, value, namesSteps)),
      { numRuns: 150 },
    );
    for (const value of [undefined, null, '', 0, NaN, [], {}, cyclic(), Object.create(null), [undefined], [null]]) {
      check(call, value);
    }
  });

  it('nothing that was sent', () => {
    expect((shop.client as { sent?: number }).sent).toBe(0);
  });
});

describe('an object that is odd', () => {
  it('is read once for each of its members', () => {
    let reads = 0;
    const item = {
      ...order(),
      get note() {
        return `read ${++reads}`;
      },
    };
    expect(orders['put']?.(item)['toRequest']?.()['Item']).toMatchObject({ note: { S: 'read 1' } });
  });

  it('throws its own error from a getter', () => {
    const item = {
      ...order(),
      get note(): string {
        throw new RangeError('mine');
      },
    };
    expect(() => orders['put']?.(item)).toThrow(RangeError);
  });

  it('may be cyclic where it is no member, and is refused there', () => {
    expect(() => orders['put']?.({ ...order(), extra: cyclic() })).toThrow(SafeWritesError);
    const deep: unknown[] = [];
    deep.push(deep);
    expect(() => orders['put']?.({ ...order(), lines: deep })).toThrow(SafeWritesError);
  });

  // In time that grows with the members: a test that takes their square would not end.
  it('with 100,000 members is refused', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i]));
    expect(() => orders['put']?.({ ...order(), ...wide })).toThrow(SafeWritesError);
    expect(() => orders['update']?.(key)['set']?.(wide)).toThrow(SafeWritesError);
  });

  it('does not reach the prototype of anything', () => {
    const evil = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as object;
    for (const call of Object.values(calls)) check(call, evil);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
