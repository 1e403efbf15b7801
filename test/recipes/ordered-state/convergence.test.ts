import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EntityTable } from '../../../lib/commands/index.js';
import { coalesce } from '../../../lib/recipes/ordered-state/coalesce.js';
import { orderedGroups } from '../../../lib/recipes/ordered-state/ordered-groups.js';
import { orderedItems } from '../../../lib/recipes/ordered-state/ordered-items.js';
import type { OrderedState } from '../../../lib/recipes/ordered-state/outcome.js';
import { fresh, testShop } from '../../support/recipe-shop.js';
import { Match, Price, at, deletion, gone, groups, score, status } from './match.js';

const db = testShop();
let matches: EntityTable<typeof Match>;
let prices: EntityTable<typeof Price>;
beforeAll(() => {
  matches = db.shop.of(Match);
  prices = db.shop.of(Price);
});

/** What the producer said, one event a version, and the order and multiplicity of its arrival, some of it at once. */
const history = (kinds: readonly string[]) =>
  fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 8 }).chain((produced) =>
    fc.record({
      produced: fc.constant(produced),
      arrivals: fc
        .tuple(
          fc.shuffledSubarray(
            produced.map((_, i) => i + 1),
            { minLength: produced.length },
          ),
          fc.array(fc.nat({ max: produced.length - 1 }), { maxLength: 5 }),
        )
        .map(([all, repeated]) => [...all, ...repeated.map((i) => i + 1)])
        .chain((list) => fc.shuffledSubarray(list, { minLength: list.length })),
      size: fc.integer({ min: 1, max: 4 }),
    }),
  );

const batches = <T>(list: readonly T[], size: number): T[][] =>
  list.length === 0 ? [] : [list.slice(0, size), ...batches(list.slice(size), size)];

/** The newest version of each kind; zero where there is none. */
const newest = (produced: readonly string[], ...kinds: string[]): number =>
  produced.reduce((last, kind, i) => (kinds.includes(kind) ? i + 1 : last), 0);

/** Applies batches as an ingest does: the newest of each lane, the others by its result. */
const ingest = async <Ev, I, G extends string>(state: OrderedState<Ev, I, G>, list: readonly Ev[]) => {
  for (const { candidates } of coalesce(state, list)) {
    const [winner, ...losers] = candidates;
    const result = await state.apply(winner!.event);
    const undecided: Ev[] = [];
    for (const { event } of losers) {
      const settled = state.settle(event, winner!.event, result);
      // What was settled without a request is what a request would have found.
      if (settled === undefined) undecided.push(event);
      else expect((await state.apply(event)).outcome).toBe(settled);
    }
    for (const event of undecided) await state.apply(event);
  }
};

const matchEvent = (id: string, kind: string, seq: number) => {
  if (kind === 'gone') return gone(id, seq);
  if (kind === 'score') return score(id, seq);
  if (kind === 'status') return status(id, seq);
  return { key: { id }, groups: { ...score(id, seq).groups, ...status(id, seq).groups } };
};
const plainEvent = (id: string, kind: string, seq: number) => (kind === 'score' ? score(id, seq) : status(id, seq));

const expectedMatch = (produced: readonly string[], revives: boolean | undefined) => {
  const deleted = newest(produced, 'gone');
  const last = (kind: string) => {
    const seq = newest(produced, kind, 'both');
    return deleted > 0 && (revives === false || seq < deleted) ? 0 : seq;
  };
  const [scored, stated] = [last('score'), last('status')];
  return {
    homeGoals: scored,
    scorers: new Set(scored > 0 ? [`p${scored}`] : []),
    ...(scored > 0 && { scoreSeq: scored }),
    ...(stated > 0 && { status: `s${stated}`, statusSeq: stated }),
    ...(deleted > 0 && { deletedSeq: deleted }),
    ...(deleted > 0 && scored === 0 && stated === 0 && { deleted: true }),
  };
};

