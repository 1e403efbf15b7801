import { afterAll, beforeAll, expect, it } from 'vitest';
import { TransactionCanceledException } from '../../lib/commands/index.js';
import { Locks } from '../../lib/recipes/lock/locks.js';
import { recipeShop, rejection, type RecipeShop } from '../../test/support/recipe-shop.js';
import { Report, writeReport } from './nightly-report.js';

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

it('writes a report in one process at a time', async () => {
  const locks = new Locks(here.shop);
  const outcome = await writeReport(here.shop, locks, '2026-12-01', async () => {
    expect(await writeReport(here.shop, locks, '2026-12-01', () => Promise.resolve(0))).toBe(false);
    return 7;
  });
  expect(outcome).toBe(true);
  expect(await here.shop.of(Report).get({ day: '2026-12-01' }).consistent().item()).toMatchObject({ total: 7 });
});

it('stores nothing of a process that was paused until another took over', async () => {
  let now = Date.UTC(2026, 11, 1);
  const locks = new Locks(here.shop, { clock: () => now });
  const paused = writeReport(here.shop, locks, '2026-12-02', async () => {
    now += 60_000;
    expect(await writeReport(here.shop, locks, '2026-12-02', () => Promise.resolve(8))).toBe(true);
    return 1;
  });
  expect(await rejection(paused)).toBeInstanceOf(TransactionCanceledException);
  expect(await here.shop.of(Report).get({ day: '2026-12-02' }).consistent().item()).toMatchObject({ total: 8 });
});
