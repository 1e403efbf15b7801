import { afterAll, beforeAll } from 'vitest';
import type { Table } from '../../lib/commands/index.js';
import { recipeShop, type RecipeShop } from '../support/recipe-shop.js';
import { witness } from './hostile-values.js';

/** A table for the tests of a file, which must say nothing of the secret. */
export const hostileShop = (): { readonly shop: Table } => {
  let here: RecipeShop;
  let heard: ReturnType<typeof witness>;
  beforeAll(async () => {
    here = await recipeShop();
    heard = witness();
  });
  afterAll(async () => {
    heard.expectNoSecret();
    heard.stop();
    await here.close();
  });
  return {
    get shop() {
      return here.shop;
    },
  };
};
