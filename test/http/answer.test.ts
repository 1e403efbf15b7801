import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../lib/commands/index.js';
import { replayedHeaders, replayedResult, resultOf, storedAnswer, type HttpAnswer } from '../../lib/http/answer.js';
import { problem } from '../../lib/http/index.js';

describe('resultOf', () => {
  it('writes the body as JSON, with its type', () => {
    expect(resultOf({ status: 201, headers: { Location: '/a' }, body: { a: new Date(0) } })).toEqual({
      statusCode: 201,
      headers: { location: '/a', 'content-type': 'application/json' },
      body: '{"a":"1970-01-01T00:00:00.000Z"}',
    });
  });

  it('has no body and no type where there is none', () => {
    expect(resultOf({ status: 204 })).toEqual({ statusCode: 204, headers: {} });
  });

  it.each<[string, HttpAnswer]>([
    ['a status that is none', { status: 99 }],
    ['a status that ends no request', { status: 101 }],
    ['a value that would begin another header', { status: 200, headers: { a: 'b\r\nset-cookie: c' } }],
    ['a name that is none', { status: 200, headers: { 'a b': 'c' } }],
    ['a value that is no text', { status: 200, headers: { a: 7 as never } }],
    ['a body that JSON has no form for', { status: 200, body: () => 1 }],
  ])('refuses %s', (_name, answer) => {
    expect(() => resultOf(answer)).toThrow(InvalidInputError);
  });
});

describe('storedAnswer', () => {
  it('keeps the allowed headers only', () => {
    const result = resultOf({ status: 201, headers: { Location: '/a', 'Set-Cookie': 's=1' }, body: 1 });
    expect(storedAnswer(result, replayedHeaders)).toEqual({
      status: 201,
      headers: { location: '/a', 'content-type': 'application/json' },
      body: '1',
    });
  });

  it("refuses a failure of the server, which would be everyone's for a day", () => {
    expect(() => storedAnswer(resultOf({ status: 500 }), [])).toThrow(InvalidInputError);
  });
});

it('is replayed as it was stored, and says so', () => {
  expect(replayedResult({ status: 204, headers: { etag: '"1"' } })).toEqual({
    statusCode: 204,
    headers: { etag: '"1"', 'idempotent-replayed': 'true' },
  });
});

it('gives a problem the title of its status where it has none', () => {
  expect(problem({ status: 404, detail: 'd' })).toEqual({
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
    body: { type: 'about:blank', title: 'Not Found', status: 404, detail: 'd' },
  });
});
