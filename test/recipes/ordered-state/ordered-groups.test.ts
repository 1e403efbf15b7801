import { beforeAll, describe, expect, test } from 'vitest';
import {
  InvalidInputError,
  bigint,
  entity,
  string,
  timestamp,
  toTimestamp,
  version,
  type EntityTable,
} from '../../../lib/commands/index.js';
import { EventTooLateError } from '../../../lib/recipes/ordered-state/event-too-late-error.js';
import { orderedGroups } from '../../../lib/recipes/ordered-state/ordered-groups.js';
import { fresh, testShop, twenty } from '../../support/recipe-shop.js';
import { Match, deletion, gone, groups, score, status } from './match.js';

const db = testShop();
let matches: EntityTable<typeof Match>;
beforeAll(() => {
  matches = db.shop.of(Match);
});
const stored = (id: string) => matches.get({ id }).consistent().item();
const plain = () => orderedGroups(matches, { groups });
const each = () => orderedGroups(matches, { groups, several: 'each' });
const revivable = () => orderedGroups(matches, { groups, deletion: { ...deletion, revives: true }, several: 'each' });
const final = () => orderedGroups(matches, { groups, deletion: { ...deletion, revives: false } });

describe('an event of one group', () => {
  test('is applied, stored already, superseded or in conflict, for one request each', async () => {
    const [live, id] = [plain(), fresh()];
    expect(await live.apply(score(id, 2))).toEqual({
      outcome: 'Applied',
      groups: { score: 'Applied' },
      item: undefined,
    });
    expect((await live.apply(score(id, 2))).outcome).toBe('AlreadyStored');
    expect((await live.apply(score(id, 1))).outcome).toBe('Superseded');
    expect((await live.apply(score(id, 2, 9))).outcome).toBe('Conflict');
    expect((await live.apply(status(id, 1))).outcome).toBe('Applied');
    expect((await live.apply(score(id, 3))).outcome).toBe('Applied');
    expect(db.operations()).toEqual(Array(6).fill('UpdateItem'));
    expect(await stored(id)).toEqual({
      ...{ id, homeGoals: 3, scorers: new Set(['p3']), scoreSeq: 3 },
      ...{ status: 's1', statusSeq: 1 },
    });
  });

  test('of a second delivery and a lost response is stored once', async () => {
    const [live, id] = [plain(), fresh()];
    db.loseResponseOf('UpdateItem');
    expect((await live.apply(score(id, 1))).outcome).toBe('AlreadyStored');
    expect(db.operations()).toEqual(['UpdateItem', 'UpdateItem']);
    expect(await stored(id)).toMatchObject({ homeGoals: 1, scoreSeq: 1 });
  });

  test('from 20 writers at once ends at the newest', async () => {
    const [live, id] = [plain(), fresh()];
    const results = await twenty((i) => live.apply(score(id, ((i * 7) % 20) + 1)));
    expect((await stored(id))?.scoreSeq).toBe(20);
    expect(results.every(({ outcome }) => outcome === 'Applied' || outcome === 'Superseded')).toBe(true);
  });

  test('replaces the whole group: an optional field is removed, an empty set too', async () => {
    const [live, id] = [plain(), fresh()];
    await live.apply({ key: { id }, groups: { status: { status: 'a', note: 'n', statusSeq: 1 } } });
    await live.apply({ key: { id }, groups: { status: { status: 'b', note: undefined, statusSeq: 2 } } });
    await live.apply({ key: { id }, groups: { score: { homeGoals: 0, scorers: new Set(), scoreSeq: 1 } } });
    expect(await stored(id)).toEqual({ id, status: 'b', statusSeq: 2, homeGoals: 0, scorers: new Set(), scoreSeq: 1 });
    const again = { key: { id }, groups: { score: { homeGoals: 0, scorers: new Set<string>(), scoreSeq: 1 } } };
    expect((await live.apply(again)).outcome).toBe('AlreadyStored');
  });
});

