import { afterAll, beforeAll, expect, it } from 'vitest';
import { recipeShop, type RecipeShop } from '../../test/support/recipe-shop.js';
import { claimBlock, orderNumbers } from './hi-lo-block.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

it('claims blocks that follow each other', async () => {
  expect(await claimBlock(here.shop, 'orders', 100)).toEqual({ first: 1, last: 100 });
  expect(await claimBlock(here.shop, 'orders', 50)).toEqual({ first: 101, last: 150 });
});

it('hands out order numbers that two processes share', async () => {
  const [one, two] = [orderNumbers(here.shop), orderNumbers(here.shop)];
  const numbers = [await one.next(), await two.next(), await one.next(), await two.next()];
  expect(numbers).toEqual([1, 101, 2, 102]);
});
