import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  entity,
  instant,
  integer,
  list,
  map,
  oneOf,
  record,
  string,
  stringSet,
  version,
  type Condition,
  type Item,
  type UnversionedUpdate,
} from '../../../lib/commands/index.js';
import { liveTable } from '../support/live.js';

const Thing = entity('THING', {
  pk: 'THING#{id}',
  sk: 'T#{n:4}',
  attributes: {
    id: string(),
    n: integer(),
    count: integer().optional(),
    text: string().optional(),
    other: string().optional(),
    tags: stringSet().optional(),
    lines: list(string()).optional(),
    shipTo: map({ city: string(), zip: string().optional(), tags: stringSet().optional() }).optional(),
    labels: record(integer()).optional(),
    status: oneOf('OPEN', 'DONE').optional(),
    at: instant().optional(),
    revision: version(),
  },
  indexes: {
    byStatus: { pk: 'THING#{id}#{status}', sk: '{at}#{n:4}' },
    keys: { pk: 'ALL#{id}', project: 'keys' },
  },
});
type Thing = Item<typeof Thing>;
type Update = UnversionedUpdate<typeof Thing, unknown, unknown>;
/** An item that can be changed in place. */
type Model = { -readonly [K in keyof Thing]: Thing[K] };

const live = liveTable();
const things = () => live.shop.of(Thing);
const { attrs } = Thing;

interface Step {
  /** The attributes it writes; a step on one that was written already is left out. */
  readonly on: readonly (keyof Thing)[];
  /** Whether the item is one that it can be applied to. */
  readonly applies?: (item: Model) => boolean;
  readonly build: (update: Update) => Update;
  readonly apply: (item: Model) => void;
}

const word = fc.string({ maxLength: 5 });
const words = fc.array(word, { maxLength: 3 });
const without = (item: Model, name: keyof Model): void => void delete item[name];

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.option(word, { nil: undefined }).map((text): Step => ({
    on: ['text'],
    build: (update) => update.set({ text }),
    apply: (item) => (text === undefined ? without(item, 'text') : (item.text = text)),
  })),
  word.map((text): Step => ({
    on: ['other'],
    build: (update) => update.setIfNotExists(attrs.other, text),
    apply: (item) => (item.other ??= text),
  })),
  fc.option(word, { nil: undefined }).map((text): Step => ({
    on: text === undefined ? [] : ['other'],
    build: (update) => update.setIfDefined(attrs.other, text),
    apply: (item) => text !== undefined && (item.other = text),
  })),
  fc.integer({ min: -1000, max: 1000 }).map((by): Step => ({
    on: ['count'],
    build: (update) => update.add(attrs.count, by),
    apply: (item) => (item.count = (item.count ?? 0) + by),
  })),
  fc.integer({ min: -1000, max: 1000 }).map((by): Step => ({
    on: ['count'],
    applies: ({ count }) => count !== undefined,
    build: (update) => update.set(attrs.count, Thing.text`${attrs.count} + ${attrs.count.value(by)}`),
    apply: (item) => (item.count = (item.count ?? 0) + by),
  })),
  words.map((tags): Step => ({
    on: ['tags'],
    build: (update) => update.add(attrs.tags, tags),
    apply: (item) => tags.length > 0 && (item.tags = new Set([...(item.tags ?? []), ...tags])),
  })),
  words.map((tags): Step => ({
    on: ['tags'],
    build: (update) => update.deleteFrom(attrs.tags, tags),
    apply: (item) => {
      const left = [...(item.tags ?? [])].filter((tag) => !tags.includes(tag));
      if (left.length > 0) item.tags = new Set(left);
      else without(item, 'tags');
    },
  })),
  words.map((tags): Step => ({
    on: ['tags'],
    build: (update) => update.set({ tags: new Set(tags) }),
    apply: (item) => (tags.length === 0 ? without(item, 'tags') : (item.tags = new Set(tags))),
  })),
  words.map((lines): Step => ({
    on: ['lines'],
    build: (update) => update.append(attrs.lines, lines),
    apply: (item) => (item.lines = [...(item.lines ?? []), ...lines]),
  })),
  words.map((lines): Step => ({
    on: ['lines'],
    build: (update) => update.prepend(attrs.lines, lines),
    apply: (item) => (item.lines = [...lines, ...(item.lines ?? [])]),
  })),
  fc.tuple(fc.nat(3), word).map(([index, line]): Step => ({
    on: ['lines'],
    applies: ({ lines }) => lines !== undefined && index <= lines.length,
    build: (update) => update.set(attrs.lines.at(index), line),
    apply: (item) => (item.lines = (item.lines ?? []).toSpliced(index, 1, line)),
  })),
  fc.nat(3).map((index): Step => ({
    on: ['lines'],
    applies: ({ lines }) => lines !== undefined && index < lines.length,
    build: (update) => update.remove(attrs.lines.at(index)),
    apply: (item) => (item.lines = (item.lines ?? []).toSpliced(index, 1)),
  })),
  fc.tuple(word, fc.option(word, { nil: undefined }), words).map(([city, zip, tags]): Step => ({
    on: ['shipTo'],
    build: (update) => update.set(attrs.shipTo, { city, zip, tags: new Set(tags) }),
    apply: (item) =>
      (item.shipTo = {
        city,
        ...(zip !== undefined && { zip }),
        ...(tags.length > 0 && { tags: new Set(tags) }),
      }),
  })),
  fc.tuple(word, fc.option(word, { nil: undefined })).map(([city, zip]): Step => ({
    on: ['shipTo'],
    applies: ({ shipTo }) => shipTo !== undefined,
    build: (update) => update.set(attrs.shipTo.city, city).set(attrs.shipTo.zip, zip),
    apply: (item) => {
      const { zip: _, ...rest } = item.shipTo as NonNullable<Model['shipTo']>;
      item.shipTo = { ...rest, city, ...(zip !== undefined && { zip }) };
    },
  })),
  fc.tuple(fc.constantFrom('a', 'a.b', 'constructor', '#0'), fc.integer()).map(([name, value]): Step => ({
    on: ['labels'],
    applies: ({ labels }) => labels !== undefined,
    build: (update) => update.set(attrs.labels.at(name), value),
    apply: (item) => (item.labels = { ...item.labels, [name]: value }),
  })),
  fc.constant<Step>({
    on: ['labels'],
    build: (update) => update.set({ labels: {} }),
    apply: (item) => (item.labels = {}),
  }),
  fc.tuple(fc.constantFrom('OPEN' as const, 'DONE' as const), fc.nat(1e9)).map(([status, time]): Step => ({
    on: ['status', 'at'],
    build: (update) => update.set({ status, at: new Date(time) }),
    apply: (item) => {
      item.status = status;
      item.at = new Date(time);
    },
  })),
  fc.constantFrom('status' as const, 'at' as const).map((name): Step => ({
    on: ['status', 'at'],
    build: (update) => update.remove(attrs[name]),
    apply: (item) => without(item, name),
  })),
  fc.constant<Step>({ on: [], build: (update) => update.storeKeyInputs(), apply: () => undefined }),
);

