import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ExpressionParser } from '../../lib/local/corrections/syntax-error.js';
import { withoutLeafParentheses } from '../../lib/local/corrections/leaf-parentheses.js';
import { loadDynalite } from '../../lib/local/engine/dynalite.js';

let parser: ExpressionParser | undefined;

beforeAll(async () => {
  parser = (await loadDynalite()).parsers.ConditionExpression;
});

const parsed = (text: string): unknown => {
  const context = {
    attrNames: { '#a': 'a', '#b': 'b' },
    attrVals: { ':a': { S: 'a' }, ':b': { S: 'b' } },
    unusedAttrNames: {},
    unusedAttrVals: {},
    isReserved: () => false,
    compare: () => true,
  };
  try {
    return parser!.parse(text, { context });
  } catch (error) {
    return (error as Error).name;
  }
};

const space = fc.constantFrom('', ' ');
const leaf = fc.constantFrom(
  '#a = :a',
  '#a<>:b',
  '#b.#a[3] >= :a',
  'size(#a) < :b',
  'attribute_not_exists(#a)',
  'contains( #b, :a )',
  '#a BETWEEN :a AND :b',
  '#a BETWEEN :a AND (:b)',
  '#a IN (:a, :b)',
  '(#a) = :a',
  '(size(#a)) > :a',
);
const group = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(space, text, space).map(([before, inner, after]) => `(${before}${inner}${after})`);
// Three levels: the parser takes seconds for more.
const joined = (operand: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(operand, fc.constantFrom(' AND ', ' OR ', ' and '), operand, fc.constantFrom('', 'NOT '))
    .map(([left, operator, right, not]) => `${not}${left}${operator}${right}`);
const simple = fc.oneof(leaf, group(leaf), group(group(leaf)));
const condition = fc.oneof(simple, joined(simple), joined(fc.oneof(simple, group(joined(simple)))));

describe('parentheses around single comparisons', () => {
  test('are dropped where they mean nothing', () => {
    expect(withoutLeafParentheses('((attribute_not_exists(#a)) OR (#a < :a)) AND (#b = :b)')).toBe(
      '(attribute_not_exists(#a) OR #a < :a) AND #b = :b',
    );
  });

  test.each(['((#a = :a))', '(size(#a)) > :a', '#a IN (:a, :b)', '#a BETWEEN :a AND (:b)', '(#a OR #b)'])(
    'stay in %s',
    (text) => {
      expect(withoutLeafParentheses(text)).toBe(text);
    },
  );

  test('change neither what a condition says nor whether it can be read', () => {
    fc.assert(
      fc.property(condition, (text) => {
        expect(parsed(withoutLeafParentheses(text))).toEqual(parsed(text));
      }),
      { numRuns: 150 },
    );
  });
});
