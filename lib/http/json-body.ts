import { significantDigits } from '../commands/attributes/digits.js';
import { headerValues, type HttpEvent } from './event.js';
import { ProblemError, problems } from './problem.js';

const deepest = 32;
const json = /^application\/(?:[\w!#$&^.+-]+\+)?json[ \t]*(?:;|$)/i;
const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^";, \t]*)/gi;

/** Keeps nothing from one text to the next. */
const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

/** What a number must hold to lose digits: 16 of them, or an exponent that few doubles have. */
const suspicious = /[\d.]{16}|\d[eE][-+]?\d{3}/;
/** A double written without exponent, to its last digit, is shorter; the digits of longer ones cost time to compare. */
const longestNumber = 400;

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
 * @throws ProblemError 415 for another content type, charset or content encoding; 400 for what is no JSON in UTF-8, is
 *   nested deeper than 32 levels, has a member named `__proto__`, or a number whose digits a double does not keep
 */
export const jsonBody = (event: HttpEvent, bytes: Uint8Array): unknown => {
  if (bytes.byteLength === 0) return undefined;
  if (!isPlainJson(event)) throw new ProblemError(problems.notJson());
  let text: string;
  let body: unknown;
  try {
    text = utf8.decode(bytes);
    body = JSON.parse(text);
  } catch {
    // The parser's message quotes the body.
    throw new ProblemError(problems.bodyInvalid('The body is not JSON in UTF-8.'));
  }
  check(body, 0);
  // Only then: where a parse tells the numbers' texts, it takes longer, and goes into the depth by recursion.
  if (suspicious.test(text)) JSON.parse(text, checkDigits as Reviver);
  return body;
};

const isPlainJson = (event: HttpEvent): boolean => {
  const type = headerValues(event, 'content-type').join(',');
  const encoding = headerValues(event, 'content-encoding').join(',').trim();
  return (
    json.test(type) &&
    [...type.matchAll(charset)].every(([, name]) => /^utf-?8$/i.test(name as string)) &&
    /^(?:identity)?$/i.test(encoding)
  );
};

type Reviver = (key: string, value: unknown) => unknown;

/** A rounded amount must not be taken for what was sent. */
const checkDigits = (_key: string, value: unknown, { source }: { readonly source?: string }): unknown => {
  if (typeof value !== 'number' || source === undefined) return value;
  if (source.length > longestNumber || significantDigits(source) !== significantDigits(String(value))) {
    throw new ProblemError(problems.bodyInvalid('The body has a number with more digits than are kept.'));
  }
  return value;
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
