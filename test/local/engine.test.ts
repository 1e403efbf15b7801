import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemSize as sizeBeforeSending } from '../../lib/commands/index.js';
import { itemSize } from '../../lib/local/engine/item-size.js';
import { LevelJournal } from '../../lib/local/engine/journal.js';
import type { LevelDatabase } from '../../lib/local/engine/journal.js';
import { OrderedMap } from '../../lib/local/engine/ordered-map.js';
import { Store } from '../../lib/local/engine/store.js';

describe('OrderedMap', () => {
  const key = fc.integer({ min: 0, max: 2000 }).map((n) => `k${String(n).padStart(4, '0')}`);
  const bound = fc.option(key, { nil: undefined });

  test('does what a sorted Map does', () => {
    const change = fc.record({ key, remove: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 1500, size: 'max' }),
        fc.record({
          gt: bound,
          gte: bound,
          lt: bound,
          lte: bound,
          reverse: fc.boolean(),
          limit: fc.integer({ min: -1, max: 20 }),
        }),
        (changes, range) => {
          const model = new Map<string, number>();
          const map = new OrderedMap<number>();
          changes.forEach(({ key: at, remove }, i) => {
            if (remove) expect(map.delete(at)).toBe(model.delete(at));
            else {
              map.set(at, i);
              model.set(at, i);
            }
          });
          expect(map.size).toBe(model.size);
          const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
          expect([...map.entries()]).toEqual(sorted);
          const { gt, gte, lt, lte, reverse, limit } = range;
          let expected = sorted.filter(
            ([at]) =>
              (gt === undefined || at > gt) &&
              (gte === undefined || at >= gte) &&
              (lt === undefined || at < lt) &&
              (lte === undefined || at <= lte),
          );
          if (reverse) expected = expected.reverse();
          expect([...map.entries(range)]).toEqual(limit < 0 ? expected : expected.slice(0, limit));
          for (const [at, value] of sorted) expect(map.get(at)).toBe(value);
          expect(map.get('absent')).toBeUndefined();
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('LevelJournal', () => {
  /** A level that ends its batches when told to, and remembers them. */
  function fakeLevel() {
    const batches: string[][] = [];
    const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const level: LevelDatabase = {
      open: () => Promise.resolve(),
      close: () => Promise.resolve(),
      batch: (ops) => {
        batches.push(ops.map(({ key }) => key.split('\0')[1]!));
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      async *iterator() {},
    };
    return { level, batches, waiting };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const put = (key: string): { space: string; key: string; value: unknown } => ({ space: 's', key, value: 1 });

  test('writes one batch at a time, never parts of a commit, and tells when all is written', async () => {
    const { level, batches, waiting } = fakeLevel();
    const store = await Store.open(new LevelJournal(level));
    expect(store.durable()).toBeUndefined();
    store.apply([put('a'), put('b')]);
    const first = store.durable();
    await turn();
    store.apply([put('c')]);
    store.apply([put('d'), put('e')]);
    let told = false;
    const second = store.durable()!.then(() => (told = true));
    await turn();
    expect(batches).toEqual([['a', 'b']]);
    waiting[0]!.resolve();
    await first;
    await turn();
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
    expect(told).toBe(false);
    waiting[1]!.resolve();
    await second;
    expect(store.durable()).toBeUndefined();
  });

  test('that has failed once acknowledges nothing any more', async () => {
    const { level, batches, waiting } = fakeLevel();
    const store = await Store.open(new LevelJournal(level));
    store.apply([put('a')]);
    const first = store.durable();
    await turn();
    waiting[0]!.reject(new Error('disk full'));
    await expect(first).rejects.toThrow('disk full');
    await expect(store.durable()).rejects.toThrow('disk full');
    store.apply([put('b')]);
    await expect(store.durable()).rejects.toThrow('disk full');
    expect(batches).toHaveLength(1);
  });
});

describe('itemSize', () => {
  test.each([
    ['0', 1],
    ['1', 2],
    ['10', 2],
    ['100', 2],
    ['12', 2],
    ['123', 3],
    ['1000', 2],
    ['1230', 3],
    ['12300', 3],
    ['-1', 3],
    ['0.1', 2],
    ['0.12', 2],
    ['0.123', 3],
    ['1.5', 3],
    ['12.34', 3],
    ['123.456', 5],
    ['-123.456', 6],
  ])('of the number %s is %i', (N, size) => {
    expect(itemSize({ n: { N } })).toBe(1 + size);
  });

  test('of any number is that by which the library checks items before they are sent', () => {
    const digits = fc.stringMatching(/^\d{1,19}$/);
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -100, max: 80 })))
      .map(([sign, whole, fraction, power]) =>
        [sign, whole, fraction === null ? '' : `.${fraction}`, power === null ? '' : `E${power}`].join(''),
      );
    fc.assert(fc.property(number, (N) => itemSize({ n: { N } }) === sizeBeforeSending({ n: { N } })));
  });

  test('counts names and values in bytes', () => {
    expect(itemSize({ ä: { S: 'öü' } })).toBe(2 + 4);
    expect(itemSize({ b: { B: Buffer.from([1, 2, 3, 4]).toString('base64') } })).toBe(1 + 4);
    expect(itemSize({ t: { BOOL: false }, z: { NULL: true } })).toBe(2 + 2);
    expect(itemSize({ s: { SS: ['ab', 'c'] }, n: { NS: ['1', '22'] } })).toBe(1 + 3 + 1 + 4);
    expect(itemSize({ l: { L: [{ S: 'ab' }, { BOOL: true }] } })).toBe(1 + 3 + 2 + 1 + 2);
    expect(itemSize({ m: { M: { x: { S: 'ab' } } } })).toBe(1 + 3 + 1 + 1 + 2);
  });
});