describe('an event of several groups', () => {
  const both = (id: string, seq: number) => ({
    key: { id },
    groups: { ...score(id, seq).groups, ...status(id, seq).groups },
  });

  test('writes all or nothing: a newer group blocks the others', async () => {
    const [live, id] = [plain(), fresh()];
    await live.apply(score(id, 5));
    expect(await live.apply(both(id, 4))).toMatchObject({
      outcome: 'Superseded',
      groups: { score: 'Superseded', status: 'Blocked' },
    });
    expect((await stored(id))?.status).toBeUndefined();
    expect((await live.apply(both(id, 6))).groups).toEqual({ score: 'Applied', status: 'Applied' });
    expect((await live.apply(both(id, 6))).outcome).toBe('AlreadyStored');
  });

  test('writes each on its own merits where asked', async () => {
    const [live, id] = [each(), fresh()];
    await live.apply(score(id, 5));
    db.operations();
    expect(await live.apply(both(id, 4))).toMatchObject({
      outcome: 'Applied',
      groups: { score: 'Superseded', status: 'Applied' },
    });
    expect(db.operations()).toEqual(['UpdateItem', 'UpdateItem']);
    expect(await stored(id)).toMatchObject({ scoreSeq: 5, status: 's4' });
  });
});

describe('a deletion that a newer event undoes', () => {
  test('clears older groups, blocks late events, and is undone by newer ones', async () => {
    const [live, id] = [revivable(), fresh()];
    await live.apply(status(id, 1));
    expect((await live.apply(gone(id, 3))).outcome).toBe('Applied');
    expect(await stored(id)).toEqual({ id, homeGoals: 0, scorers: new Set(), deleted: true, deletedSeq: 3 });
    expect((await live.apply(gone(id, 3))).outcome).toBe('AlreadyStored');
    expect((await live.apply(gone(id, 2))).outcome).toBe('Superseded');
    expect((await live.apply(score(id, 2))).outcome).toBe('Superseded');
    expect((await live.apply(score(id, 3))).outcome).toBe('Conflict');
    expect((await live.apply(score(id, 4))).outcome).toBe('Applied');
    expect((await live.apply(status(id, 2))).outcome).toBe('Superseded');
    expect(await stored(id)).toEqual({ id, homeGoals: 4, scorers: new Set(['p4']), scoreSeq: 4, deletedSeq: 3 });
  });

  test('that comes late clears only what is older', async () => {
    const [live, id] = [revivable(), fresh()];
    await live.apply(status(id, 1));
    await live.apply(score(id, 4));
    db.operations();
    expect((await live.apply(gone(id, 3))).outcome).toBe('Applied');
    expect(db.operations()).toEqual(['UpdateItem', 'UpdateItem']);
    expect(await stored(id)).toEqual({ id, homeGoals: 4, scorers: new Set(['p4']), scoreSeq: 4, deletedSeq: 3 });
    expect((await live.apply(gone(id, 4))).outcome).toBe('Conflict');
  });

  test('starts over where a group grew or went in between', async () => {
    const [live, id] = [revivable(), fresh()];
    await live.apply(score(id, 4));
    db.afterNext('UpdateItem', async () => {
      await live.apply(status(id, 5));
    });
    expect((await live.apply(gone(id, 3))).outcome).toBe('Applied');
    expect(await stored(id)).toMatchObject({ scoreSeq: 4, statusSeq: 5, deletedSeq: 3 });
    await live.apply(score(id, 9));
    db.afterNext('UpdateItem', async () => {
      await matches.delete({ id });
    });
    expect((await live.apply(gone(id, 8))).outcome).toBe('Applied');
    expect(await stored(id)).toMatchObject({ deleted: true, deletedSeq: 8 });
  });
});

