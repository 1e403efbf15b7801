import { afterAll, beforeAll, expect, it } from 'vitest';
import { TransactionCanceledException } from '../../lib/commands/index.js';
import { outbox, type Outbox } from '../../lib/recipes/outbox/outbox.js';
import { recipeShop, rejection, type RecipeShop } from '../../test/support/recipe-shop.js';
import { pay, relayPayments } from './payments.js';

let here: RecipeShop;
let events: Outbox;
beforeAll(async () => {
  here = await recipeShop();
  events = outbox(here.shop, { source: 'shop.payments' });
});
afterAll(() => here.close());

it('tells of every payment that was made, and of no other', async () => {
  await pay(here.shop, events, 'p1', 500);
  const stopping = new AbortController();
  const told: string[] = [];
  const relaying = relayPayments(
    events,
    (line) => {
      told.push(line);
      if (told.length === 2) stopping.abort();
    },
    stopping.signal,
    5,
  );
  expect(await rejection(pay(here.shop, events, 'p1', 700))).toBeInstanceOf(TransactionCanceledException);
  await pay(here.shop, events, 'p2', 300);
  await relaying;
  expect(told).toEqual([
    expect.stringMatching(/^Paid: payment:p1, event [\da-f-]{36}$/),
    expect.stringMatching(/^Paid: payment:p2, event [\da-f-]{36}$/),
  ]);
});
