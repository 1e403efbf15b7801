import { afterAll, beforeAll, expect, it } from 'vitest';
import { recipeShop, type RecipeShop } from '../../test/support/recipe-shop.js';
import { Invoice, invoicing } from './invoices.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

it('issues invoices without a gap, and one per order', async () => {
  const issue = invoicing(here.shop, 2026);
  const orders = ['a', 'b', 'c', 'a', 'b', 'd'];
  expect(await Promise.all(orders.map((order) => issue(order, 500)))).toEqual([1, 2, 3, 1, 2, 4]);
  expect(await here.shop.of(Invoice).get({ order: 'd' }).consistent().item()).toMatchObject({
    number: 4,
    reference: '2026-000004',
  });
});
