import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTable,
  entity,
  integer,
  scan,
  string,
  table,
  transactWrite,
  type Table,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { cursors, secret, texts } from './corpus.js';
import { expectNoSecret, hostileText, hostileValue, refusesOrTakes, witness } from './hostile-values.js';

const attributes = { tenant: string(), id: string(), text: string().optional(), count: integer().optional() };
const keys = { pk: 'TENANT#{tenant}', sk: 'NOTE#{id}' } as const;
const byText = { index: 'byText', pk: 'TEXT#{tenant}', sk: '{id}' } as const;
const Note = entity('NOTE', { ...keys, attributes, indexes: { byText: { pk: byText.pk, sk: byText.sk } } });
/** The same with values that may hold the separator. */
const Free = entity('FREE', {
  pk: 'FREE#{tenant}',
  sk: 'NOTE#{id}',
  attributes,
  escape: true,
  indexes: { byText: { pk: 'FREETEXT#{tenant}', sk: '{id}' } },
});

const options = { indexes: { byText: {} } };
let db: TestDynamoDB;
let shop: Table;
let other: Table;
let heard: ReturnType<typeof witness>;
const bystander = { tenant: 'bystander', id: 'n1', text: 'theirs' };

beforeAll(async () => {
  db = await testDynamoDB();
  [shop, other] = ['notes', 'others'].map((name) =>
    table({ name: uniqueTableName(name), client: db.client, ...options }),
  ) as [Table, Table];
  for (const one of [shop, other]) await createTable(one).waitUntilActive();
  await shop.of(Note).put(bystander);
  await shop.of(Free).put({ ...bystander, tenant: 'other' });
  heard = witness();
});
afterAll(async () => {
  heard.expectNoSecret();
  heard.stop();
  await db.close();
});

interface Untyped {
  [name: string]: (...values: unknown[]) => Untyped;
}

/** What every operation sends for a hostile tenant: each request names that tenant's partition and no other. */
const partitionsIn = (request: unknown, indexed = false): string[] => {
  const { Key, Item, ExpressionAttributeValues, ExclusiveStartKey } = (request ?? {}) as Record<
    string,
    Record<string, { S?: string }> | undefined
  >;
  const own = indexed ? [] : [ExclusiveStartKey?.['pk']?.S];
  return [Key?.['pk']?.S, Item?.['pk']?.S, ExpressionAttributeValues?.[':pk']?.S, ...own].filter(
    (text) => text !== undefined,
  );
};

const given = fc.oneof(hostileText, fc.constantFrom(...texts));

