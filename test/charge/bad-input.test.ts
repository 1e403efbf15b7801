import { describe, expect, it, vi } from 'vitest';
import type { HttpEvent, HttpResult } from '../../lib/http/index.js';
import { functionUrlEvent, httpEvent, type EventParts } from '../http/http-event.js';
import { chargeShop, order, type ChargeShop } from './charge-shop.js';

/** Sends it, and checks what holds for every refusal; gives back the problem. */
const refused = async (shop: ChargeShop, event: HttpEvent, status: number): Promise<Record<string, unknown>> => {
  const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name));
  const result: HttpResult = await shop.send(event);
  const printed = consoles.flatMap((spy) => spy.mock.calls);
  consoles.forEach((spy) => spy.mockRestore());
  expect(printed).toEqual([]);
  expect(result.statusCode).toBe(status);
  expect(result.headers['content-type']).toBe('application/problem+json');
  const problem = JSON.parse(result.body ?? '') as Record<string, unknown>;
  expect(problem).toMatchObject({ type: expect.any(String) as string, title: expect.any(String) as string, status });
  const told = JSON.stringify([result, shop.lines]);
  // Neither where in the code it was refused, nor what was sent.
  expect(told).not.toMatch(/\.m?[jt]s:\d/);
  expect(told).not.toMatch(/secret|424242/);
  expect(shop.lines).toMatchObject([{ outcome: 'invalid', status, replayed: false, dynamodbRequests: 0 }]);
  expect(shop.requests).toEqual([]);
  expect(await shop.items()).toEqual([]);
  return problem;
};

const body = (change: object): EventParts => ({ body: { ...order, customerId: 'secret', ...change } });

describe('a malformed Idempotency-Key', () => {
  it.each<[string, string | null]>([
    ['missing', null],
    ['empty', ''],
    ['empty, quoted', '""'],
  ])('is refused with 400: %s', async (_name, key) => {
    const problem = await refused(await chargeShop(), httpEvent({ key, body: order }), 400);
    expect(problem['type']).toBe('urn:safewrites:problem:idempotency-key-missing');
  });

  it.each([
    ['over-long', 'secret'.repeat(50)],
    ['over-long, quoted', `"${'secret'.repeat(50)}"`],
    ['not ASCII', 'secret-ü'],
    ['with control characters', 'secret\u0007'],
    ['repeated', 'secret1,secret2'],
    ['repeated, quoted', '"secret1", "secret2"'],
    ['not closed', '"secret'],
  ])('is refused with 400: %s', async (_name, key) => {
    const problem = await refused(await chargeShop(), httpEvent({ key, body: order }), 400);
    expect(problem['type']).toBe('urn:safewrites:problem:idempotency-key-invalid');
  });
});

