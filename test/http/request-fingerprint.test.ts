import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requestFingerprint } from '../../lib/http/request-fingerprint.js';
import { httpEvent } from './http-event.js';

const text = fc.string({ maxLength: 4, unit: fc.constantFrom('a', '/', '1', ':', '?') });
const request = fc.record({ method: fc.constantFrom('POST', 'PUT'), path: text, query: text, type: text, body: text });

type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

const fingerprint = ({ type, body, ...parts }: Request) =>
  requestFingerprint(httpEvent({ ...parts, headers: { 'content-type': type } }), Buffer.from(body));

it('is the same only where method, path, query, content type and body are', () => {
  fc.assert(
    fc.property(request, request, (one, other) => {
      expect(fingerprint(one).hash === fingerprint(other).hash).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});

it.each([
  { method: 'PUT' },
  { path: '/other' },
  { query: 'a=1' },
  { type: 'application/json;charset=utf-8' },
  { body: '{ }' },
])('changes with each part: %j', (change) => {
  const base: Request = { method: 'POST', path: '/charges', query: '', type: 'application/json', body: '{}' };
  expect(fingerprint({ ...base, ...change } as Request).hash).not.toBe(fingerprint(base).hash);
});

it('does not change with other headers, and not over versions', () => {
  const event = httpEvent({ headers: { 'user-agent': 'a' } });
  expect(requestFingerprint(event, Buffer.from('{}'))).toEqual({
    algorithm: 1,
    hash: 'NSgNg_zTmNGYcZiTDLN6whapjMLGxtTYQ9unlpDjYuc',
  });
});
