import type { Body } from '../engine/types.js';

/** A parser of dynalite's, which says where it stopped. */
export interface ExpressionParser {
  parse: (text: string, options: { context: object }) => unknown;
}

const SYNTAX_ERROR = /^Invalid (\w+): Syntax error; /;
const TOKEN = /[A-Za-z0-9_#:]+|[^\sA-Za-z0-9_#:]/g;

/** The expression that a message says cannot be parsed. */
export function brokenExpression(message: string): string | undefined {
  return SYNTAX_ERROR.exec(message)?.[1];
}

/** DynamoDB's words for it: the token where reading stopped, with its neighbours. */
export function syntaxErrorMessage(name: string, data: Body, parser: ExpressionParser): string | undefined {
  const text = data[name];
  if (typeof text !== 'string') return undefined;
  const offset = failureOffset(text, data, parser);
  if (offset === undefined) return undefined;
  const tokens = [...text.matchAll(TOKEN)];
  const at = tokens.findIndex(({ index, 0: token }) => index + token.length > offset);
  const current = at < 0 ? tokens.length : at;
  const first = tokens[Math.max(0, current - 1)];
  const last = tokens[Math.min(tokens.length - 1, current + 1)];
  if (!first || !last) return undefined;
  const token = tokens[current]?.[0] ?? '<EOF>';
  const near = text.slice(first.index, last.index + last[0].length);
  return `Invalid ${name}: Syntax error; token: "${token}", near: "${near}"`;
}

function failureOffset(text: string, data: Body, parser: ExpressionParser): number | undefined {
  const context = {
    attrNames: data['ExpressionAttributeNames'],
    attrVals: data['ExpressionAttributeValues'],
    unusedAttrNames: {},
    unusedAttrVals: {},
    isReserved: () => false,
    compare: () => true,
  };
  try {
    parser.parse(text, { context });
  } catch (error) {
    return (error as { location?: { start: { offset: number } } }).location?.start.offset;
  }
  return undefined;
}
