import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { entity, string, timeToLive, type EntityTable } from '../../../lib/commands/index.js';
import { isLive, live, liveItem } from '../../../lib/recipes/time-to-live/live.js';
import { fresh, testShop, twenty } from '../../support/recipe-shop.js';

const Session = entity('SESSION', {
  pk: 'USER#{user}',
  sk: 'SESSION#{id}',
  attributes: { user: string(), id: string(), expiresAt: timeToLive().optional() },
});
const Forever = entity('FOREVER', { pk: 'FOREVER#{id}', sk: 'F', attributes: { id: string() } });

const db = testShop();
let sessions: EntityTable<typeof Session>;
beforeAll(() => {
  sessions = db.shop.of(Session);
});
const now = new Date('2026-12-01T00:00:00.500Z');
const inSeconds = (seconds: number) => new Date(Date.UTC(2026, 11, 1) + seconds * 1000);

describe('live', () => {
  test('filters expired items from a query, and asks one second rule of all', async () => {
    const user = fresh();
    const all = { past: inSeconds(0), current: inSeconds(1), later: inSeconds(60), never: undefined };
    for (const [id, expiresAt] of Object.entries(all)) await sessions.put({ user, id, expiresAt });
    const found = await sessions.query({ user }).filter(live(Session, now)).all();
    expect(found.map(({ id }) => id)).toEqual(['current', 'later', 'never']);
    const read = await sessions.query({ user }).all();
    expect(read).toHaveLength(4);
    expect(read.filter((item) => isLive(Session, item, now))).toEqual(found);
  });

  test('gives an expired item of a get as none', async () => {
    const key = { user: fresh(), id: 'a' };
    await sessions.put({ ...key, expiresAt: inSeconds(10) });
    const item = await sessions.get(key).item();
    expect(liveItem(Session, item, inSeconds(10))).toEqual(item);
    expect(liveItem(Session, item, new Date(inSeconds(10).getTime() + 1))).toBeUndefined();
    expect(liveItem(Session, undefined, now)).toBeUndefined();
    expect(liveItem(Session, { ...key, expiresAt: new Date(0) })).toBeUndefined();
    expect(liveItem(Session, key)).toEqual(key);
  });

  test('holds a write to it, and its negation lets one of 20 take an expired item over', async () => {
    const key = { user: fresh(), id: 'a' };
    await sessions.put({ ...key, expiresAt: inSeconds(10) });
    const extend = (to: Date, at: Date) =>
      sessions.update(key).set({ expiresAt: to }).ifExists().if(live(Session, at)).trySend();
    expect(await extend(inSeconds(20), inSeconds(10))).toEqual({ conditionMet: true });
    expect(await extend(inSeconds(90), inSeconds(21))).toEqual({ conditionMet: false });
    const taken = await twenty(() =>
      sessions
        .put({ ...key, expiresAt: inSeconds(60) })
        .if(live(Session, inSeconds(30)).negate())
        .trySend(),
    );
    expect(taken.filter(({ conditionMet }) => conditionMet)).toHaveLength(1);
    db.loseResponseOf('UpdateItem');
    expect(await extend(inSeconds(70), inSeconds(40))).toEqual({ conditionMet: true });
    expect((await sessions.get(key).item())?.expiresAt).toEqual(inSeconds(70));
  });

  test('says of any item what its condition says', async () => {
    const key = { user: fresh(), id: 'a' };
    const milliseconds = fc.integer({ min: 0, max: 5000 });
    await fc.assert(
      fc.asyncProperty(milliseconds, milliseconds, async (expiry, time) => {
        await sessions.put({ ...key, expiresAt: inSeconds(expiry / 1000) });
        const item = await sessions.get(key).item();
        const at = inSeconds(time / 1000);
        const { conditionMet } = await sessions.update(key).set({ expiresAt: at }).if(live(Session, at)).trySend();
        expect(isLive(Session, item!, at)).toBe(conditionMet);
        // Never early: an expiry is kept to the second after it.
        if (time <= expiry) expect(conditionMet).toBe(true);
      }),
    );
  });

  test('refuses an entity without time to live', () => {
    expect(() => live(Forever)).toThrow('has no timeToLive()');
    expect(() => isLive(Forever, { id: 'a' })).toThrow('has no timeToLive()');
  });
});
