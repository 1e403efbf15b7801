import { afterAll, beforeAll, expect, it } from 'vitest';
import { recipeShop, type RecipeShop } from '../../test/support/recipe-shop.js';
import { DailyTally, countSignup, tally } from './daily-tally.js';
import { countView } from './page-views.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

it('counts page views', async () => {
  expect(await countView(here.shop, '/home')).toBe(1);
  expect(await countView(here.shop, '/home')).toBe(2);
});

it('tallies a request once a day', async () => {
  const at = new Date('2026-12-01T23:59:59Z');
  expect(await tally(here.shop, 'signups', 'request-1', at)).toBe(true);
  expect(await tally(here.shop, 'signups', 'request-1', at)).toBe(false);
  const key = { name: 'signups', day: '2026-12-01' };
  expect(await here.shop.of(DailyTally).get(key).consistent().item()).toMatchObject({ count: 1 });
});

it('counts a signup once', async () => {
  const at = new Date();
  expect(await countSignup(here.shop, 'request-1', at)).toBe('Counted');
  expect(await countSignup(here.shop, 'request-1', at)).toBe('AlreadyCounted');
});
