import { invalid } from '../errors/errors.js';

/**
 * Refuses expression text that would reach beyond its own clause: names and values of the library's own, and
 * parentheses that close those around it.
 */
export const checkExpressionText = (strings: readonly string[]): void => {
  const text = strings.join(' ');
  if (strings.length === 1 && text.trim() === '') invalid('text', 'is empty');
  if (/[#:]/.test(text)) invalid('text', 'takes names as handles and values as handle.value(…), not as # and :');
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')' && --depth < 0) break;
  }
  if (depth !== 0) invalid('text', 'has parentheses that do not match');
};

/** Refuses text that would be more than the one value of a `set`. */
export const checkValueText = (strings: readonly string[], path: string): void => {
  let depth = 0;
  for (const character of strings.join(' ')) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0)
      invalid(path, 'the text of a value holds a comma, which would begin another action');
  }
  if (/\b(set|remove|add|delete)\b/i.test(strings.join(' '))) {
    invalid(path, 'the text of a value holds SET, REMOVE, ADD or DELETE, which would begin other actions');
  }
};
