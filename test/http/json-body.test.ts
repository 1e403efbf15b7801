import { describe, expect, it } from 'vitest';
import type { ProblemError } from '../../lib/http/index.js';
import { bodyBytes, jsonBody } from '../../lib/http/json-body.js';
import { httpEvent, type EventParts } from './http-event.js';

const read = (parts: EventParts, maximum = 1000): unknown => {
  const event = httpEvent(parts);
  return jsonBody(event, bodyBytes(event, maximum));
};

const status = (parts: EventParts, maximum?: number): number => {
  try {
    read(parts, maximum);
  } catch (error) {
    return (error as ProblemError).problem.status;
  }
  return 200;
};

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('jsonBody', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json ;a=b',
    'application/cloudevents+json',
  ])('reads %s', (type) => {
    expect(read({ body: '{"a":1}', headers: { 'content-type': type } })).toEqual({ a: 1 });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/json,text/plain', ''])(
    'refuses %j with 415',
    (type) => {
      expect(status({ body: '{}', headers: { 'content-type': type } })).toBe(415);
    },
  );

  it('decodes base64', () => {
    expect(read({ body: '{"a":"ü"}', base64: true })).toEqual({ a: 'ü' });
  });

  it('is undefined for no body, whatever the content type', () => {
    expect(read({ headers: { 'content-type': 'text/plain' } })).toBeUndefined();
  });

  it.each(['{', 'hello', '{"a":1}x', "{'a':1}", 'NaN', '\u0000'])('refuses %j with 400', (body) => {
    expect(status({ body })).toBe(400);
  });

  it('refuses bytes that are no UTF-8', () => {
    const event = { ...httpEvent({ body: 'x' }), body: Buffer.from([0x22, 0xff, 0x22]).toString('base64') };
    const encoded = { ...event, isBase64Encoded: true };
    expect(() => jsonBody(encoded, bodyBytes(encoded, 10))).toThrow('The body is not JSON in UTF-8.');
  });

  it('takes 32 levels and refuses more', () => {
    expect(status({ body: nested(32) })).toBe(200);
    expect(status({ body: nested(33) })).toBe(400);
    expect(status({ body: nested(100_000) }, 1_000_000)).toBe(400);
    expect(status({ body: '{"a":'.repeat(33) + '1' + '}'.repeat(33) })).toBe(400);
  });

  it.each(['{"__proto__":{"admin":true}}', '{"a":[{"\\u005f_proto__":1}]}'])('refuses %s', (body) => {
    expect(status({ body })).toBe(400);
  });

  it('measures bytes, not characters', () => {
    expect(status({ body: JSON.stringify('ü'.repeat(4)) }, 10)).toBe(200);
    expect(status({ body: JSON.stringify('ü'.repeat(5)) }, 10)).toBe(413);
    expect(status({ body: JSON.stringify('x'.repeat(8)), base64: true }, 10)).toBe(200);
    expect(status({ body: JSON.stringify('x'.repeat(9)), base64: true }, 10)).toBe(413);
  });
});
