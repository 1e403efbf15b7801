import { afterAll, beforeAll, expect, it } from 'vitest';
import { findUnknown, resolveUnknown } from '../../lib/recipes/idempotency/resolve-unknown.js';
import { recipeShop, type RecipeShop } from '../../test/support/recipe-shop.js';
import { PaidOrder, callOf, payOrder } from './pay-order.js';
import type { Couriers, Payments } from './payments.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const start = Date.UTC(2026, 11, 1);

const partners = () => {
  const charges = new Map<string, string>();
  const parcels: string[] = [];
  const payments: Payments = {
    charge(_amount, { idempotencyKey }) {
      const id = charges.get(idempotencyKey) ?? `charge-${charges.size + 1}`;
      charges.set(idempotencyKey, id);
      return Promise.resolve(id);
    },
  };
  const couriers: Couriers = {
    book(_order, { reference }) {
      parcels.push(reference);
      return Promise.resolve(`parcel-${parcels.length}`);
    },
  };
  return { charges, parcels, payments, couriers };
};

it('charges and books once for a request that comes twice', async () => {
  const { charges, parcels, payments, couriers } = partners();
  const request = { key: 'r1', customer: 'alice', order: 'o1', amount: 500 };
  const [first, second] = [
    await payOrder(here.shop, payments, couriers, request),
    await payOrder(here.shop, payments, couriers, request),
  ];
  expect(first).toMatchObject({ outcome: 'committed', answer: { body: '{"charge":"charge-1","parcel":"parcel-1"}' } });
  expect(second).toMatchObject({ outcome: 'replayed', answer: first.answer });
  expect([charges.size, parcels.length]).toEqual([1, 1]);
  expect(await payOrder(here.shop, payments, couriers, { ...request, amount: 600 })).toMatchObject({
    outcome: 'mismatch',
  });
});

it('charges once though the answer of the provider was lost', async () => {
  const { charges, payments, couriers } = partners();
  const request = { key: 'r2', customer: 'alice', order: 'o2', amount: 500 };
  const lossy: Payments = {
    charge: async (amount, options) => {
      await payments.charge(amount, options);
      throw new Error('time-out');
    },
  };
  await expect(payOrder(here.shop, lossy, couriers, request)).rejects.toThrow('time-out');
  expect(await payOrder(here.shop, payments, couriers, request)).toMatchObject({ outcome: 'committed' });
  expect(charges.size).toBe(1);
});

it('asks whether the courier was booked, and goes on from what was found', async () => {
  const { charges, parcels, payments, couriers } = partners();
  const request = { key: 'r3', customer: 'alice', order: 'o3', amount: 500 };
  const lossy: Couriers = {
    book: async (order, options) => {
      await couriers.book(order, options);
      throw new Error('time-out');
    },
  };
  await expect(payOrder(here.shop, payments, lossy, request, () => start)).rejects.toThrow('time-out');
  expect(await payOrder(here.shop, payments, couriers, request, () => start)).toMatchObject({ outcome: 'unknown' });
  expect(parcels).toHaveLength(1);

  const unknown = await findUnknown(here.shop, callOf(request), { now: () => start });
  expect(unknown).toMatchObject({ point: 'courier', points: { charge: 'charge-1' } });
  if (unknown === undefined) return;
  // Somebody looked for the reference at the courier's.
  const done = parcels.includes(unknown.providerKey) ? 'parcel-1' : undefined;
  const decision = done === undefined ? 'retry' : { done };
  expect(await resolveUnknown(here.shop, callOf(request), unknown, decision, { now: () => start })).toBe('resolved');

  expect(await payOrder(here.shop, payments, couriers, request, () => start)).toMatchObject({ outcome: 'committed' });
  expect([charges.size, parcels.length]).toEqual([1, 1]);
  expect(await here.shop.of(PaidOrder).get({ id: 'o3' }).consistent().item()).toMatchObject({ parcel: 'parcel-1' });
});
