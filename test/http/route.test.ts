import { describe, expect, it } from 'vitest';
import type { ProblemError } from '../../lib/http/index.js';
import { parseRoute, routeOf } from '../../lib/http/route.js';
import { functionUrlEvent, httpEvent, type EventParts } from './http-event.js';

const route = parseRoute('POST /orders/{id}/pay');

const refusal = (parts: EventParts) => {
  try {
    routeOf(functionUrlEvent(parts), route);
  } catch (error) {
    return (error as ProblemError).problem;
  }
  throw new Error('expected a refusal');
};

describe('routeOf', () => {
  it('is the gateway route, or method and path where the gateway has none', () => {
    expect(routeOf(httpEvent({ routeKey: 'POST /orders/{id}/pay', path: '/orders/1/pay' }), undefined)).toBe(
      'POST /orders/{id}/pay',
    );
    expect(routeOf(functionUrlEvent({ path: '/orders/1/pay' }), undefined)).toBe('POST /orders/1/pay');
  });

  it.each<EventParts>([
    { path: '/orders/1/pay' },
    { path: '/prod/orders/1/pay', stage: 'prod' },
    { path: '/base/orders/1/pay', routeKey: 'POST /orders/{id}/pay' },
  ])('is the one that the endpoint says: %j', (parts) => {
    expect(routeOf(functionUrlEvent(parts), route)).toBe('POST /orders/{id}/pay');
  });

  it.each(['/orders/1', '/orders//pay', '/orders/1/pay/', '/Orders/1/pay', '/', '/prod/orders/1/pay'])(
    'refuses the path %s',
    (path) => {
      expect(refusal({ path })).toMatchObject({ status: 404 });
    },
  );

  it('refuses another method, and says which one is served', () => {
    expect(refusal({ method: 'GET', path: '/orders/1/pay' })).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
    });
  });
});

it.each(['', 'POST', '/orders', 'post /orders', 'POST orders', 'POST /or ders'])('%j is no route', (text) => {
  expect(parseRoute(text)).toBeUndefined();
});