describe('a final deletion', () => {
  test('wins over every event, in any order', async () => {
    const [live, id] = [final(), fresh()];
    await live.apply(score(id, 5));
    expect((await live.apply(gone(id, 3))).outcome).toBe('Applied');
    expect((await live.apply(score(id, 6))).outcome).toBe('Superseded');
    expect((await live.apply(gone(id, 4))).outcome).toBe('Applied');
    expect((await live.apply(gone(id, 3))).outcome).toBe('Superseded');
    expect(await stored(id)).toEqual({ id, homeGoals: 0, scorers: new Set(), deleted: true, deletedSeq: 4 });
  });
});

describe('lateness', () => {
  const hour = 3_600_000;
  const now = new Date('2026-12-01T12:00:00Z');
  const kept = () => orderedGroups(matches, { groups, deletion: { ...deletion, revives: true, lateness: hour } });
  const ago = (hours: number) => new Date(now.getTime() - hours * hour);

  test('bounds how long a deleted item is kept, and how late an event may be', async () => {
    const [live, id] = [kept(), fresh()];
    await live.apply({ ...gone(id, 5), occurredAt: ago(0.5) }, { now });
    expect(await stored(id)).toMatchObject({ deleted: true, expiresAt: new Date(now.getTime() + hour) });
    await live.apply({ ...gone(id, 6), occurredAt: ago(-1) }, { now });
    expect((await stored(id))?.expiresAt).toEqual(new Date(now.getTime() + 2 * hour));
    db.operations();
    await expect(live.apply({ ...score(id, 4), occurredAt: ago(1.1) }, { now })).rejects.toThrow(EventTooLateError);
    await expect(live.apply({ ...gone(id, 4), occurredAt: ago(1.1) }, { now })).rejects.toThrow(EventTooLateError);
    await expect(live.apply(score(id, 4), { now })).rejects.toThrow('say when the event occurred');
    expect(db.operations()).toEqual([]);
    expect((await live.apply({ ...score(id, 4), occurredAt: ago(0.9) }, { now })).outcome).toBe('Superseded');
    await live.apply({ ...score(id, 7), occurredAt: ago(0) }, { now });
    expect(await stored(id)).toMatchObject({ homeGoals: 7, deletedSeq: 6 });
    expect(await stored(id)).not.toHaveProperty('expiresAt');
    expect(await stored(id)).not.toHaveProperty('deleted');
  });

  test('is told from a timestamp', async () => {
    const Timed = entity('TIMED', {
      pk: 'TIMED#{id}',
      sk: 'TIMED',
      attributes: { id: string(), text: string().optional(), at: timestamp().optional() },
    });
    const state = orderedGroups(db.shop.of(Timed), { groups: { text: { version: 'at', fields: ['text'] } } });
    const id = fresh();
    const event = (time: string) => ({ key: { id }, groups: { text: { text: time, at: toTimestamp(time) } } });
    expect((await state.apply(event('2026-12-01T00:00:00.000000002Z'))).outcome).toBe('Applied');
    expect((await state.apply(event('2026-12-01T00:00:00.000000001Z'))).outcome).toBe('Superseded');
    expect((await state.apply(event('2026-12-01T01:00:00.000000002+01:00'))).outcome).toBe('Conflict');
    expect((await state.apply(event('2026-12-01T00:00:00.000000003Z'))).outcome).toBe('Applied');
  });
});

test('sequences beyond 2^53 compare as integers', async () => {
  const Big = entity('BIG', {
    pk: 'BIG#{id}',
    sk: 'BIG',
    attributes: { id: string(), text: string().optional(), offset: bigint().optional() },
  });
  const state = orderedGroups(db.shop.of(Big), { groups: { text: { version: 'offset', fields: ['text'] } } });
  const id = fresh();
  const event = (offset: bigint) => ({ key: { id }, groups: { text: { text: 'x', offset } } });
  expect((await state.apply(event(18_890_000_000_000_000_002n))).outcome).toBe('Applied');
  expect((await state.apply(event(18_890_000_000_000_000_001n))).outcome).toBe('Superseded');
  expect((await state.apply(event(9n))).outcome).toBe('Superseded');
  expect((await state.apply(event(18_890_000_000_000_000_002n))).outcome).toBe('AlreadyStored');
});

