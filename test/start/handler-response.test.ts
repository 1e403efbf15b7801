import { describe, expect, it } from 'vitest';
import { handlerResponse } from '../../lib/local/start/handler-response.js';

const read = (result: unknown) => {
  const { status, headers, body } = handlerResponse(result);
  return { status, headers, body: body.toString() };
};

describe('the result of a function', () => {
  it('is a response where it has a status code', () => {
    expect(read({ statusCode: 201, headers: { Location: '/1' }, cookies: ['a=1'], body: 'made' })).toEqual({
      status: 201,
      headers: [
        ['location', '/1'],
        ['content-type', 'text/plain;charset=utf-8'],
        ['set-cookie', 'a=1'],
      ],
      body: 'made',
    });
  });

  it('may be without body', () => {
    expect(read({ statusCode: 204 })).toMatchObject({ status: 204, body: '' });
  });

  it.each([
    [{ a: 1 }, '{"a":1}'],
    ['text', 'text'],
    [null, 'null'],
    [undefined, 'null'],
  ])('is a JSON body where it is %j', (result, body) => {
    expect(read(result)).toEqual({ status: 200, headers: [['content-type', 'application/json']], body });
  });

  it.each([{ statusCode: 'x' }, { statusCode: 99 }, { statusCode: 200, body: { a: 1 } }])(
    'is a 500 where it is the malformed %j',
    (result) => {
      expect(read(result)).toMatchObject({ status: 500, body: '{"message":"Internal Server Error"}' });
    },
  );

  it('cannot say how long the body is, nor what becomes of the connection', () => {
    const { headers } = read({ statusCode: 200, headers: { 'Content-Length': '9', Connection: 'close', a: 'b' } });
    expect(headers.map(([name]) => name)).toEqual(['a', 'content-type']);
  });
});
