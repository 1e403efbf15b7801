import type { Body } from '../engine/types.js';

const EXPRESSIONS = [
  'UpdateExpression',
  'ConditionExpression',
  'KeyConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
];
const MAX_BYTES = 4096;
const MAX_OPERATORS = 300;
const MAX_OPERANDS_OF_IN = 100;
const OPERATOR = /\b(?:AND|OR|NOT|IN|BETWEEN)\b|<>|<=|>=|[=<>+]|\s-\s|\b\w+\s*\(/gi;

/** Limits of expressions that dynalite does not know: the message, or undefined. */
export function expressionOverLimit(data: Body): string | undefined {
  for (const name of EXPRESSIONS) {
    const text = data[name];
    if (typeof text !== 'string') continue;
    const size = Buffer.byteLength(text);
    if (size > MAX_BYTES) {
      return `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${size}`;
    }
    // Short expressions cannot have as many operators or operands.
    if (size < MAX_OPERANDS_OF_IN * 2) continue;
    for (const [, operands = ''] of text.matchAll(/\bIN\s*\(([^()]*)\)/gi)) {
      const count = operands.split(',').length;
      if (count > MAX_OPERANDS_OF_IN) {
        return `Invalid ${name}: The IN operator is provided with too many operands; number of operands: ${count}`;
      }
    }
    const operators = [...text.matchAll(OPERATOR)].length;
    if (operators > MAX_OPERATORS) {
      return `Invalid ${name}: The expression contains too many operators; maximum number of operators: ${MAX_OPERATORS}`;
    }
  }
  return undefined;
}
