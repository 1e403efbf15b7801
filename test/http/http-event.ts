import type { HttpEvent } from '../../lib/http/index.js';

/** The parts of an event that a test says. */
export interface EventParts {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** The `Idempotency-Key`; null for none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly authorizer?: unknown;
  readonly routeKey?: string;
  readonly stage?: string;
  readonly base64?: boolean;
}

const caller = {
  iam: {
    accessKey: 'ASIAEXAMPLE',
    accountId: '111122223333',
    callerId: 'AROAEXAMPLE:session',
    cognitoIdentity: null,
    principalOrgId: null,
    userArn: 'arn:aws:sts::111122223333:assumed-role/caller/session',
    userId: 'AROAEXAMPLE:session',
  },
};

/** An event as an HTTP API sends it, payload format 2.0. */
export function httpEvent(parts: EventParts = {}): HttpEvent {
  const { method = 'POST', path = '/charges', query = '', key = 'k1', headers = {}, body, base64 = false } = parts;
  const { authorizer = caller, routeKey = `${method} ${path}`, stage = '$default' } = parts;
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: { 'content-type': 'application/json', ...(key !== null && { 'idempotency-key': key }), ...headers },
    requestContext: { http: { method }, stage, requestId: 'request-1', authorizer },
    ...(text !== undefined && { body: base64 ? Buffer.from(text).toString('base64') : text }),
    isBase64Encoded: base64,
  };
}

/** The same request through a function URL. */
export const functionUrlEvent = (parts: EventParts = {}): HttpEvent => httpEvent({ routeKey: '$default', ...parts });
