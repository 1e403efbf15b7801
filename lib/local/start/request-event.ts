import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { localAws } from './cloudformation.js';
import type { RouteMatch } from './match-route.js';

/** The one caller of every local request: a user, whose id stays the same. */
export const localCaller = {
  accessKey: 'AKIALOCALLOCALLOCALX',
  accountId: localAws.accountId,
  callerId: 'AIDALOCALLOCALLOCALX',
  cognitoIdentity: null,
  principalOrgId: null,
  userArn: `arn:aws:iam::${localAws.accountId}:user/local`,
  userId: 'AIDALOCALLOCALLOCALX',
} as const;

// Headers of the connection to API Gateway, which it does not pass on.
const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The payload, format 2.0, that API Gateway would call the function with. */
export function requestEvent(
  request: IncomingMessage,
  body: Buffer,
  { route, pathParameters }: RouteMatch,
  { traceId, now }: { traceId: string; now: Date },
): APIGatewayProxyEventV2 {
  const { path, query } = splitTarget(request.url ?? '/');
  const method = request.method ?? 'GET';
  const { headers, cookies } = joinHeaders(request.rawHeaders);
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const host = headers['host'] ?? '127.0.0.1';
  headers['content-length'] ??= String(body.length);
  headers['x-amzn-trace-id'] ??= traceId;
  headers['x-forwarded-for'] = [headers['x-forwarded-for'], sourceIp].filter(Boolean).join(', ');
  headers['x-forwarded-port'] = /:(\d+)$/.exec(host)?.[1] ?? '80';
  headers['x-forwarded-proto'] = 'http';
  // As text, bytes that are no UTF-8 would be replaced, and two bodies become one.
  const isBase64Encoded =
    body.length > 0 && !(isText(headers['content-type'], headers['content-encoding']) && isUtf8(body));
  const queryStringParameters = joinQuery(query);

  const event = {
    version: '2.0',
    routeKey: route.routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length === 0 ? {} : { cookies }),
    headers,
    ...(queryStringParameters === undefined ? {} : { queryStringParameters }),
    requestContext: {
      accountId: localAws.accountId,
      apiId: 'local',
      ...(route.iam ? { authorizer: { iam: localCaller } } : {}),
      domainName: host,
      domainPrefix: 'local',
      http: { method, path, protocol: `HTTP/${request.httpVersion}`, sourceIp, userAgent: headers['user-agent'] ?? '' },
      requestId: randomUUID(),
      routeKey: route.routeKey,
      stage: '$default',
      time: commonLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(pathParameters).length === 0 ? {} : { pathParameters: { ...pathParameters } }),
    ...(body.length === 0 ? {} : { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  };
  return event;
}

/** Path and query of a request target, as they were sent. */
export function splitTarget(target: string): { path: string; query: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function joinHeaders(raw: readonly string[]): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  const cookies: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    const value = raw[index + 1]!;
    if (name === 'cookie') cookies.push(...value.split(/; */).filter((cookie) => cookie !== ''));
    else if (!hopByHop.has(name)) headers[name] = name in headers ? `${headers[name]},${value}` : value;
  }
  return { headers: { ...headers }, cookies };
}

function joinQuery(query: string): Record<string, string> | undefined {
  if (query === '') return undefined;
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

/** API Gateway decides by the content type; forms arrive encoded. */
function isText(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return false;
  const type = (contentType ?? 'text/plain').split(';')[0]!.trim().toLowerCase();
  return type.startsWith('text/') || /^application\/(.+\+)?(json|xml|javascript)$/.test(type);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `01/Dec/2026:00:00:00 +0000`. */
function commonLogTime(now: Date): string {
  const iso = now.toISOString();
  return `${iso.slice(8, 10)}/${months[now.getUTCMonth()]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}
