import { expect, test } from 'vitest';
import { testShop, twenty } from '../../test/support/recipe-shop.js';
import { Session, devicesOf, sessionOf, signIn, touch } from './sessions.js';

const db = testShop();
const at = (minutes: number) => new Date(Date.UTC(2026, 11, 1, 10, minutes));

test('a session that has ended is none, though its item is still there', async () => {
  await signIn(db.shop, 'alice', 's1', 'phone', at(0));
  await signIn(db.shop, 'alice', 's2', 'laptop', at(20));
  expect(await devicesOf(db.shop, 'alice', at(25))).toEqual(['phone', 'laptop']);
  expect(await touch(db.shop, 'alice', 's2', at(25))).toBe(true);

  expect(await sessionOf(db.shop, 'alice', 's1', at(31))).toBeUndefined();
  expect(await devicesOf(db.shop, 'alice', at(31))).toEqual(['laptop']);
  expect(await twenty(() => touch(db.shop, 'alice', 's1', at(31)))).not.toContain(true);
  expect(await db.shop.of(Session).get({ user: 'alice', id: 's1' }).consistent().item()).toBeDefined();
  expect(await sessionOf(db.shop, 'alice', 's2', at(54))).toMatchObject({ device: 'laptop' });
});
