import { SafeWritesError } from '../commands/index.js';
import { checkObject } from '../recipes/arguments.js';
import type { HttpAnswer } from './answer.js';

/** A problem as RFC 9457 has it. Its texts are fixed: they hold nothing of the request. */
export interface Problem {
  readonly status: number;
  /** What happened, for people. */
  readonly detail: string;
  /** A URI that names the kind of problem. @default 'about:blank', which says no more than the status */
  readonly type?: string;
  /** @default the status's phrase */
  readonly title?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

// node:http knows all phrases, and takes longer to load than the rest of an endpoint.
const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/**
 * A problem as an answer, for `refuse` and `commit`: stored, so that a repeat gets it too.
 *
 * @example refuse(problem({ status: 403, title: 'Customer blocked', detail: 'This customer can not be charged.' }))
 */
export const problem = (what: Problem): HttpAnswer => {
  const { status, detail, type = 'about:blank', title, headers, extensions } = checkObject(what, 'problem');
  return {
    status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
    body: { type, title: title ?? phrases[status] ?? 'Error', status, detail, ...extensions },
  };
};

/**
 * Ends a call with a problem that is not stored: the request itself is wrong, or can be sent again later.
 *
 * @example throw new ProblemError({ status: 400, detail: 'The query takes no parameters.' });
 */
export class ProblemError extends SafeWritesError {
  static override get kind(): string {
    return 'ProblemError';
  }
  readonly problem: Problem;
  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}

const kind = (name: string): string => `urn:safewrites:problem:${name}`;

/** The endpoint's own problems. Documented in docs/idempotency.md; clients may rely on their types. */
export const problems = {
  notFound: (): Problem => ({ status: 404, detail: 'Nothing is served at this path.' }),
  methodNotAllowed: (allow: string): Problem => ({
    status: 405,
    detail: 'This path is served with another method.',
    headers: { allow },
  }),
  keyMissing: (): Problem => ({
    status: 400,
    type: kind('idempotency-key-missing'),
    title: 'Idempotency-Key missing',
    detail: 'Send an Idempotency-Key header, new for each call and the same for its repeats; a UUID serves well.',
  }),
  keyInvalid: (detail: string): Problem => ({
    status: 400,
    type: kind('idempotency-key-invalid'),
    title: 'Idempotency-Key invalid',
    detail,
  }),
  keyReused: (): Problem => ({
    status: 422,
    type: kind('idempotency-key-reused'),
    title: 'Idempotency-Key used for another request',
    detail: 'The Idempotency-Key was used for another request before. Send this one with a key of its own.',
  }),
  inProgress: (): Problem => ({
    status: 409,
    type: kind('request-in-progress'),
    title: 'Another request in progress',
    detail:
      'A request in progress is in the way: the first one with this Idempotency-Key, or another one that uses the same data. Send the same request again.',
    headers: { 'retry-after': '1' },
  }),
  bodyTooLarge: (): Problem => ({ status: 413, detail: 'The body is larger than this endpoint takes.' }),
  notJson: (): Problem => ({
    status: 415,
    detail: 'The body must be JSON in UTF-8, with content-type application/json and no content-encoding.',
  }),
  bodyInvalid: (detail: string, errors?: readonly object[]): Problem => ({
    status: 400,
    type: kind('body-invalid'),
    title: 'Body invalid',
    detail,
    ...(errors && { extensions: { errors } }),
  }),
  unavailable: (): Problem => ({
    status: 503,
    detail: 'The request could not be finished now, and may have been done. Send the same request again.',
    headers: { 'retry-after': '2' },
  }),
  failed: (): Problem => ({ status: 500, detail: 'The request failed. The same request may be sent again.' }),
} as const;
