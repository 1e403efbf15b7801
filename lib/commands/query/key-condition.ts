import { invalid } from '../errors/errors.js';
import { textAbove, textBelow, type KeyTemplate } from '../keys/key-template.js';

/** What the sort key has to meet: at most one operator, as DynamoDB takes it. */
export type SortCondition =
  | { readonly operator: 'none' }
  | { readonly operator: 'equal' | 'beginsWith'; readonly text: string }
  | { readonly operator: 'between'; readonly low: string; readonly high: string };

/** The comparisons of a query's sort key. */
export type SortOperator = 'lt' | 'le' | 'gt' | 'ge';

type Values = Record<string, unknown>;

/** From the inputs that are given, from the left: the whole key, or what keys with these inputs start with. */
export const fromInputs = (template: KeyTemplate | undefined, values: Values): SortCondition => {
  if (!template) return { operator: 'none' };
  const { text_: text, next_: next } = template.prefix_(values);
  if (!next) return { operator: 'equal', text };
  return text === '' ? { operator: 'none' } : { operator: 'beginsWith', text };
};

/** Keys whose next input starts with a text. */
export const startingWith = (template: KeyTemplate, values: Values, start: string): SortCondition => {
  const { text_: text, next_: next } = template.prefix_(values);
  if (!next) return invalid('beginsWith', 'the sort key is complete already');
  return { operator: 'beginsWith', text: template.start_(text, next, start) };
};

/** Whole keys, or prefixes of them, on both sides; a prefix as the upper end includes the keys that start with it. */
export const between = (template: KeyTemplate, given: Values, low: Values, high: Values): SortCondition => {
  const from = template.prefix_(join('between', template, given, low)).text_;
  const { text_: to, next_: next } = template.prefix_(join('between', template, given, high));
  return range('between', lowest(from), next ? textAbove(to) : to);
};

/**
 * One side of a key, kept inside the keys that have the given inputs: a sort key condition takes one operator, so the
 * other side is their common start, and the exclusive ends are the texts just beside.
 */
export const compared = (template: KeyTemplate, given: Values, operator: SortOperator, side: Values): SortCondition => {
  const start = template.prefix_(given).text_;
  const { text_: text, next_: next } = template.prefix_(join(operator, template, given, side));
  if (text === start) return invalid(operator, 'expected an input of the sort key beyond those that the query has');
  const end = textAbove(start);
  switch (operator) {
    case 'lt':
      return range(operator, lowest(start), textBelow(text));
    case 'le':
      return range(operator, lowest(start), next ? textAbove(text) : text);
    case 'gt':
      return range(operator, next ? textAbove(text) : `${text}\0`, end);
    case 'ge':
      return range(operator, text, end);
  }
};

/** The query's inputs and those of one side, which can't be others. */
const join = (operator: string, template: KeyTemplate, given: Values, side: Values): Values => {
  if (typeof side !== 'object' || side === null) return invalid(operator, 'expected inputs of the sort key');
  const joined = { ...given };
  for (const name of Object.keys(side)) {
    if (side[name] === undefined) continue;
    if (given[name] !== undefined) invalid(operator, 'has an input that the query has already');
    if (!template.inputs_.some((input) => input.name_ === name))
      invalid(operator, 'expected inputs of the sort key only');
    joined[name] = side[name];
  }
  return joined;
};

/** DynamoDB refuses a range whose low end is above its high one, in the order of UTF-8. */
const range = (operator: string, low: string, high: string): SortCondition =>
  Buffer.compare(Buffer.from(low), Buffer.from(high)) > 0
    ? invalid(operator, 'no key can be in this range: its low end is above its high end')
    : { operator: 'between', low, high };

/** A key value is not empty, so the least text is one NUL. */
const lowest = (start: string): string => (start === '' ? '\0' : start);
