import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HttpResult } from '../../lib/http/index.js';
import { OutboxItem, shardOf } from '../../lib/recipes/index.js';
import { functionUrlEvent } from '../http/http-event.js';
import { loseAnswer } from '../http/meddle.js';
import { embedded } from '../support/dynamodb.js';
import { chargeShop, json, order, type ChargeShop } from './charge-shop.js';

/** Requests with their write and read units. */
const costs = ({ requests }: ChargeShop) =>
  requests.map(({ operation, writeUnits, readUnits }) => [operation, writeUnits, readUnits]);

const replayed = ({ headers }: HttpResult): boolean => headers['idempotent-replayed'] === 'true';

describe('a first call', () => {
  it('stores the charge, and answers with it and where it is', async () => {
    const shop = await chargeShop({ now: () => Date.UTC(2026, 11, 1) });
    const result = await shop.charge();
    const { chargeId, ...rest } = json(result);
    expect(chargeId).toMatch(/^[\da-f-]{36}$/);
    expect(rest).toEqual({ ...order, createdAt: '2026-12-01T00:00:00.000Z' });
    expect(result).toMatchObject({
      statusCode: 201,
      headers: { location: `/charges/${String(chargeId)}`, 'content-type': 'application/json' },
    });
    expect(replayed(result)).toBe(false);
    expect(await shop.charges()).toMatchObject([
      {
        pk: { S: `CHARGE#${String(chargeId)}` },
        customerId: { S: 'alice' },
        amount: { N: '100' },
        revision: { N: '1' },
      },
    ]);
  });

  it('is one request of 8 write units: charge, check of the customer, record and event', async () => {
    const shop = await chargeShop();
    await shop.charge();
    expect(await shop.items()).toHaveLength(3);
    if (embedded) expect(costs(shop)).toEqual([['TransactWriteItems', 8, 0]]);
    expect(shop.lines).toMatchObject([{ outcome: 'committed', status: 201, dynamodbRequests: 1 }]);
  });

  it('publishes its event, in the trace of the request', async () => {
    const shop = await chargeShop();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = json(await shop.charge({ headers: { traceparent } }));
    const aggregate = `charge:${String(answer['chargeId'])}`;
    const item = await shop.table
      .of(OutboxItem)
      .get({ shard: shardOf(aggregate, 8), aggregate, sequence: 1 })
      .item();
    expect(item).toMatchObject({ traceparent, events: [{ type: 'charge.created', source: 'safewrites.charges' }] });
    expect(JSON.parse(item?.events[0]?.detail ?? '')).toEqual(answer);
  });

  it('works through a function URL', async () => {
    const shop = await chargeShop();
    expect(await shop.send(functionUrlEvent({ body: order }))).toMatchObject({ statusCode: 201 });
  });

  it('takes a body in base64', async () => {
    const shop = await chargeShop();
    expect(await shop.charge({ base64: true })).toMatchObject({ statusCode: 201 });
  });
});

describe('a repeat', () => {
  it('gets the first answer, and charges nothing: one request of 8 write units', async () => {
    const shop = await chargeShop();
    const first = await shop.charge();
    shop.requests.length = 0;
    const second = await shop.charge();
    expect(second).toEqual({ ...first, headers: { ...first.headers, 'idempotent-replayed': 'true' } });
    if (embedded) expect(costs(shop)).toEqual([['TransactWriteItems', 8, 0]]);
    expect(await shop.charges()).toHaveLength(1);
    expect(shop.lines[1]).toMatchObject({ outcome: 'replayed', replayed: true, dynamodbRequests: 1 });
  });

  it('with readFirst is one read unit', async () => {
    const shop = await chargeShop({ readFirst: true });
    const first = await shop.charge();
    shop.requests.length = 0;
    expect((await shop.charge()).body).toBe(first.body);
    if (embedded) expect(costs(shop)).toEqual([['GetItem', 0, 1]]);
  });

  it('of another body, query or content type is refused', async () => {
    const shop = await chargeShop();
    await shop.charge();
    for (const other of [
      { body: { ...order, amount: 101 } },
      { body: `${JSON.stringify(order)} ` },
      { query: 'a=1' },
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
    ]) {
      expect((await shop.charge(other)).statusCode).toBe(422);
    }
    expect(await shop.charges()).toHaveLength(1);
  });

  it('of another caller, or with another key, charges again', async () => {
    const shop = await chargeShop();
    await shop.charge();
    await shop.charge({ key: 'k2' });
    await shop.charge({ authorizer: { iam: { userId: 'AIDAOTHER' } } });
    expect(await shop.charges()).toHaveLength(3);
  });

  it('a day later is a new call, though the record is still in the table', async () => {
    let now = Date.UTC(2026, 11, 1);
    const shop = await chargeShop({ now: () => now });
    await shop.charge();
    now += 86_399_999;
    expect(replayed(await shop.charge())).toBe(true);
    now += 1;
    expect(replayed(await shop.charge())).toBe(false);
    expect(await shop.charges()).toHaveLength(2);
  });
});

