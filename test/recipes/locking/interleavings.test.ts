import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InvalidInputError, entity, integer, string, version } from '../../../lib/commands/index.js';
import { readModifyUpdate, readModifyWrite } from '../../../lib/recipes/locking/read-modify-write.js';
import { fresh, recipeShop, rejection, type RecipeShop } from '../../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

const writer = fc.record({
  by: fc.integer({ min: -9, max: 9 }),
  byUpdate: fc.boolean(),
  /** What its requests meet, one after another; the client sends each again. */
  faults: fc.array(fc.constantFrom<boolean | 'before'>(false, true, 'before'), { maxLength: 4 }),
});

it('applies each change once, whatever the interleaving, the lost responses and the failures', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(writer, { minLength: 1, maxLength: 8 }), async (writers) => {
      const id = fresh();
      await here.shop.of(Account).put({ id, balance: 0 });
      await Promise.all(
        writers.map(({ by, byUpdate, faults }) => {
          let sent = 0;
          const accounts = here.faulty(() => faults[sent++] ?? false, 6).of(Account);
          return byUpdate
            ? readModifyUpdate(accounts, { id }, ({ balance }, update) => update.set({ balance: balance + by }), {
                maxAttempts: 100,
              })
            : readModifyWrite(accounts, { id }, (item) => ({ ...item, balance: item.balance + by }), {
                maxAttempts: 100,
              });
        }),
      );
      expect(await here.shop.of(Account).get({ id }).consistent().item()).toEqual({
        id,
        balance: writers.reduce((sum, { by }) => sum + by, 0),
        revision: 1 + writers.length,
      });
    }),
    { numRuns: 15 },
  );
});

it('changes the item again where a call is made again', async () => {
  const id = fresh();
  const accounts = here.shop.of(Account);
  await accounts.put({ id, balance: 0 });
  const deposit = () => readModifyWrite(accounts, { id }, (item) => ({ ...item, balance: item.balance + 1 }));
  await deposit();
  expect(await deposit()).toMatchObject({ balance: 2 });
});

it('refuses the copy of another item, whose version says nothing about this one', async () => {
  const accounts = here.shop.of(Account);
  const [id, other] = [fresh(), fresh()];
  await accounts.put({ id, balance: 1 });
  const first = { id: other, balance: 500, revision: 1 };
  const update = readModifyUpdate(accounts, { id }, (item, update) => update.set({ balance: item.balance }), { first });
  expect(await rejection(update)).toBeInstanceOf(InvalidInputError);
  expect(await rejection(readModifyWrite(accounts, { id }, (item) => item, { first }))).toBeInstanceOf(
    InvalidInputError,
  );
  expect(await accounts.get({ id }).consistent().item()).toMatchObject({ balance: 1 });
});
