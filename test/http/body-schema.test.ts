import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  boolean,
  integer,
  list,
  map,
  number,
  string,
  stringSet,
  type InvalidInputError,
} from '../../lib/commands/index.js';
import { offlineTable } from '../commands/support/offline.js';
import { bodySchema, idempotent, refuse, type SchemaResult } from '../../lib/http/index.js';

const Order = bodySchema(
  {
    customer: string(),
    quantity: integer(),
    express: boolean().default(false),
    note: string().optional(),
    tags: stringSet().optional(),
    lines: list(map({ sku: string(), price: number() })).optional(),
  },
  { quantity: { expected: 'expected 1 to 99', test: (quantity) => quantity > 0 && quantity < 100 } },
);

const check = (body: unknown): SchemaResult<unknown> => Order['~standard'].validate(body) as SchemaResult<unknown>;
const places = (body: unknown): unknown => check(body).issues?.map(({ path }) => path);

describe('a body that is taken', () => {
  it('has its defaults filled in, and no member that was not sent', () => {
    expect(check({ customer: 'alice', quantity: 2 })).toEqual({
      value: { customer: 'alice', quantity: 2, express: false },
    });
  });

  it('holds lists and maps, and a set for a list', () => {
    const lines = [{ sku: 'KB-01', price: 79.5 }];
    expect(check({ customer: 'alice', quantity: 2, express: true, note: '', tags: ['a', 'a'], lines })).toEqual({
      value: { customer: 'alice', quantity: 2, express: true, note: '', tags: new Set(['a']), lines },
    });
  });

  it('has the type of the attributes', () => {
    idempotent({
      table: offlineTable(),
      schema: Order,
      scope: () => 'all',
      handle: (body) => {
        expectTypeOf(body.quantity).toEqualTypeOf<number>();
        expectTypeOf(body.note).toEqualTypeOf<string | undefined>();
        return refuse({ status: 402 });
      },
    });
  });
});

describe('a body that is refused', () => {
  it('is told every member that is wrong, by its rule or its attribute', () => {
    expect(check({ customer: 1, quantity: 0, express: null })).toEqual({
      issues: [
        { path: ['customer'], message: 'customer: expected a string' },
        { path: ['quantity'], message: 'expected 1 to 99' },
        { path: ['express'], message: 'express: expected a boolean' },
      ],
    });
  });

  it('is told what is missing, and what is too much', () => {
    expect(check({ customer: 'alice', other: 1 })).toEqual({
      issues: [
        { path: ['quantity'], message: 'expected 1 to 99' },
        {
          path: ['other'],
          message: 'expected an object with customer, quantity, express, note, tags, lines, and nothing else',
        },
      ],
    });
    expect(check({ quantity: 1 }).issues).toEqual([{ path: ['customer'], message: 'is required' }]);
  });

  it('is told that a rule refuses it where the rule has no text', () => {
    const even = bodySchema({ n: integer() }, { n: { test: (n) => n % 2 === 0 } });
    expect(even['~standard'].validate({ n: 1 })).toEqual({ issues: [{ path: ['n'], message: 'is refused' }] });
  });

  it.each([null, undefined, 1, 'text', [], [{ customer: 'alice' }]])('is no object: %j', (body) => {
    expect(check(body).issues).toHaveLength(1);
    expect(places(body)).toEqual([undefined]);
  });

  it('has a member that every object inherits only where it was sent', () => {
    const inherited = bodySchema({ constructor: string() });
    expect(inherited['~standard'].validate({})).toMatchObject({ issues: [{ path: ['constructor'] }] });
    expect(places(JSON.parse('{"customer":"a","quantity":1,"__proto__":{}}'))).toEqual([['__proto__']]);
  });

  it('quotes no value, whatever JSON comes', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('customer', 'quantity', 'express', 'note', 'lines'), (text, member) => {
        const value: unknown = JSON.parse(text);
        const result = check({ customer: 'alice', quantity: 1, [member]: value });
        for (const { message } of result.issues ?? []) {
          expect(message).toMatch(/^[a-z]*(\[\])?(\.sku|\.price)?:? ?(is required|expected|has members)/);
        }
      }),
    );
  });
});

it('an error of a converter that is no refusal is thrown', () => {
  const failing = bodySchema({
    a: string().via({
      encode: () => {
        throw new TypeError('a mistake in the converter');
      },
      decode: String,
    }),
  });
  expect(() => failing['~standard'].validate({ a: '1' })).toThrow(TypeError);
});

it('what is no attribute is refused when the schema is made', () => {
  expect(() => bodySchema({ a: 'text' as never })).toThrow(
    expect.objectContaining({ name: 'InvalidInputError', path: 'a' } satisfies Partial<InvalidInputError>) as Error,
  );
});

describe('a rule', () => {
  it.each([undefined, null, 0, '', Promise.resolve(false), 'true'])('that gives %j refuses the value', (given) => {
    const schema = bodySchema({ code: string() }, { code: { test: () => given as never } });
    expect(schema['~standard'].validate({ code: 'a' })).toEqual({
      issues: [{ path: ['code'], message: 'is refused' }],
    });
  });

  it.each<[string, object]>([
    ['of no member', { amuont: { test: () => false } }],
    ['of a member that only every object has', JSON.parse('{"__proto__":{"expected":"a"}}') as object],
    ['that is a test alone', { amount: () => false }],
    ['whose test is no function', { amount: { test: /a/ } }],
  ])('%s is refused when the schema is made', (_, rules) => {
    expect(() => bodySchema({ amount: integer() }, rules as never)).toThrow(
      expect.objectContaining({ name: 'InvalidInputError' }) as Error,
    );
  });

  it('of a member named as one that every object has is asked', () => {
    const schema = bodySchema({ constructor: string() }, { constructor: { test: (text) => text === 'a' } });
    expect(schema['~standard'].validate({ constructor: 'a' })).toEqual({ value: { constructor: 'a' } });
    expect(schema['~standard'].validate({ constructor: 'b' })).toMatchObject({ issues: [{ message: 'is refused' }] });
  });
});

it('a default that a handler changed is whole again for the next body', () => {
  const schema = bodySchema({ tags: stringSet().default(new Set(['a'])), lines: list(string()).default(['a']) });
  const read = (): { tags: Set<string>; lines: string[] } => {
    const { value } = schema['~standard'].validate({}) as { value: unknown };
    return value as { tags: Set<string>; lines: string[] };
  };
  read().tags.add('b');
  read().lines.push('b');
  expect(read()).toEqual({ tags: new Set(['a']), lines: ['a'] });
});
