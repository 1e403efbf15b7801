import { expect, test } from 'vitest';
import { toTimestamp } from '../../lib/commands/index.js';
import { testShop } from '../../test/support/recipe-shop.js';
import { LiveMatch, applyScore, liveMatches, standings } from './live-match.js';

const db = testShop();
const at = (seconds: number) => toTimestamp(new Date(Date.now() - 60_000 + seconds * 1000));

test('a late score never undoes a newer one, nor a status, nor a deletion', async () => {
  const [first, second, third] = [at(1), at(2), at(3)];
  const live = liveMatches(db.shop);
  const key = { id: 'm1' };
  expect(await applyScore(db.shop, { matchId: 'm1', home: 2, away: 1, at: second })).toBe('Applied');
  expect(await applyScore(db.shop, { matchId: 'm1', home: 2, away: 1, at: second })).toBe('AlreadyStored');
  expect(await applyScore(db.shop, { matchId: 'm1', home: 1, away: 1, at: first })).toBe('Superseded');
  expect(await applyScore(db.shop, { matchId: 'm1', home: 5, away: 5, at: second })).toBe('Conflict');
  expect((await live.apply({ key, groups: { status: { status: 'LIVE', statusAt: first } } })).outcome).toBe('Applied');
  const match = await db.shop.of(LiveMatch).get(key).consistent().item();
  expect(match).toMatchObject({ homeGoals: 2, awayGoals: 1, status: 'LIVE' });

  expect((await live.apply({ key, deleted: third })).outcome).toBe('Applied');
  expect(await applyScore(db.shop, { matchId: 'm1', home: 3, away: 1, at: at(2.5) })).toBe('Superseded');
  expect((await db.shop.of(LiveMatch).get(key).consistent().item())?.deleted).toBe(true);
  expect(await applyScore(db.shop, { matchId: 'm1', home: 0, away: 0, at: at(4) })).toBe('Applied');
});

test('a whole state replaces an older one', async () => {
  const state = standings(db.shop);
  const item = { league: 'A', team: 'Bern' };
  expect((await state.apply({ item: { ...item, points: 12, seq: 7 } })).outcome).toBe('Applied');
  expect((await state.apply({ item: { ...item, points: 9, seq: 6 } })).outcome).toBe('Superseded');
});
