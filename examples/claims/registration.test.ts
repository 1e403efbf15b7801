import { expect, test } from 'vitest';
import { testShop } from '../../test/support/recipe-shop.js';
import { Registrant, register, registrants } from './registration.js';

const db = testShop();

test('a registration takes its values, and a change gives the old one back', async () => {
  const bob = { id: 'bob', email: 'bob@example.ch', handle: 'bobby' };
  expect(await register(db.shop, bob)).toBe('Done');
  expect(await register(db.shop, bob)).toBe('Done');
  expect(await register(db.shop, { id: 'eve', email: 'Bob@Example.ch', handle: 'eve' })).toBe('EmailTaken');
  expect(await register(db.shop, { id: 'eve', email: 'eve@example.ch', handle: 'Bobby' })).toBe('HandleTaken');
  expect(await register(db.shop, { ...bob, email: 'robert@example.ch' })).toBe('IdTaken');

  const users = registrants(db.shop);
  const values = { from: 'bob@example.ch', to: 'bob@example.org' };
  expect(await users.change({ id: 'bob' }, 'email', values)).toBe('Changed');
  expect(await users.change({ id: 'bob' }, 'email', values)).toBe('AlreadyChanged');
  expect(await register(db.shop, { id: 'eve', email: 'bob@example.ch', handle: 'eve' })).toBe('Done');
  expect(await users.remove({ id: 'bob' })).toBe('Removed');
  expect(await db.shop.of(Registrant).get({ id: 'bob' }).consistent().item()).toBeUndefined();
});