describe.each([
  ['plain keys', Note, false],
  ['escaped keys', Free, true],
] as const)('with %s', (_, kind, escapes) => {
  const of = () => shop.of(kind as typeof Note) as unknown as Untyped;
  const key = (tenant: unknown, id: unknown) => ({ tenant, id });

  it('every request of a hostile tenant is in its own partition', async () => {
    await fc.assert(
      fc.asyncProperty(given, given, async (tenant, id) => {
        const partition = await refusesOrTakes(() => kind.pk.of({ tenant }));
        const requests = await Promise.all(
          [
            () => of()['get']!(key(tenant, id)),
            () => of()['put']!({ ...key(tenant, id), text: id }),
            () => of()['update']!(key(tenant, id))['set']!({ text: tenant }),
            () => of()['delete']!(key(tenant, id)),
            () => of()['query']!({ tenant }),
            () => of()['query']!({ tenant })['beginsWith']!({ id }),
            () => of()['query']!({ tenant })['between']!({ id: '' }, { id }),
            () => of()['query']!({ tenant })['gt']!({ id }),
            () => of()['query']!({ tenant })['lt']!({ id }),
          ].map((make) => refusesOrTakes(() => make()['toRequest']!())),
        );
        for (const request of requests) {
          for (const named of partitionsIn(request)) expect(named).toBe(partition);
        }
        if (typeof partition !== 'string') return;
        expect(partition).toMatch(/^(TENANT|FREE)#/);
        expect(partition.split('#')).toHaveLength(2);
        expect(kind.pk.parse(partition)).toEqual({ tenant });
        if (escapes) expect(partition).not.toBe('TENANT#bystander');
      }),
      { numRuns: 150, examples: texts.map((text) => [text, text]) },
    );
  });

  it('what is written is read by its key alone, and nobody else is touched', async () => {
    await fc.assert(
      fc.asyncProperty(given, given, async (tenant, id) => {
        await refusesOrTakes(async () => {
          const notes = shop.of(kind as typeof Note);
          await transactWrite(shop, { put: notes.put({ tenant, id, text: secret }) });
          await notes.update({ tenant, id }).set({ text: id, count: 1 });
          expect(await notes.get({ tenant, id }).consistent().item()).toEqual({ tenant, id, text: id, count: 1 });
          for (const item of await notes.query({ tenant }).consistent().all()) expect(item.tenant).toBe(tenant);
          await notes.delete({ tenant, id });
        });
        expect(await shop.of(Note).get(bystander).consistent().item()).toEqual(bystander);
      }),
      { numRuns: 60, examples: texts.map((text) => [text, text]) },
    );
  });
});

it('what is no text is refused as a key wherever one is taken', async () => {
  const notes = () => shop.of(Note) as unknown as Untyped;
  await fc.assert(
    fc.asyncProperty(hostileValue, async (make) => {
      for (const call of [
        () => notes()['get']!(make())['toRequest']!(),
        () => notes()['get']!({ tenant: make(), id: 'a' })['toRequest']!(),
        () => notes()['put']!(make())['toRequest']!(),
        () => notes()['update']!({ tenant: 'a', id: make() })['set']!(make())['toRequest']!(),
        () => notes()['query']!(make())['toRequest']!(),
        () => notes()['query']!({ tenant: 'a' })['beginsWith']!(make())['toRequest']!(),
        () => notes()['query']!({ tenant: 'a' })['after']!(make())['toRequest']!(),
        () => Note.text([make()] as never),
      ]) {
        await refusesOrTakes(call);
      }
    }),
    { numRuns: 200 },
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

describe('a cursor', () => {
  const pages = async (tenant: string) => {
    const notes = shop.of(Note);
    for (const id of ['a', 'b', 'c']) await notes.put({ tenant, id, text: id });
    const { next } = await notes.query({ tenant }).limit(1).page();
    return { notes, cursor: next as string };
  };

  it('serves the query that gave it, and no other', async () => {
    const { notes, cursor } = await pages('pager');
    expect((await notes.query({ tenant: 'pager' }).after(cursor).all()).map(({ id }) => id)).toEqual(['b', 'c']);
    const others = [
      () => notes.query({ tenant: 'bystander' }).after(cursor).toRequest(),
      () => notes.query({ tenant: 'pager' }).reverse().after(cursor).toRequest(),
      () => notes.query({ tenant: 'pager' }).gt({ id: 'a' }).after(cursor).toRequest(),
      () => notes.query({ tenant: 'pager' }).filter(Note.attrs.count.gt(1)).after(cursor).toRequest(),
      () => notes.index('byText').query({ tenant: 'pager' }).after(cursor).toRequest(),
      () => shop.of(Free).query({ tenant: 'pager' }).after(cursor).toRequest(),
      () => other.of(Note).query({ tenant: 'pager' }).after(cursor).toRequest(),
      () => scan(notes).after(cursor).toRequest(),
    ];
    for (const request of others) expect(request).toThrow('expected the cursor of a page of this same query');
  });

  it('that was tampered with is refused, or stays in the partition', async () => {
    const { notes, cursor } = await pages('tampered');
    const decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
    const again = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
    const tampered = fc.oneof(
      given.map((text) => again([decoded[0], text])),
      given.map((text) => again([text, ...decoded.slice(1)])),
      fc.tuple(fc.nat(cursor.length - 1), fc.constantFrom(...'AZaz09-_=+/')).map(([at, by]) => {
        return cursor.slice(0, at) + by + cursor.slice(at + 1);
      }),
      given,
      fc.constantFrom(...cursors),
    );
    await fc.assert(
      fc.asyncProperty(tampered, async (text) => {
        await refusesOrTakes(async () => {
          const request = notes.query({ tenant: 'tampered' }).after(text).toRequest();
          for (const named of partitionsIn(request)) expect(named).toBe('TENANT#tampered');
          const page = await notes.query({ tenant: 'tampered' }).after(text).page();
          for (const { tenant } of page.items) expect(tenant).toBe('tampered');
        });
        await refusesOrTakes(async () => {
          const indexed = notes.index('byText').query({ tenant: 'tampered' });
          for (const { tenant } of (await indexed.after(text).page()).items) expect(tenant).toBe('tampered');
        });
        await refusesOrTakes(() => scan(notes).after(text).page());
      }),
      { numRuns: 150 },
    );
  });

  it('says nothing of itself where it is refused', () => {
    for (const cursor of cursors) {
      try {
        shop.of(Note).query({ tenant: 'a' }).after(cursor).toRequest();
      } catch (error) {
        expectNoSecret(error);
        expect((error as Error).message).toBe('after: expected the cursor of a page of this same query');
      }
    }
  });
});