describe('a blocked customer', () => {
  it('is refused, and a repeat gets that answer though the customer is free now', async () => {
    const shop = await chargeShop();
    await shop.block('alice', true);
    const first = await shop.charge();
    expect(first).toMatchObject({ statusCode: 403, headers: { 'content-type': 'application/problem+json' } });
    expect(json(first)).toMatchObject({ type: 'urn:safewrites:problem:customer-blocked', status: 403 });
    await shop.block('alice', false);
    const second = await shop.charge();
    expect(second).toEqual({ ...first, headers: { ...first.headers, 'idempotent-replayed': 'true' } });
    expect(await shop.charges()).toEqual([]);
    expect(await shop.items('OUTBOX')).toEqual([]);
    expect(await shop.charge({ key: 'k2' })).toMatchObject({ statusCode: 201 });
  });

  it('is two requests the first time', async () => {
    const shop = await chargeShop();
    await shop.block('alice', true);
    shop.requests.length = 0;
    await shop.charge();
    if (embedded) {
      expect(costs(shop)).toEqual([
        ['TransactWriteItems', 8, 0],
        ['PutItem', 1, 0],
      ]);
    }
  });

  it('that was charged before gets that answer', async () => {
    const shop = await chargeShop();
    const first = await shop.charge();
    await shop.block('alice', true);
    const second = await shop.charge();
    expect([second.statusCode, second.body, replayed(second)]).toEqual([201, first.body, true]);
  });

  it('leaves others alone', async () => {
    const shop = await chargeShop();
    await shop.block('bob', true);
    await shop.block('alice', false);
    expect(await shop.charge()).toMatchObject({ statusCode: 201 });
  });
});

describe('a lost answer', () => {
  it('of DynamoDB is settled by the same call again', async () => {
    const shop = await chargeShop();
    // An error that the SDK does not know, so that it gives up.
    loseAnswer(shop.client, 'TransactWriteItems', Object.assign(new Error('lost'), { name: 'AbortError' }));
    expect(await shop.charge()).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } });
    const [charge] = await shop.charges();
    const second = await shop.charge();
    expect(second.statusCode).toBe(201);
    expect(json(second)['chargeId']).toBe(charge?.['id']?.S);
    expect(replayed(second)).toBe(true);
    expect(await shop.charges()).toHaveLength(1);
  });

  it('that the SDK asks for again is no second charge', async () => {
    const shop = await chargeShop();
    loseAnswer(shop.client, 'TransactWriteItems');
    const first = await shop.charge();
    expect(first.statusCode).toBe(201);
    expect((await shop.charges()).map((charge) => charge['id']?.S)).toEqual([json(first)['chargeId']]);
  });
});

describe('50 calls at the same time', () => {
  it('with one key leave one charge, and everyone gets its id or 409 with Retry-After', async () => {
    const shop = await chargeShop();
    const results = await Promise.all(Array.from({ length: 50 }, () => shop.charge()));
    const [charge, ...others] = await shop.charges();
    expect(others).toEqual([]);
    for (const result of results) {
      if (result.statusCode === 409) expect(result.headers['retry-after']).toBe('1');
      else expect([result.statusCode, json(result)['chargeId']]).toEqual([201, charge?.['id']?.S]);
    }
    expect(results.filter((result) => result.statusCode === 201 && !replayed(result))).toHaveLength(1);
    expect(await shop.items('OUTBOX')).toHaveLength(1);
  });

  it('with keys and customers of their own are 50 charges, at one request each', async () => {
    const shop = await chargeShop();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => shop.charge({ key: `k${i}`, body: { ...order, customerId: `c${i}` } })),
    );
    expect(results.every(({ statusCode }) => statusCode === 201)).toBe(true);
    if (embedded) expect(shop.requests).toHaveLength(50);
  });
});

describe.runIf(embedded)('others in the way, whose keys are others', () => {
  const inTheWay = async (times: number): Promise<ChargeShop> => {
    // No waits between the runs.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => random.mockRestore());
    let left = times;
    return chargeShop({
      faults: ({ operation }) =>
        operation === 'TransactWriteItems' && left-- > 0 ? { at: 'before', error: 'TransactionConflict' } : undefined,
    });
  };

  it('are met nine times, and the charge is done', async () => {
    const shop = await inTheWay(9);
    expect(await shop.charge()).toMatchObject({ statusCode: 201 });
    expect(await shop.charges()).toHaveLength(1);
  });

  it('are met ten times, and the answer says what is true of them too', async () => {
    const shop = await inTheWay(10);
    const result = await shop.charge();
    expect(result).toMatchObject({ statusCode: 409, headers: { 'retry-after': '1' } });
    expect(json(result)).toEqual({
      type: 'urn:safewrites:problem:request-in-progress',
      title: 'Another request in progress',
      status: 409,
      detail:
        'A request in progress is in the way: the first one with this Idempotency-Key, or another one that uses the same data. Send the same request again.',
    });
    expect(await shop.items()).toEqual([]);
    expect(await shop.charge()).toMatchObject({ statusCode: 201 });
  });
});