describe('any order and multiplicity of events gives the newest version', { timeout: 60_000 }, () => {
  test('per group', async () => {
    const state = orderedGroups(matches, { groups });
    await fc.assert(
      fc.asyncProperty(history(['score', 'status']), async ({ produced, arrivals, size }) => {
        const id = fresh();
        const list = arrivals.map((seq) => plainEvent(id, produced[seq - 1]!, seq));
        for (const batch of batches(list, size)) await Promise.all(batch.map((event) => state.apply(event)));
        expect(await matches.get({ id }).item()).toEqual({ id, ...expectedMatch(produced, undefined) });
      }),
      { numRuns: 60 },
    );
  });

  for (const revives of [true, false]) {
    const what = revives ? 'deletions that newer events undo' : 'final deletions';
    const state = () => orderedGroups(matches, { groups, deletion: { ...deletion, revives }, several: 'each' });

    test(`per group, with events of both groups and ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(history(['score', 'status', 'both', 'gone']), async ({ produced, arrivals, size }) => {
          const [live, id] = [state(), fresh()];
          const list = arrivals.map((seq) => matchEvent(id, produced[seq - 1]!, seq));
          for (const batch of batches(list, size)) await Promise.all(batch.map((event) => live.apply(event)));
          expect(await matches.get({ id }).item()).toEqual({ id, ...expectedMatch(produced, revives) });
        }),
        { numRuns: 100 },
      );
    });

    test(`per group, coalesced, with ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(history(['score', 'status', 'both', 'gone']), async ({ produced, arrivals, size }) => {
          const [live, id] = [state(), fresh()];
          const list = arrivals.map((seq) => matchEvent(id, produced[seq - 1]!, seq));
          for (const batch of batches(list, size)) await ingest(live, batch);
          expect(await matches.get({ id }).item()).toEqual({ id, ...expectedMatch(produced, revives) });
        }),
        { numRuns: 60 },
      );
    });

    test(`of whole state, at once and coalesced, with ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(history(['price', 'gone']), fc.boolean(), async ({ produced, arrivals, size }, coalesces) => {
          const live = orderedItems(prices, { version: 'at', deletion: { flag: 'deleted', revives } });
          const sku = fresh();
          const list = arrivals.map((seq) =>
            produced[seq - 1] === 'gone'
              ? { key: { sku }, deleted: at(seq) }
              : { item: { sku, cents: seq, at: at(seq) } },
          );
          for (const batch of batches(list, size)) {
            if (coalesces) await ingest(live, batch);
            else await Promise.all(batch.map((event) => live.apply(event)));
          }
          const [cents, deleted] = [newest(produced, 'price'), newest(produced, 'gone')];
          const isDeleted = deleted > 0 && (!revives || deleted > cents);
          expect(await prices.get({ sku }).item()).toEqual(
            isDeleted ? { sku, at: at(deleted), deleted: true } : { sku, cents, at: at(cents), deleted: false },
          );
        }),
        { numRuns: 60 },
      );
    });
  }
});

describe('coalesce', () => {
  test('orders the events of each key and group, newest first', () => {
    const live = orderedGroups(matches, { groups });
    const [a, b] = [fresh(), fresh()];
    const contests = coalesce(live, [
      score(a, 1),
      { key: { id: a }, groups: { ...score(a, 3).groups, ...status(a, 3).groups } },
      score(b, 2),
      score(a, 3, 9),
      score(a, 2),
    ]);
    expect(contests.map(({ candidates }) => candidates.map(({ index }) => index))).toEqual([[1, 3, 4, 0], [1], [2]]);
    expect(contests[0]?.candidates[0]?.event).toEqual(score(a, 3));
  });

  test('settles the others from the winner, without a request', async () => {
    const live = orderedGroups(matches, { groups, deletion: { ...deletion, revives: true } });
    const id = fresh();
    const winner = score(id, 3);
    const result = await live.apply(winner);
    db.operations();
    expect(live.settle(score(id, 2), winner, result)).toBe('Superseded');
    expect(live.settle(score(id, 3), winner, result)).toBe('AlreadyStored');
    expect(live.settle(score(id, 3, 9), winner, result)).toBe('Conflict');
    expect(live.settle(score(id, 4), winner, result)).toBeUndefined();
    expect(live.settle(status(id, 1), winner, result)).toBeUndefined();
    expect(live.settle(gone(id, 1), winner, result)).toBeUndefined();
    expect(() => live.settle(score(fresh(), 1), winner, result)).toThrow('one key');
    expect(() => live.compare(score(id, 1), status(id, 1))).toThrow('one lane');
    const late = await live.apply(score(id, 1));
    expect(live.settle(score(id, 3), score(id, 1), late)).toBe('AlreadyStored');
    expect(live.settle(score(id, 2), score(id, 1), late)).toBe('Superseded');
    const deleted = await live.apply(gone(id, 5));
    expect(live.settle(status(id, 4), gone(id, 5), deleted)).toBe('Superseded');
    expect(live.settle(gone(id, 4), gone(id, 5), deleted)).toBe('Superseded');
    expect(live.settle(gone(id, 5), gone(id, 5), deleted)).toBe('AlreadyStored');
    expect(db.operations()).toEqual(['UpdateItem', 'UpdateItem']);
  });
});
