import { describe, expect, it } from 'vitest';
import { InvalidInputError, LimitExceededError } from '../../../../lib/commands/index.js';
import {
  IdempotencyRecord,
  findUnknown,
  idempotencyKey,
  idempotentLease,
  resolveUnknown,
  type Decision,
  type Unknown,
} from '../../../../lib/recipes/index.js';
import { embedded } from '../../../support/dynamodb.js';
import { loseAnswer } from '../../../http/meddle.js';
import { testTable, type TestTable } from '../../../http/test-table.js';
import { identity, leaseMs, pay, payCall, start } from './pay.js';
import { FakeProvider } from './provider.js';

const later = { now: () => start + leaseMs };

/** A table with a payment of which nobody knows whether it was charged. */
const undecided = async (charges: boolean) => {
  const shop = await testTable();
  const provider = new FakeProvider(false);
  const around = (charge: () => string): string => {
    if (charges) charge();
    throw new Error('time-out');
  };
  await expect(pay(shop.table, provider, 'p1', { around })).rejects.toThrow('time-out');
  const unknown = (await findUnknown(shop.table, identity('p1'), later)) as Unknown;
  const resolve = (decision: Decision, seen = unknown) =>
    resolveUnknown(shop.table, identity('p1'), seen, decision, later);
  return { shop, provider, unknown, resolve };
};

const record = ({ table }: TestTable) =>
  table
    .of(IdempotencyRecord)
    .get({ key: idempotencyKey(identity('p1')) })
    .consistent()
    .item();

it('tells what is known', async () => {
  const { shop, provider, unknown } = await undecided(true);
  expect(unknown).toEqual({
    token: start,
    point: 'charge',
    providerKey: provider.charges[0]?.key,
    attempt: 1,
    since: new Date(start),
    points: {},
  });
  expect(await pay(shop.table, provider, 'p1')).toEqual({ outcome: 'unknown', replayed: false, unknown });
  if (embedded) expect(shop.requests.at(-2)).toMatchObject({ operation: 'GetItem', readUnits: 1 });
});

it('finds nothing to decide of a call that is not there, runs, or was answered', async () => {
  const shop = await testTable();
  const provider = new FakeProvider(false);
  const find = () => findUnknown(shop.table, identity('p1'), { now: () => start });
  expect(await find()).toBeUndefined();
  let during: unknown = 'not looked';
  await pay(shop.table, provider, 'p1', {
    around: async (charge) => {
      during = await find();
      return charge();
    },
  });
  expect(during).toBeUndefined();
  expect(await find()).toBeUndefined();
});

describe('a decision', () => {
  it('to retry has the next call do the effect', async () => {
    const { shop, provider, resolve } = await undecided(false);
    shop.requests.length = 0;
    expect(await resolve('retry')).toBe('resolved');
    if (embedded) expect(shop.requests.map(({ operation }) => operation)).toEqual(['GetItem', 'UpdateItem']);
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({
      outcome: 'committed',
      answer: { body: 'charge-0 of attempt 2' },
    });
  });

  it('that it is done has the next call go on after it', async () => {
    const { shop, provider, resolve } = await undecided(true);
    expect(await resolve({ done: 'charge-0' })).toBe('resolved');
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({
      outcome: 'committed',
      answer: { body: 'charge-0 of attempt 2' },
    });
    expect(provider.charges).toHaveLength(1);
  });

  it('that answers is what every repeat gets, for the horizon', async () => {
    const { shop, provider, resolve } = await undecided(true);
    const answer = { status: 502, headers: undefined, body: 'refunded' };
    expect(await resolve({ answer })).toBe('resolved');
    expect(await pay(shop.table, provider, 'p1')).toEqual({ outcome: 'replayed', replayed: true, answer });
    expect((await record(shop))?.expiresAt).toEqual(new Date(start + leaseMs + 86_400_000));
    expect(await record(shop)).toMatchObject({ format: 1 });
    expect((await record(shop))?.lease).toBeUndefined();
    expect(await resolve('retry')).toBe('answered');
    expect(provider.charges).toHaveLength(1);
  });

  it('is about what was seen: a second one writes nothing, nor one about an earlier attempt', async () => {
    const { shop, provider, unknown, resolve } = await undecided(false);
    expect(await resolve('retry')).toBe('resolved');
    expect(await resolve('retry')).toBe('superseded');
    const around = (charge: () => string): string => {
      charge();
      throw new Error('time-out');
    };
    await expect(pay(shop.table, provider, 'p1', { around })).rejects.toThrow('time-out');
    // Decided by somebody who looked before the charge that is unknown now.
    expect(await resolve('retry', unknown)).toBe('superseded');
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ outcome: 'unknown', unknown: { attempt: 2 } });
    expect(provider.charges).toHaveLength(1);
  });

  it('of two at the same time is one', async () => {
    const { resolve } = await undecided(false);
    const outcomes = await Promise.all([resolve('retry'), resolve({ done: 'c' }), resolve({ answer: {} })]);
    expect(outcomes.filter((outcome) => outcome === 'resolved')).toHaveLength(1);
    expect(outcomes.every((outcome) => ['resolved', 'superseded', 'answered'].includes(outcome))).toBe(true);
  });

  it.each(['retry', { done: 'c' }, { answer: { body: 'a' } }] as const)(
    'knows itself again after a lost response (%o)',
    async (decision) => {
      const { shop, resolve } = await undecided(false);
      loseAnswer(shop.client, 'UpdateItem');
      loseAnswer(shop.client, 'PutItem');
      expect(await resolve(decision)).toBe('resolved');
    },
  );

  it('waits for a lease that runs, and keeps a slow first call from storing anything', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const unknown = { token: start, point: 'charge' };
    const decide = (now: number) =>
      resolveUnknown(shop.table, identity('p1'), unknown, { answer: { body: 'decided' } }, { now: () => now });
    const first = await pay(shop.table, provider, 'p1', {
      around: async (charge) => {
        expect(await decide(start)).toBe('inProgress');
        expect(await decide(start + leaseMs)).toBe('resolved');
        return charge();
      },
    });
    expect(first).toMatchObject({ outcome: 'replayed', answer: { body: 'decided' }, leaseLost: true });
    expect(await shop.items('PAYMENT')).toEqual([]);
  });

  it('that comes after the slow first call has stored its result is superseded', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const base = payCall(shop.table, provider, 'p1', later);
    const unknown = { token: start, point: 'charge' };
    const first = await idempotentLease(shop.table, {
      ...payCall(shop.table, provider, 'p1'),
      run: async (lease) => {
        await lease.effect('charge', { keySeconds: 0 }, ({ providerKey }) => provider.charge('p1', providerKey));
        expect(await resolveUnknown(shop.table, identity('p1'), unknown, 'retry', later)).toBe('superseded');
        return base.run(lease);
      },
    });
    expect(first).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });

  it('is refused where it is none, or does not fit', async () => {
    const { shop, resolve, provider } = await undecided(false);
    await expect(resolve({ done: 1 as unknown as string })).rejects.toThrow(InvalidInputError);
    await expect(resolve({ answer: { body: 'x'.repeat(409_600) } })).rejects.toThrow(LimitExceededError);
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ outcome: 'unknown' });
  });

  it('about a call that is not there is superseded', async () => {
    const { shop } = await undecided(false);
    const unknown = { token: start, point: 'charge' };
    expect(await resolveUnknown(shop.table, identity('p2'), unknown, 'retry')).toBe('superseded');
  });
});
