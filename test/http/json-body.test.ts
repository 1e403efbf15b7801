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

  it.each([
    ['content-type', 'application/json; charset=utf-16'],
    ['content-type', 'application/json;a=b; Charset="ISO-8859-1"'],
    ['content-type', 'application/json; charset=utf-8; charset=utf-16'],
    ['content-encoding', 'gzip'],
    ['content-encoding', 'identity, br'],
  ])('refuses %s %j with 415', (name, value) => {
    expect(status({ body: '{}', headers: { 'content-type': 'application/json', [name]: value } })).toBe(415);
  });

  it.each([
    ['content-type', 'application/json; charset="UTF-8"'],
    ['content-encoding', 'identity'],
    ['content-encoding', 'Identity'],
  ])('takes %s %j', (name, value) => {
    expect(status({ body: '{}', headers: { 'content-type': 'application/json', [name]: value } })).toBe(200);
  });

  it.each([
    '4503599627370497.6',
    '9007199254740990.7',
    '9007199254740993',
    '1.00000000000000000001',
    '-1.00000000000000000001e2',
    '1e400',
    '-1e400',
    '1e-400',
    `1${'0'.repeat(250_000)}1`,
  ])('refuses a number that a double rounds, and does not repeat it: %.30s', (number) => {
    expect(() => read({ body: `{"a":[${number}]}` }, 300_000)).toThrow(
      /^The body has a number with more digits than are kept\.$/,
    );
  });

  it.each([
    '9007199254740991',
    '0.30000000000000004',
    '1.0000000000000000000000',
    '1e100',
    '100000000000000000000000',
    '-0.000000000000000000001',
    '5e-324',
    '0e999',
    '0.00000000000000000000',
  ])('takes a number that a double keeps: %s', (number) => {
    expect(read({ body: `{"a":${number}}` })).toEqual({ a: Number(number) });
  });

  it('takes digits in a text, and the last of two members, as JSON.parse does', () => {
    expect(read({ body: '{"a":"1.00000000000000000001"}' })).toEqual({ a: '1.00000000000000000001' });
    expect(read({ body: '{"a":"1.00000000000000000001","a":1.0000000000000000}' })).toEqual({ a: 1 });
  });

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
