import { describe, expect, it } from 'vitest';
import { matchRoute } from '../../lib/local/start/match-route.js';

const routes = ['GET /orders', 'GET /orders/{id}', 'ANY /orders/{id}', 'GET /orders/special', 'GET /files/{path+}'].map(
  (routeKey) => ({ routeKey, function: 'f', iam: false }),
);

const matched = (method: string, path: string, of = routes) => {
  const match = matchRoute(of, method, path);
  return match === undefined ? undefined : [match.route.routeKey, match.pathParameters];
};

describe('the route of a request', () => {
  it.each([
    ['GET', '/orders', 'GET /orders', {}],
    ['GET', '/orders/7', 'GET /orders/{id}', { id: '7' }],
    ['PUT', '/orders/a%20b', 'ANY /orders/{id}', { id: 'a b' }],
    ['GET', '/orders/special', 'GET /orders/special', {}],
    ['GET', '/files/a/b', 'GET /files/{path+}', { path: 'a/b' }],
    ['GET', '/orders/%', 'GET /orders/{id}', { id: '%' }],
  ])('%s %s is %s', (method, path, routeKey, parameters) => {
    expect(matched(method, path)).toEqual([routeKey, parameters]);
  });

  it.each([
    ['POST', '/orders'],
    ['GET', '/orders/'],
    ['GET', '/'],
    ['GET', '/orders/7/lines'],
  ])('there is none for %s %s', (method, path) => {
    expect(matched(method, path)).toBeUndefined();
  });

  it('is $default for what no other takes', () => {
    const withDefault = [{ routeKey: '$default', function: 'f', iam: false }, ...routes];
    expect(matched('POST', '/x', withDefault)?.[0]).toBe('$default');
    expect(matched('GET', '/orders', withDefault)?.[0]).toBe('GET /orders');
  });
});
