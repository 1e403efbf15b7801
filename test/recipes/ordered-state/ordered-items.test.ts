import { beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError, entity, integer, string, type EntityTable } from '../../../lib/commands/index.js';
import { EventTooLateError } from '../../../lib/recipes/ordered-state/event-too-late-error.js';
import { orderedItems } from '../../../lib/recipes/ordered-state/ordered-items.js';
import { fresh, testShop, twenty } from '../../support/recipe-shop.js';
import { Price, at } from './match.js';

const db = testShop();
let prices: EntityTable<typeof Price>;
beforeAll(() => {
  prices = db.shop.of(Price);
});
const stored = (sku: string) => prices.get({ sku }).consistent().item();
const price = (sku: string, n: number, cents = n) => ({ item: { sku, cents, at: at(n) } });
const gone = (sku: string, n: number) => ({ key: { sku }, deleted: at(n) });
const flag = 'deleted';

describe('whole state', () => {
  test('is applied, stored already, superseded or in conflict, for one request each', async () => {
    const [state, sku] = [orderedItems(prices, { version: 'at' }), fresh()];
    expect((await state.apply(price(sku, 2))).outcome).toBe('Applied');
    expect((await state.apply(price(sku, 2))).outcome).toBe('AlreadyStored');
    expect((await state.apply(price(sku, 1))).outcome).toBe('Superseded');
    expect((await state.apply(price(sku, 2, 9))).outcome).toBe('Conflict');
    expect((await state.apply({ item: { sku, at: at(3) } })).outcome).toBe('Applied');
    expect((await state.apply({ item: { sku, at: at(3), deleted: false } })).outcome).toBe('AlreadyStored');
    expect(db.operations()).toEqual(Array(6).fill('PutItem'));
    expect(await stored(sku)).toEqual({ sku, at: at(3), deleted: false });
  });

  test('of a lost response is stored once, and of 20 writers the newest', async () => {
    const [state, sku] = [orderedItems(prices, { version: 'at' }), fresh()];
    db.loseResponseOf('PutItem');
    expect((await state.apply(price(sku, 1))).outcome).toBe('AlreadyStored');
    await twenty((i) => state.apply(price(sku, ((i * 7) % 20) + 1)));
    expect(await stored(sku)).toMatchObject({ cents: 20 });
  });

  test('compares no member that a default makes anew', async () => {
    let calls = 0;
    const Made = entity('MADE', {
      pk: 'MADE#{id}',
      sk: 'MADE',
      attributes: { id: string(), seq: integer(), call: integer().default(() => (calls += 1)) },
    });
    const [state, id] = [orderedItems(db.shop.of(Made), { version: 'seq' }), fresh()];
    await state.apply({ item: { id, seq: 1 } });
    expect((await state.apply({ item: { id, seq: 1 } })).outcome).toBe('AlreadyStored');
    expect((await state.apply({ item: { id, seq: 1, call: 99 } })).outcome).toBe('Conflict');
  });
});

describe('a deletion of whole state', () => {
  test('keeps the version, and is undone by a newer event', async () => {
    const [state, sku] = [orderedItems(prices, { version: 'at', deletion: { flag, revives: true } }), fresh()];
    await state.apply(price(sku, 1));
    expect((await state.apply(gone(sku, 3))).outcome).toBe('Applied');
    expect(await stored(sku)).toEqual({ sku, at: at(3), deleted: true });
    expect((await state.apply(gone(sku, 3))).outcome).toBe('AlreadyStored');
    expect((await state.apply(gone(sku, 2))).outcome).toBe('Superseded');
    expect((await state.apply(price(sku, 2))).outcome).toBe('Superseded');
    expect((await state.apply(price(sku, 3))).outcome).toBe('Conflict');
    expect((await state.apply(price(sku, 4))).outcome).toBe('Applied');
    expect((await state.apply(gone(sku, 4))).outcome).toBe('Conflict');
    expect(await stored(sku)).toMatchObject({ cents: 4, deleted: false });
  });

  test('wins over every event where it is final', async () => {
    const [state, sku] = [orderedItems(prices, { version: 'at', deletion: { flag, revives: false } }), fresh()];
    await state.apply(price(sku, 5));
    expect((await state.apply(gone(sku, 3))).outcome).toBe('Applied');
    expect((await state.apply(price(sku, 6))).outcome).toBe('Superseded');
    expect((await state.apply(gone(sku, 4))).outcome).toBe('Applied');
    expect((await state.apply(gone(sku, 3))).outcome).toBe('Superseded');
    expect((await state.apply(gone(sku, 4))).outcome).toBe('AlreadyStored');
    expect(await stored(sku)).toEqual({ sku, at: at(4), deleted: true });
  });

  test('expires with the lateness that events may have', async () => {
    const state = orderedItems(prices, { version: 'at', deletion: { flag, revives: true, lateness: 60_000 } });
    const [sku, now] = [fresh(), new Date(Date.UTC(2026, 11, 1) + 100_000)];
    await state.apply(gone(sku, 90), { now });
    expect((await stored(sku))?.expiresAt).toEqual(new Date(now.getTime() + 60_000));
    await expect(state.apply(price(sku, 39), { now })).rejects.toThrow(EventTooLateError);
    expect((await state.apply(price(sku, 41), { now })).outcome).toBe('Superseded');
    await state.apply(price(sku, 95), { now });
    expect(await stored(sku)).not.toHaveProperty('expiresAt');
  });
});

test('refuses what the deletion sets, a missing version, and an item that could not be read', async () => {
  const state = orderedItems(prices, { version: 'at', deletion: { flag, revives: true, lateness: 1 } });
  const item = { sku: fresh(), at: at(1) };
  await expect(state.apply({ item: { ...item, deleted: true } })).rejects.toThrow(InvalidInputError);
  await expect(state.apply({ item: { ...item, expiresAt: new Date() } })).rejects.toThrow(InvalidInputError);
  await expect(state.apply({ item: { sku: item.sku } } as never)).rejects.toThrow('orders the events');
  // @ts-expect-error -- a timestamp, not a number
  await expect(state.apply({ key: { sku: item.sku }, deleted: 1 })).rejects.toThrow(InvalidInputError);
  await expect(state.apply({} as never)).rejects.toThrow('either');
  const Strict = entity('STRICT_ITEM', {
    pk: 'STRICT#{id}',
    sk: 'STRICT',
    attributes: { id: string(), text: string(), seq: integer(), deleted: integer().optional() },
  });
  const deletion = { flag: 'deleted', revives: true } as never;
  expect(() => orderedItems(db.shop.of(Strict), { version: 'seq', deletion })).toThrow('optional()');
  expect(db.operations()).toEqual([]);
});
