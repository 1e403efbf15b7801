import { Buffer } from 'node:buffer';
import { headerValues, type HttpEvent } from './event.js';
import { ProblemError, problems } from './problem.js';

const deepest = 32;
const json = /^application\/(?:[\w!#$&^.+-]+\+)?json[ \t]*(?:;|$)/i;

/**
 * The bytes of the request's body, decoded from base64 where they came so.
 *
 * @throws ProblemError 413
 */
export const bodyBytes = ({ body, isBase64Encoded = false }: HttpEvent, maximum: number): Uint8Array => {
  const encoding = isBase64Encoded ? 'base64' : 'utf8';
  // Measured first, so that what is refused is never copied.
  if (Buffer.byteLength(body ?? '', encoding) > maximum) throw new ProblemError(problems.bodyTooLarge());
  return Buffer.from(body ?? '', encoding);
};

/**
 * The body as JSON; undefined where there is none.
 *
 * @throws ProblemError 415 for another content type; 400 for what is no JSON in UTF-8, is nested deeper than 32 levels,
 *   or has a member named `__proto__`
 */
export const jsonBody = (event: HttpEvent, bytes: Uint8Array): unknown => {
  if (bytes.byteLength === 0) return undefined;
  if (!json.test(headerValues(event, 'content-type').join(','))) throw new ProblemError(problems.notJson());
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's message quotes the body.
    throw new ProblemError(problems.bodyInvalid('The body is not JSON in UTF-8.'));
  }
  check(body, 0);
  return body;
};

const check = (value: unknown, depth: number): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= deepest)
    throw new ProblemError(problems.bodyInvalid(`The body is nested deeper than ${deepest} levels.`));
  // Copied member by member, it would change an object's prototype.
  if (Object.hasOwn(value, '__proto__')) {
    throw new ProblemError(problems.bodyInvalid('The body has a member that no endpoint takes.'));
  }
  for (const member of Object.values(value)) check(member, depth + 1);
};
