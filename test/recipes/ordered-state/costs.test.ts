import { expect, test } from 'vitest';
import { orderedGroups } from '../../../lib/recipes/ordered-state/ordered-groups.js';
import { orderedItems } from '../../../lib/recipes/ordered-state/ordered-items.js';
import { embedded } from '../../support/dynamodb.js';
import { fresh, testShop } from '../../support/recipe-shop.js';
import { Match, Price, at, deletion, gone, groups, score, status } from './match.js';

const db = testShop();

test.runIf(embedded)('an event costs a write unit per KB of its item, whatever its outcome', async () => {
  const live = orderedGroups(db.shop.of(Match), { groups, deletion: { ...deletion, revives: true } });
  const id = fresh();
  await live.apply(status(id, 2, 'x'.repeat(1500)));
  for (const event of [score(id, 2), score(id, 2), score(id, 1), score(id, 2, 9)]) await live.apply(event);
  expect(db.writeUnits()).toEqual([2, 2, 2, 2, 2]);
  await live.apply(score(id, 5));
  db.writeUnits();
  await live.apply(gone(id, 4));
  expect(db.writeUnits()).toEqual([2, 2]);

  const prices = orderedItems(db.shop.of(Price), { version: 'at' });
  for (const n of [2, 2, 1]) await prices.apply({ item: { sku: id, cents: n, at: at(n) } });
  expect(db.writeUnits()).toEqual([1, 1, 1]);
});