describe('refuses, before anything is sent,', () => {
  test('an event that does not replace its whole group', async () => {
    const [live, key] = [plain(), { id: fresh() }];
    // @ts-expect-error -- a field is missing
    await expect(live.apply({ key, groups: { score: { homeGoals: 1, scoreSeq: 1 } } })).rejects.toThrow('scorers');
    await expect(
      // @ts-expect-error -- the version is missing
      live.apply({ key, groups: { score: { homeGoals: 1, scorers: new Set(['a']) } } }),
    ).rejects.toThrow('scoreSeq');
    await expect(
      // @ts-expect-error -- only an optional field may be undefined
      live.apply({ key, groups: { score: { homeGoals: undefined, scorers: new Set(['a']), scoreSeq: 1 } } }),
    ).rejects.toThrow('homeGoals');
    await expect(
      live.apply({ key, groups: { score: { ...score('', 1).groups.score, status: 'x' } } } as never),
    ).rejects.toThrow('takes its fields');
    await expect(live.apply({ key, groups: { other: {} } } as never)).rejects.toThrow('no group');
    await expect(live.apply({ key, groups: {} })).rejects.toThrow('at least one');
    // @ts-expect-error -- this state has no deletion
    await expect(live.apply({ key, deleted: 1 })).rejects.toThrow('no deletion');
    await expect(live.apply({ key } as never)).rejects.toThrow('either');
    expect(db.operations()).toEqual([]);
  });

  test('groups that an item could not be read with, or that overlap', () => {
    const Strict = entity('STRICT', {
      pk: 'STRICT#{id}',
      sk: 'STRICT',
      attributes: {
        id: string(),
        text: string(),
        seq: bigint(),
        other: string().optional(),
        time: timestamp().optional(),
      },
    });
    const strict = db.shop.of(Strict);
    const text = { version: 'seq', fields: ['text'] } as const;
    expect(() => orderedGroups(strict, { groups: { text } })).not.toThrow();
    expect(() => orderedGroups(strict, { groups: { text, other: { version: 'time', fields: ['other'] } } })).toThrow(
      'optional()',
    );
    expect(() => orderedGroups(strict, { groups: { text: { version: 'seq', fields: ['text', 'text'] } } })).toThrow(
      'two groups',
    );
    // @ts-expect-error -- text has no order of versions
    expect(() => orderedGroups(strict, { groups: { text: { version: 'other', fields: ['text'] } } })).toThrow();
    // @ts-expect-error -- the key can not change
    expect(() => orderedGroups(strict, { groups: { text: { version: 'seq', fields: ['id'] } } })).toThrow('key');
    expect(() =>
      orderedGroups(matches, { groups, deletion: { ...deletion, flag: 'status', revives: true } as never }),
    ).toThrow('two groups');
    expect(() => orderedGroups(matches, { groups, deletion: { ...deletion, revives: true, lateness: 0 } })).toThrow(
      'lateness',
    );
    const Versioned = entity('VERSIONED', {
      pk: 'VERSIONED#{id}',
      sk: 'V',
      attributes: { id: string(), text: string(), seq: bigint(), revision: version() },
    });
    expect(() => orderedGroups(db.shop.of(Versioned) as never, { groups: { text } } as never)).toThrow(
      InvalidInputError,
    );
  });

  test('text of no fixed width as a version, by no type', async () => {
    const Text = entity('TEXT', {
      pk: 'TEXT#{id}',
      sk: 'TEXT',
      attributes: { id: string(), text: string().optional(), seq: string().optional() },
    });
    const state = orderedGroups(db.shop.of(Text), { groups: { text: { version: 'seq', fields: ['text'] } } } as never);
    await expect(state.apply({ key: { id: 'a' }, groups: { text: { text: 'x', seq: '10' } } })).rejects.toThrow(
      'expected a version',
    );
  });
});
