import { headerValues, type HttpEvent } from './event.js';
import { ProblemError, problems } from './problem.js';

const longest = 255;
/** A structured-field String: quoted, `\` only before `"` and `\`. */
const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** The form without quotes: visible characters, without the two that mean something in a list of strings. */
const bare = /^[!#-+\--~]+$/;

const refused = (detail: string): never => {
  throw new ProblemError(problems.keyInvalid(detail));
};

/**
 * The request's idempotency key: 1 to 255 printable ASCII characters. The draft of the header
 * (https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header) asks for a quoted string; many
 * clients send the bare text, and both forms of a text are the same key. Bare, it can hold no space, comma or quote: API
 * Gateway joins repeated headers by commas, and those are refused.
 *
 * @throws ProblemError 400
 * @example
 * const requestContext = { http: { method: 'POST' } };
 * idempotencyKeyOf({ rawPath: '/', requestContext, headers: { 'idempotency-key': '"k1"' } }); // 'k1', as for the bare k1
 */
export const idempotencyKeyOf = (event: HttpEvent): string => {
  const values = headerValues(event, 'idempotency-key');
  if (values.length > 1) return refused('The Idempotency-Key header was sent more than once.');
  const value = values[0]?.replace(/^[ \t]+|[ \t]+$/g, '');
  if (value === undefined || value === '' || value === '""') throw new ProblemError(problems.keyMissing());
  // Escapes at most double the text; beyond that, nothing needs to be parsed.
  if (value.length > 2 * longest + 2) return refused(`The Idempotency-Key is longer than ${longest} characters.`);
  const key = quoted.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? (bare.test(value) ? value : undefined);
  if (key === undefined) {
    return refused(
      'The Idempotency-Key must be one value of printable ASCII characters; with spaces, commas or quotes, a quoted string.',
    );
  }
  return key.length > longest ? refused(`The Idempotency-Key is longer than ${longest} characters.`) : key;
};
