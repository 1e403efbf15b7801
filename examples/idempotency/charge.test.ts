import { afterAll, beforeAll, expect, it } from 'vitest';
import { loseFirst, recipeShop, twenty, type RecipeShop } from '../../test/support/recipe-shop.js';
import { Credit, charge } from './charge.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const creditOf = async (customer: string) => (await here.shop.of(Credit).get({ customer }).consistent().item())?.cents;

it('charges once, however often the client asks and whatever response is lost', async () => {
  await here.shop.of(Credit).put({ customer: 'alice', cents: 1000 });
  const request = { idempotencyKey: 'k1', customer: 'alice', chargeId: 'c1', cents: 700 };
  const first = await charge(here.faulty(loseFirst('TransactWriteItems')), request);
  expect(first).toMatchObject({ answer: { status: 201, body: '{"charge":"c1"}' } });
  const repeats = await twenty(() => charge(here.shop, request));
  for (const repeat of repeats) expect(repeat).toEqual({ outcome: 'replayed', replayed: true, answer: first.answer });
  expect(await creditOf('alice')).toBe(300);
  expect(await charge(here.shop, { ...request, cents: 1 })).toEqual({ outcome: 'mismatch', replayed: false });
});

it('answers a refusal again as it was, though there is enough by now', async () => {
  await here.shop.of(Credit).put({ customer: 'bob', cents: 100 });
  const request = { idempotencyKey: 'k2', customer: 'bob', chargeId: 'c2', cents: 700 };
  expect(await charge(here.shop, request)).toMatchObject({ outcome: 'refused', answer: { status: 402 } });
  await here.shop.of(Credit).put({ customer: 'bob', cents: 1000 });
  expect(await charge(here.shop, request)).toMatchObject({ outcome: 'replayed', answer: { status: 402 } });
  expect(await charge(here.shop, { ...request, idempotencyKey: 'k3' })).toMatchObject({ answer: { status: 201 } });
  expect(await creditOf('bob')).toBe(300);
});

it('never spends what is not there, by 20 charges at once', async () => {
  await here.shop.of(Credit).put({ customer: 'eve', cents: 500 });
  const outcomes = await twenty((i) =>
    charge(here.shop, { idempotencyKey: `k${i}`, customer: 'eve', chargeId: `e${i}`, cents: 100 }),
  );
  const charged = outcomes.filter(({ answer }) => answer?.status === 201);
  expect(await creditOf('eve')).toBe(500 - 100 * charged.length);
  expect(charged.length).toBeLessThanOrEqual(5);
  expect(charged.length).toBeGreaterThan(0);
});