/** Conditions that hold for the item. */
const holding = (item: Model, n: number): Condition<'THING'> => {
  const { text, count } = item;
  const conditions: Condition<'THING'>[] = [
    text === undefined ? attrs.text.notExists() : attrs.text.eq(text),
    count === undefined ? attrs.count.notExistsOrLt(0) : attrs.count.between(count, count).or(attrs.text.exists()),
    attrs.tags.contains('not there at all').negate(),
    attrs.lines
      .at(90)
      .notExists()
      .and(attrs.labels.at(`x${n}`).notExists()),
    Thing.text`attribute_not_exists(${attrs.lines.at(90)}) OR ${attrs.count} > ${attrs.count.value(n)}`,
  ];
  return conditions[n % conditions.length] as Condition<'THING'>;
};

describe('an update', () => {
  it('leaves what a model of the item says, whatever its clauses', async () => {
    let id = 0;
    const round = fc.record({
      chosen: fc.array(steps, { maxLength: 6 }),
      conditions: fc.array(fc.nat(20), { maxLength: 3 }),
      checks: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
        const key = { id: `t${++id}`, n: id % 3 };
        const model: Model = { ...key, revision: 0 };
        for (const { chosen, conditions, checks } of rounds) {
          const written = new Set<string>();
          const before: Model = { ...model };
          let update: Update = things().update(key);
          conditions.forEach((n, i) => i % 2 === 0 && (update = update.if(holding(before, n))));
          for (const { on, applies, build, apply } of chosen) {
            if (on.some((name) => written.has(name)) || applies?.(before) === false) continue;
            on.forEach((name) => written.add(name));
            update = build(update);
            apply(model);
          }
          conditions.forEach((n, i) => i % 2 === 1 && (update = update.if(holding(before, n))));
          const result = await (
            checks && model.revision > 0 ? update.ifVersion(model.revision) : update.ignoreVersion()
          )
            .returnNew()
            .send();
          model.revision++;
          expect((result as { item: unknown }).item).toEqual(model);
          expect(await things().get(key).consistent().item()).toEqual(model);
        }
        const { status, at } = model;
        if (status !== undefined && at !== undefined) {
          expect(await things().index('byStatus').query({ id: key.id, status, at }).all()).toEqual([model]);
        }
        const listed = ['OPEN', 'DONE'] as const;
        const counts = await Promise.all(
          listed.map((of) => things().index('byStatus').query({ id: key.id, status: of }).count()),
        );
        expect(counts.reduce((sum, count) => sum + count)).toBe(status !== undefined && at !== undefined ? 1 : 0);
        expect(await things().index('keys').query({ id: key.id }).count()).toBe(1);
      }),
      { numRuns: 120 },
    );
  }, 120_000);
});
