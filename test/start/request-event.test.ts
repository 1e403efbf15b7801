import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { requestEvent } from '../../lib/local/start/request-event.js';

const route = { routeKey: 'POST /charges', function: 'charge', iam: true };
const now = new Date('2026-12-01T00:00:00.000Z');

function event(
  rawHeaders: Record<string, string>[] | string[],
  { body = '', url = '/charges', iam = true }: { body?: string | Buffer; url?: string; iam?: boolean } = {},
) {
  const request = {
    method: 'POST',
    url,
    httpVersion: '1.1',
    rawHeaders,
    socket: { remoteAddress: '127.0.0.1' },
  } as unknown as IncomingMessage;
  return requestEvent(
    request,
    Buffer.from(body),
    { route: { ...route, iam }, pathParameters: {} },
    { traceId: 't', now },
  );
}

describe('the payload of a request', () => {
  it('has the whole shape of format 2.0', () => {
    const { requestContext, ...rest } = event(['Host', '127.0.0.1:3000', 'Content-Type', 'application/json'], {
      body: '{}',
      url: '/charges?a=1&a=2&b=%20',
    });
    expect(rest).toEqual({
      version: '2.0',
      routeKey: 'POST /charges',
      rawPath: '/charges',
      rawQueryString: 'a=1&a=2&b=%20',
      queryStringParameters: { a: '1,2', b: ' ' },
      headers: {
        host: '127.0.0.1:3000',
        'content-type': 'application/json',
        'content-length': '2',
        'x-amzn-trace-id': 't',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': '3000',
        'x-forwarded-proto': 'http',
      },
      body: '{}',
      isBase64Encoded: false,
    });
    expect(requestContext).toEqual({
      accountId: '000000000000',
      apiId: 'local',
      authorizer: {
        iam: expect.objectContaining({ userId: expect.stringMatching(/^AIDALOCAL/) as unknown }) as unknown,
      },
      domainName: '127.0.0.1:3000',
      domainPrefix: 'local',
      http: { method: 'POST', path: '/charges', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' },
      requestId: expect.any(String) as unknown,
      routeKey: 'POST /charges',
      stage: '$default',
      time: '01/Dec/2026:00:00:00 +0000',
      timeEpoch: now.getTime(),
    });
  });

  it('has neither body, query nor cookies where the request has none', () => {
    const bare = event(['Host', 'h']);
    expect(bare).not.toHaveProperty('body');
    expect(bare).not.toHaveProperty('queryStringParameters');
    expect(bare).not.toHaveProperty('cookies');
    expect(bare.rawQueryString).toBe('');
  });

  it('joins repeated headers with commas and names them in lower case', () => {
    const { headers } = event(['Idempotency-Key', 'a', 'IDEMPOTENCY-KEY', 'b']);
    expect(headers['idempotency-key']).toBe('a,b');
  });

  it('lists cookies apart from the headers', () => {
    const { headers, cookies } = event(['Cookie', 'a=1; b=2', 'Cookie', 'c=3']);
    expect(cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(headers).not.toHaveProperty('cookie');
  });

  it('leaves out what concerns only the connection', () => {
    const { headers } = event(['Connection', 'keep-alive', 'Transfer-Encoding', 'chunked', 'Expect', '100-continue']);
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['connection', 'transfer-encoding', 'expect']));
  });

  it('takes a header named __proto__ as any other', () => {
    expect(Object.entries(event(['__proto__', 'x']).headers)).toContainEqual(['__proto__', 'x']);
  });

  it.each(['application/json', 'application/problem+json; charset=utf-8', 'text/csv', 'application/xml'])(
    'passes a body of %s as text',
    (type) => {
      expect(event(['Content-Type', type], { body: 'ä' })).toMatchObject({ body: 'ä', isBase64Encoded: false });
    },
  );

  it.each([
    ['Content-Type', 'application/octet-stream'],
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Type', 'image/png'],
    ['Content-Encoding', 'gzip'],
  ])('passes a body with %s: %s as base64', (name, value) => {
    const body = Buffer.from([0, 255, 128]);
    expect(event([name, value], { body })).toMatchObject({ body: body.toString('base64'), isBase64Encoded: true });
  });

  it.each([0xff, 0xfe])('passes a body that is no UTF-8, with the byte %i, as base64', (byte) => {
    const body = Buffer.from([0x22, byte, 0x22]);
    expect(event(['Content-Type', 'application/json'], { body })).toMatchObject({
      body: body.toString('base64'),
      isBase64Encoded: true,
    });
  });

  it('has no authorizer on a route without one', () => {
    expect(event([], { iam: false }).requestContext).not.toHaveProperty('authorizer');
  });
});
