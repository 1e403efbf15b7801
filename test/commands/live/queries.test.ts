import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  entity,
  instant,
  integer,
  oneOf,
  string,
  type Item,
} from '../../../lib/commands/index.js';
import { liveTable } from '../support/live.js';
import { Order } from '../support/shop.js';

const Entry = entity('ENTRY', {
  pk: 'LEDGER#{ledger}',
  sk: 'E#{year:4}#{account}#{n:3}',
  attributes: {
    ledger: string(),
    year: integer(),
    account: string(),
    n: integer(),
    amount: integer(),
    kind: oneOf('IN', 'OUT'),
    at: instant().optional(),
  },
  indexes: {
    byStatus: { pk: 'KIND#{ledger}#{kind}', sk: '{at}' },
    keys: { pk: 'ACCOUNT#{ledger}#{account}', project: 'keys' },
    local: { pk: 'LEDGER#{ledger}', sk: 'AMOUNT#{amount:6}' },
  },
});
type Entry = Item<typeof Entry>;
/** Of the same partition, at other sort keys. */
const Summary = entity('SUMMARY', {
  pk: 'LEDGER#{ledger}',
  sk: 'SUMMARY#{name}',
  attributes: { ledger: string(), name: string(), amount: integer() },
});
/** Whose sort key starts anywhere. */
const Loose = entity('LOOSE', {
  pk: 'LOOSE#{group}',
  sk: '{name}',
  attributes: { group: string(), name: string(), amount: integer() },
});

const live = liveTable();
const entries = () => live.shop.of(Entry);
let serial = 0;
const fresh = (): string => `l${++serial}`;

const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const bySortKey = (a: Entry, b: Entry): number => bytes(Entry.sk.of(a), Entry.sk.of(b));

const seed = async (ledger: string, count = 40): Promise<Entry[]> => {
  const items = Array.from({ length: count }, (_, i): Entry => ({
    ledger,
    year: 2024 + (i % 3),
    account: ['a', 'b', 'b!', 'bb', '\u{10000}', '\ud7ff'][i % 6] as string,
    n: i,
    amount: (i * 37) % 100,
    kind: i % 2 === 0 ? 'IN' : 'OUT',
    ...(i % 5 > 0 && { at: new Date(i * 1000) }),
  }));
  await Promise.all(items.map((item) => entries().put(item)));
  await live.shop.of(Summary).put({ ledger, name: 'x', amount: 1 });
  return items.sort(bySortKey);
};

