import type { Answer } from '../recipes/index.js';
import { invalid } from '../commands/errors/errors.js';
import type { HttpResult } from './event.js';

/** What a handler answers. */
export interface HttpAnswer {
  /** 200 to 499: a failure of the server is thrown, since a stored one would be replayed to every repeat. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What JSON can hold; written at once, so that changing it later changes nothing. Undefined for no body. */
  readonly body?: unknown;
}

/** What of an answer's headers is stored and replayed by default: what belongs to the result, not to the call. */
export const replayedHeaders = ['content-type', 'content-language', 'etag', 'link', 'location'] as const;

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** An answer as it is sent: names in lower case, the body as text. */
export const resultOf = ({ status, headers = {}, body }: HttpAnswer): HttpResult => {
  if (!Number.isInteger(status) || status < 200 || status > 599) invalid('answer.status', 'expected 200 to 599');
  const result: HttpResult = { statusCode: status, headers: {} };
  for (const [name, value] of Object.entries(headers)) {
    // A line break in a value would start a header of its own.
    if (!token.test(name) || typeof value !== 'string' || !fieldValue.test(value)) {
      invalid('answer.headers', 'expected names and values that HTTP allows');
    }
    result.headers[name.toLowerCase()] = value;
  }
  if (body !== undefined) {
    const text = JSON.stringify(body) as string | undefined;
    if (text === undefined) return invalid('answer.body', 'expected what JSON can hold');
    result.body = text;
    result.headers['content-type'] ??= 'application/json';
  }
  return result;
};

/** What is stored of an answer. */
export const storedAnswer = ({ statusCode, headers, body }: HttpResult, allowed: readonly string[]): Answer => {
  if (statusCode >= 500) invalid('answer.status', 'a failure of the server is thrown and not stored');
  const kept = Object.entries(headers).filter(([name]) => allowed.includes(name));
  return { status: statusCode, headers: Object.fromEntries(kept), body };
};

/** A stored answer as it is sent again. */
export const replayedResult = ({ status = 200, headers, body }: Answer): HttpResult => ({
  statusCode: status,
  headers: { ...headers, 'idempotent-replayed': 'true' },
  ...(body !== undefined && { body }),
});