describe('a malformed body', () => {
  it.each<[string, EventParts]>([
    ['missing', {}],
    ['no JSON', { body: '{"secret":' }],
    ['no JSON, in base64', { body: '{"secret":', base64: true }],
    ['a list', { body: [order] }],
    ['an empty list', { body: [] }],
    ['a text', { body: '"secret"' }],
    ['null', { body: 'null' }],
    ['deeply nested', { body: `${'{"customerId":'.repeat(1000)}1${'}'.repeat(1000)}` }],
    ['deeply nested lists', { body: '['.repeat(100_000) + ']'.repeat(100_000) }],
    ['with __proto__', { body: '{"__proto__":{"amount":424242},"customerId":"secret","amount":1,"currency":"CHF"}' }],
    ['with a prototype by another name', body({ constructor: { prototype: { amount: 424242 } } })],
    ['with a member too many', body({ note: 'secret' })],
    ['with a member too few', { body: { customerId: 'secret', amount: 424242 } }],
    ['with an amount as text', body({ amount: '424242' })],
    ['with a fraction', body({ amount: 424242.5 })],
    ['with nothing', body({ amount: 0 })],
    ['with less than nothing', body({ amount: -424242 })],
    ['with more than 2^53', { body: `{"customerId":"secret","amount":9007199254740993,"currency":"CHF"}` }],
    ...['4503599627370497.6', '9007199254740990.7', '424242.00000000000000000001'].map(
      (amount): [string, EventParts] => [
        `with ${amount}, which is rounded to a whole number`,
        { body: `{"customerId":"secret","amount":${amount},"currency":"CHF"}` },
      ],
    ),
    ['with 2^53', { body: `{"customerId":"secret","amount":9007199254740992,"currency":"CHF"}` }],
    ['with more than any number', { body: '{"customerId":"secret","amount":1e999,"currency":"CHF"}' }],
    ['with an amount that is null', body({ amount: null })],
    ['with an amount in a list', body({ amount: [424242] })],
    ['with a currency that is none', body({ currency: 'XXX' })],
    ['with a currency in lower case', body({ currency: 'chf' })],
    ['with a currency of JavaScript', body({ currency: 'constructor' })],
    ['with a currency as number', body({ currency: 756 })],
    ['without customer', body({ customerId: '' })],
    ['with a customer as number', body({ customerId: 424242 })],
    ['with a customer that holds the separator of keys', body({ customerId: 'secret#1' })],
    ['with a customer that holds a control character', body({ customerId: 'secret\n' })],
    [
      'with a customer that holds half a character',
      { body: '{"customerId":"secret\\ud800","amount":1,"currency":"CHF"}' },
    ],
    ['with a customer that is too long', body({ customerId: 'secret'.repeat(30) })],
  ])('is refused with 400: %s', async (_name, parts) => {
    const problem = await refused(await chargeShop(), httpEvent(parts), 400);
    expect(problem['type']).toBe('urn:safewrites:problem:body-invalid');
  });

  it('says where it is wrong, and what is expected', async () => {
    const problem = await refused(await chargeShop(), httpEvent(body({ amount: '424242', currency: 'XXX' })), 400);
    expect(problem['errors']).toEqual([
      { pointer: '/amount', detail: 'expected a whole number of minor units, from 1 to 2^53 - 1' },
      { pointer: '/currency', detail: 'expected a currency code of ISO 4217, such as CHF' },
    ]);
  });

  it.each([false, true])('of 7 MB is refused with 413 (base64: %s)', async (base64) => {
    const large = JSON.stringify({ ...order, customerId: 'secret'.repeat(1_200_000) });
    await refused(await chargeShop(), httpEvent({ body: large, base64 }), 413);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])('of type %j is refused with 415', async (type) => {
    await refused(await chargeShop(), httpEvent({ body: order, headers: { 'content-type': type } }), 415);
  });
});

it.each([
  ['content-type', 'application/json; charset=utf-16'],
  ['content-encoding', 'gzip'],
])('a body with %s %s is refused with 415', async (name, value) => {
  const headers = { 'content-type': 'application/json', [name]: value };
  await refused(await chargeShop(), httpEvent({ body: order, headers }), 415);
});

describe('another method or path', () => {
  it.each(['/', '/charge', '/charges/secret', '/charges/'])('%s is refused with 404', async (path) => {
    await refused(await chargeShop(), functionUrlEvent({ path, body: order }), 404);
  });

  it.each(['GET', 'PUT', 'DELETE', 'HEAD'])('%s is refused with 405, which says what is served', async (method) => {
    const shop = await chargeShop();
    await refused(shop, functionUrlEvent({ method, body: order }), 405);
    expect((await shop.send(functionUrlEvent({ method }))).headers['allow']).toBe('POST');
  });
});

it('a refused request may be mended and sent again with its key', async () => {
  const shop = await chargeShop();
  expect(await shop.charge({ body: { ...order, amount: '1' } })).toMatchObject({ statusCode: 400 });
  expect(await shop.charge()).toMatchObject({ statusCode: 201 });
});

it('a caller whom nothing names is refused, and the log says what to add', async () => {
  const shop = await chargeShop();
  expect(await shop.charge({ authorizer: null })).toMatchObject({ statusCode: 500 });
  expect(shop.lines[0]?.errorMessage).toContain('add an IAM or JWT authorizer, or a scope function');
  expect(await shop.items()).toEqual([]);
});
