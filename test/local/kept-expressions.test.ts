import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepParsed } from '../../lib/local/corrections/kept-expressions.js';
import type { ExpressionParser } from '../../lib/local/corrections/syntax-error.js';
import type { WireItem, WireValue } from '../../lib/local/engine/types.js';

const require = createRequire(import.meta.url);
const parsers = {
  condition: require('dynalite/db/conditionParser.js') as ExpressionParser,
  update: require('dynalite/db/updateParser.js') as ExpressionParser,
};

const texts = {
  condition: [
    '#a = :a',
    '#a < :a AND (attribute_not_exists(#b) OR #b.#a[1] <= :b)',
    'attribute_exists(#a.#b) OR NOT contains(#a, :a)',
    'begins_with(#a, :a)',
    'size(#a) > :a',
    '#a IN (:a, :b, :a)',
    '#a BETWEEN :a AND :b',
    'attribute_type(#a, :a)',
    'contains(#a, :a) AND #c = :c',
    '#a = #a',
    'size(#a)',
    'status = :a',
    'plain = :a AND other[3].deep <> :b',
    '((#a = :a))',
    'nothing(#a, :a)',
    'begins_with(#a, :a, :b)',
    '#a =',
    '',
  ],
  update: [
    'SET #a = :a',
    'SET #a = #a + :a, #b = if_not_exists(#b, :b)',
    'SET #a = list_append(if_not_exists(#a, :a), :b) REMOVE #b.#c[0], plain',
    'ADD #a :a DELETE #b :b',
    'SET #a = :a SET #b = :b',
    'SET #a = :a, #a.#b = :b',
    'SET status = :a',
    'REMOVE #a, #b',
    'ADD #a :a',
    'SET #a = :c - :a',
    'SET #a',
  ],
};

const value: fc.Arbitrary<WireValue> = fc.oneof(
  fc.string().map((S) => ({ S })),
  fc.integer().map((n) => ({ N: String(n) })),
  fc.constant<WireValue>({ BOOL: false }),
  fc.constant<WireValue>({ NULL: true }),
  fc.constant({ S: 'S' }),
  fc.constant<WireValue>({ SS: ['a', 'b'] }),
  fc.constant<WireValue>({ NS: ['1'] }),
  fc.constant<WireValue>({ L: [{ M: { expression: { S: 'x' } } }] }),
  fc.constant<WireValue>({ M: { type: { S: 'and' }, args: { L: [] } } }),
);
const names = fc.dictionary(
  fc.constantFrom('#a', '#b', '#c'),
  fc.constantFrom('first', '__proto__', 'toString', 'a.b'),
);
const values: fc.Arbitrary<WireItem> = fc.dictionary(fc.constantFrom(':a', ':b', ':c'), value, { minKeys: 1 });

/** The outcome of one parse, with what it struck off. */
const outcome = (parser: ExpressionParser, text: string, attrNames: Record<string, string>, attrVals: WireItem) => {
  const context = {
    attrNames,
    attrVals,
    unusedAttrNames: Object.fromEntries(Object.keys(attrNames).map((name) => [name, true])),
    unusedAttrVals: Object.fromEntries(Object.keys(attrVals).map((name) => [name, true])),
    isReserved: (name: string) => name.toLowerCase() === 'status',
    compare: (_: string, x: WireValue, y: WireValue) => JSON.stringify(x) > JSON.stringify(y),
  };
  let parsed: unknown;
  try {
    parsed = parser.parse(text, { context });
  } catch (error) {
    parsed = error;
  }
  return { parsed, unusedNames: context.unusedAttrNames, unusedValues: context.unusedAttrVals };
};

describe.each(['condition', 'update'] as const)('the kept expressions of the %s parser', (kind) => {
  const fresh = { ...parsers[kind] };
  const keeping = { ...parsers[kind] };
  keepParsed(keeping);

  it('are what parsing anew gives, refusals and what is unused included', () => {
    fc.assert(
      fc.property(fc.constantFrom(...texts[kind]), names, values, values, (text, attrNames, first, second) => {
        for (const given of [first, second, first]) {
          expect(outcome(keeping, text, attrNames, given)).toStrictEqual(outcome(fresh, text, attrNames, given));
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('are of one request each: what is changed in one is not in the next', () => {
    const text = kind === 'condition' ? 'a.b = :a' : 'SET a.b = :a';
    const given = { ':a': { L: [{ S: 'x' }] } };
    const one = outcome(keeping, text, {}, given).parsed as Record<string, unknown>;
    const before = JSON.stringify(one);
    for (const key of Object.keys(one)) one[key] = 'changed';
    expect(JSON.stringify(outcome(keeping, text, {}, given).parsed)).toBe(before);
  });

  it('are parsed once for all values of a type', () => {
    let parses = 0;
    const counted: ExpressionParser = {
      parse: (text, options) => {
        parses++;
        return parsers[kind].parse(text, options);
      },
    };
    keepParsed(counted);
    const text = kind === 'condition' ? '#a = :a' : 'SET #a = :a';
    for (let n = 0; n < 10; n++) outcome(counted, text, { '#a': 'a' }, { ':a': { N: String(n) } });
    expect(parses).toBe(1);
    outcome(counted, text, { '#a': 'b' }, { ':a': { N: '1' } });
    outcome(counted, text, { '#a': 'b' }, { ':a': { S: '1' } });
    expect(parses).toBe(3);
  });
});