describe('a query', () => {
  it('gives what a filter over all items gives, for any range, order, filter, limit and pages', async () => {
    const ledger = fresh();
    const all = await seed(ledger);
    const input = fc.record({
      year: fc.integer({ min: 2023, max: 2027 }),
      account: fc.constantFrom('a', 'b', 'b!', 'bb', '\u{10000}', '\ud7ff', 'c'),
      n: fc.nat(45),
    });
    const run = fc.record({
      given: fc.nat(2),
      more: fc.integer({ min: 1, max: 3 }),
      pivot: input,
      operator: fc.constantFrom('all', 'lt', 'le', 'gt', 'ge', 'between'),
      reverse: fc.boolean(),
      limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      least: fc.option(fc.nat(100), { nil: undefined }),
      consistent: fc.boolean(),
    });
    const first = (values: { year: number; account: string; n: number }, n: number): Partial<Entry> =>
      n === 0
        ? {}
        : n === 1
          ? { year: values.year }
          : n === 2
            ? { year: values.year, account: values.account }
            : values;
    const textOf = ({ year, account, n }: Partial<Entry>): string =>
      year === undefined
        ? 'E#'
        : account === undefined
          ? `E#${year}#`
          : n === undefined
            ? `E#${year}#${account}#`
            : `E#${year}#${account}#${String(n).padStart(3, '0')}`;
    await fc.assert(
      fc.asyncProperty(run, async ({ given, more, pivot, operator, reverse, limit, least, consistent }) => {
        const own = first(pivot, given);
        const side = Object.fromEntries(
          Object.entries(first(pivot, Math.min(3, given + more))).filter(([name]) => !(name in own)),
        );
        const text = textOf({ ...own, ...side });
        const under = (key: string): boolean => !('n' in side) && key.startsWith(text);
        const holds: Record<string, (key: string) => boolean> = {
          all: () => true,
          lt: (key) => bytes(key, text) < 0,
          le: (key) => bytes(key, text) <= 0 || under(key),
          gt: (key) => bytes(key, text) > 0 && !under(key),
          ge: (key) => bytes(key, text) >= 0,
          between: (key) => bytes(key, text) === 0 || under(key),
        };
        const wanted = all.filter((item) => {
          const key = Entry.sk.of(item);
          const inKey = key.startsWith(textOf(own)) && holds[operator]?.(key);
          return inKey && (least === undefined || item.amount >= least);
        });
        if (reverse) wanted.reverse();
        const build = () => {
          let query = entries().query({ ledger, ...own });
          if (operator === 'between') query = query.between(side, side);
          else if (operator !== 'all') query = query[operator as 'lt'](side);
          if (reverse) query = query.reverse();
          if (consistent) query = query.consistent();
          return least === undefined ? query : query.filter(Entry.attrs.amount.ge(least));
        };
        const limited = limit === undefined ? build() : build().limit(limit);
        expect(await limited.all()).toEqual(wanted.slice(0, limit));
        expect(await build().count()).toBe(wanted.length);
        expect(await build().first()).toEqual(wanted[0]);
        const paged: Entry[] = [];
        let cursor: string | undefined;
        do {
          const page = await build()
            .limit(limit ?? 7)
            .after(cursor)
            .page();
          expect(page.items.length).toBeLessThanOrEqual(limit ?? 7);
          expect(page.count).toBe(page.items.length);
          expect(page.hasMore).toBe(page.next !== undefined);
          paged.push(...page.items);
          cursor = page.next;
        } while (cursor !== undefined);
        expect(paged).toEqual(wanted);
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it('goes on with items() across pages, and stops when its consumer does', async () => {
    const ledger = fresh();
    const all = await seed(ledger);
    const seen: Entry[] = [];
    for await (const entry of entries().query({ ledger }).items()) {
      seen.push(entry);
      if (seen.length === 15) break;
    }
    expect(seen).toEqual(all.slice(0, 15));
  });

  it('counts from where a cursor says', async () => {
    const ledger = fresh();
    await seed(ledger);
    const { next } = await entries().query({ ledger }).limit(10).page();
    expect(await entries().query({ ledger }).after(next).count()).toBe(30);
    expect(await entries().query({ ledger }).limit(5).count()).toBe(5);
    expect(await entries().query({ ledger }).filter(Entry.attrs.kind.eq('IN')).count()).toBe(20);
    const text = Entry.text`(${Entry.attrs.kind} = ${Entry.attrs.kind.value('IN')})`;
    expect(await entries().query({ ledger }).filter(text).count()).toBe(20);
  });

  it('selects one attribute of its own items only', async () => {
    const [group, loose] = [fresh(), live.shop.of(Loose)];
    await loose.put({ group, name: 'a', amount: 1 });
    await loose.put({ group, name: 'z', amount: 2 });
    await live.store({ pk: { S: `LOOSE#${group}` }, sk: { S: 'M#1' }, _type: { S: 'STRANGER' }, amount: { N: '9' } });
    expect(await loose.query({ group }).select(Loose.attrs.amount).all()).toEqual([1, 2]);
    expect(await loose.query({ group }).select(Loose.attrs.amount).first()).toBe(1);
    expect(await loose.query({ group }).all()).toHaveLength(2);
    expect(await loose.query({ group }).count()).toBe(2);
  });

  it('projects members', async () => {
    const ledger = fresh();
    await entries().put({ ledger, year: 2026, account: 'a', n: 1, amount: 5, kind: 'IN' });
    expect(await entries().query({ ledger }).project('amount', 'at').all()).toEqual([{ amount: 5 }]);
    expect(await entries().query({ ledger }).project('ledger', 'n').all()).toEqual([{ ledger, n: 1 }]);
  });

  it('says what it consumed where it was asked', async () => {
    const page = await entries().query({ ledger: fresh() }).returnCapacity().page();
    expect(page.consumedCapacity.CapacityUnits).toBeGreaterThan(0);
    expect(page).toMatchObject({ items: [], count: 0, hasMore: false, next: undefined });
  });

  it('refuses a cursor of another query, and what is none', async () => {
    const [ledger, other] = [fresh(), fresh()];
    await seed(ledger);
    await seed(other);
    const { next } = await entries().query({ ledger }).limit(3).page();
    const query = () => entries().query({ ledger });
    expect(await query().after(next).all()).toHaveLength(37);
    for (const strange of [
      entries().query({ ledger: other }),
      entries().query({ ledger, year: 2024 }),
      query().reverse(),
      query().filter(Entry.attrs.amount.gt(5)),
      query().between({ year: 2024 }, { year: 2025 }),
      entries().index('local').query({ ledger }),
    ]) {
      expect(() => strange.after(next).toRequest()).toThrow(InvalidInputError);
    }
    const cut = (next as string).slice(0, -4);
    for (const wrong of [
      '',
      'x',
      cut,
      `${next}x`,
      'bnVsbA',
      'W10',
      'e30',
      Buffer.from('["x"]').toString('base64url'),
    ]) {
      expect(() => query().after(wrong).toRequest(), wrong).toThrow(/expected the cursor of a page of this same query/);
    }
    for (const wrong of [5, null, {}, []]) {
      expect(() =>
        query()
          .after(wrong as never)
          .toRequest(),
      ).toThrow(InvalidInputError);
    }
  });

  it('stays in its partition whatever a cursor says', async () => {
    const [ledger, other] = [fresh(), fresh()];
    await seed(ledger);
    await seed(other);
    const { next } = await entries().query({ ledger }).limit(3).page();
    expect(Buffer.from(next as string, 'base64url').toString()).not.toContain(ledger);
    const request = entries().query({ ledger }).after(next).toRequest();
    expect(request.ExclusiveStartKey?.['pk']).toEqual({ S: `LEDGER#${ledger}` });
  });

  it('lets a cursor go on with another projection, limit and consistency', async () => {
    const ledger = fresh();
    const all = await seed(ledger);
    const { next } = await entries().query({ ledger }).limit(3).page();
    const rest = entries().query({ ledger }).consistent().project('n').limit(2).after(next);
    expect(await rest.all()).toEqual(all.slice(3, 5).map(({ n }) => ({ n })));
  });

  it('refuses a filter on what the key fixes already, and what an index does not hold', () => {
    const query = entries().query({ ledger: 'l', year: 2024 });
    expect(() => query.filter(Entry.attrs.ledger.eq('l')).toRequest()).toThrow(/fixed by the key condition/);
    expect(() => query.filter(Entry.attrs.amount.gt(1).or(Entry.attrs.year.eq(2024))).toRequest()).toThrow(/^year: /);
    expect(() => query.filter(Entry.text`${Entry.attrs.year} = ${Entry.attrs.year.value(1)}`).toRequest()).toThrow(
      /^year/,
    );
    expect(() => query.filter(Entry.attrs.n.gt(5)).toRequest()).not.toThrow();
    const keys = entries().index('keys').query({ ledger: 'l', account: 'a' });
    expect(() => keys.filter(Entry.attrs.amount.gt(1)).project('n').toRequest()).toThrow(/^amount: .*not projected/);
    expect(() => keys.toRequest()).toThrow(/project these/);
    expect(() => keys.project('amount').toRequest()).toThrow(InvalidInputError);
  });

  it('refuses options that mean nothing', () => {
    const query = entries().query({ ledger: 'l' });
    for (const wrong of [0, -1, 1.5, NaN, '5', null])
      expect(() => query.limit(wrong as never)).toThrow(InvalidInputError);
    expect(() => query.filter(Order.attrs.total.gt(1) as never)).toThrow(InvalidInputError);
    expect(() => query.project('nothing' as never)).toThrow(InvalidInputError);
    expect(() => query.select(Order.attrs.total as never)).toThrow(InvalidInputError);
  });

  it('throws on an item of its own that does not match', async () => {
    const ledger = fresh();
    await live.store({ pk: { S: `LEDGER#${ledger}` }, sk: { S: 'E#2024#a#001' }, _type: { S: 'ENTRY' } });
    await expect(entries().query({ ledger }).all()).rejects.toThrow(InvalidStoredItemError);
  });
});

describe('a query of an index', () => {
  it('gives the items that have its inputs, in its order', async () => {
    const ledger = fresh();
    const all = await seed(ledger);
    const dated = all.filter(({ kind, at }) => kind === 'IN' && at !== undefined);
    dated.sort((a, b) => Number(a.at) - Number(b.at));
    const index = () => entries().index('byStatus').query({ ledger, kind: 'IN' });
    expect(await index().all()).toEqual(dated);
    expect(await index().reverse().limit(3).all()).toEqual(dated.slice(-3).reverse());
    expect(
      await index()
        .ge({ at: new Date(20_000) })
        .all(),
    ).toEqual(dated.filter(({ at }) => Number(at) >= 20_000));
    expect(await index().beginsWith('1970-01-01T00:00:1').all()).toEqual(
      dated.filter(({ at }) => Number(at) >= 10_000 && Number(at) < 20_000),
    );
    expect(await index().count()).toBe(dated.length);
    const pages: Entry[] = [];
    for (let cursor: string | undefined, more = true; more;) {
      const page = await index().limit(4).after(cursor).page();
      pages.push(...page.items);
      cursor = page.next;
      more = page.hasMore;
    }
    expect(pages).toEqual(dated);
  });

  it('follows an update, and an input that is removed', async () => {
    const ledger = fresh();
    const key = { ledger, year: 2026, account: 'a', n: 1 };
    const at = new Date(5_000);
    await entries().put({ ...key, amount: 1, kind: 'IN', at });
    const index = (kind: 'IN' | 'OUT') => entries().index('byStatus').query({ ledger, kind }).count();
    await entries().update(key).set({ kind: 'OUT', at });
    expect([await index('IN'), await index('OUT')]).toEqual([0, 1]);
    await entries().update(key).remove(Entry.attrs.at);
    expect([await index('IN'), await index('OUT')]).toEqual([0, 0]);
    await entries().update(key).set({ kind: 'IN', at });
    expect([await index('IN'), await index('OUT')]).toEqual([1, 0]);
  });

  it('finds an item that an update created', async () => {
    const ledger = fresh();
    const key = { ledger, year: 2026, account: 'a', n: 1 };
    await entries()
      .update(key)
      .set({ amount: 7, kind: 'IN', at: new Date(0) });
    expect(await entries().index('byStatus').query({ ledger, kind: 'IN' }).all()).toEqual([
      { ...key, amount: 7, kind: 'IN', at: new Date(0) },
    ]);
    expect(await entries().index('keys').query({ ledger, account: 'a' }).project('n', 'account').all()).toEqual([
      { n: 1, account: 'a' },
    ]);
  });

  it('of keys only reads its members from the keys, and counts them', async () => {
    const ledger = fresh();
    const all = await seed(ledger);
    const own = all.filter(({ account }) => account === 'b');
    const index = () => entries().index('keys').query({ ledger, account: 'b' });
    const read = await index().project('ledger', 'year', 'account', 'n').all();
    const bySerial = (a: { n: number }, b: { n: number }): number => a.n - b.n;
    expect(read.sort(bySerial)).toEqual(
      own.map(({ ledger, year, account, n }) => ({ ledger, year, account, n })).sort(bySerial),
    );
    expect(await index().count()).toBe(own.length);
    expect((await index().select(Entry.attrs.n).all()).sort()).toEqual(own.map(({ n }) => n).sort());
  });

  it('that is local may be consistent, a global one never', async () => {
    const ledger = fresh();
    const all = await seed(ledger, 10);
    const sorted = [...all].sort((a, b) => a.amount - b.amount);
    expect(await entries().index('local').query({ ledger }).consistent().all()).toEqual(sorted);
    expect(await entries().index('local').query({ ledger }).lt({ amount: 50 }).count()).toBe(
      all.filter(({ amount }) => amount < 50).length,
    );
    expect(() => entries().index('byStatus').query({ ledger, kind: 'IN' }).consistent().toRequest()).toThrow(
      InvalidInputError,
    );
  });
});

describe('queries of several entities of a partition', () => {
  it('give each its own', async () => {
    const ledger = fresh();
    const all = await seed(ledger, 5);
    const summaries = live.shop.of(Summary);
    expect(await summaries.query({ ledger }).all()).toEqual([{ ledger, name: 'x', amount: 1 }]);
    expect(await entries().query({ ledger }).all()).toEqual(all);
  });
});
