import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  LimitExceededError,
  ValidationException,
  batchGet,
  batchWrite,
  conditionCheck,
  entity,
  integer,
  list,
  map,
  record,
  retryOnConflict,
  scan,
  string,
  stringSet,
  table,
  transactGet,
  transactWrite,
  type Condition,
} from '../../lib/commands/index.js';
import { toItem } from '../../lib/messaging/index.js';
import { recipeShop, rejection, type RecipeShop } from '../support/recipe-shop.js';
import { offlineClient } from '../commands/support/offline.js';
import { secret } from './corpus.js';
import { expectNoSecret, expectRefusal, hostileValue, witness } from './hostile-values.js';

const Note = entity('NOTE', {
  pk: 'NOTE#{id}',
  sk: 'NOTE',
  attributes: {
    id: string(),
    text: string().optional(),
    more: string().optional(),
    count: integer().optional(),
    lines: list(string()).optional(),
    tags: stringSet().optional(),
    labels: record(string()).optional(),
    place: map({ city: string().optional() }).optional(),
  },
});
const { attrs } = Note;

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());
const notes = () => here.shop.of(Note);

describe('a request that DynamoDB refuses as invalid', () => {
  const refusal = Object.assign(new Error(`One or more values were invalid: Value '${secret}' is none`), {
    name: 'ValidationException',
  });
  const client = offlineClient();
  client.send = () => Promise.reject(refusal);
  const shop = table({ name: 'shop', client });
  const of = shop.of(Note);
  const key = { id: secret };

  it.each<[string, () => PromiseLike<unknown>]>([
    ['get', () => of.get(key).item()],
    ['put', () => of.put({ ...key, text: secret })],
    ['update', () => of.update(key).set({ text: secret })],
    ['delete', () => of.delete(key)],
    ['trySend', () => of.put(key).ifNotExists().trySend()],
    ['query', () => of.query(key).all()],
    ['scan', () => scan(of).all()],
    ['batchGet', () => batchGet(shop, { a: of.get(key) }).send()],
    ['batchWrite', () => batchWrite(shop, [of.put(key)]).send()],
    ['transactGet', () => transactGet(shop, { a: of.get(key) }).send()],
    ['transactWrite', () => transactWrite(shop, { a: of.put(key) })],
  ])('by %s is thrown in words that quote nothing, with the error of the SDK for code', async (_, send) => {
    const heard = witness();
    try {
      const error = await rejection(Promise.resolve(send()));
      expect(error).toBeInstanceOf(ValidationException);
      expect(error).toMatchObject({
        name: 'ValidationException',
        message: expect.stringContaining('One or more') as string,
      });
      expect((error as ValidationException).sdkError).toBe(refusal);
      expectRefusal(error);
      console.log(error);
      heard.expectNoSecret();
    } finally {
      heard.stop();
    }
  });

  it('says nothing that it does not know to be words', () => {
    for (const message of [`${secret}`, `'${secret}'`, `1 validation error: ${secret}`, '', undefined]) {
      const { message: said } = new ValidationException({ name: 'ValidationException', message });
      expect(said).toMatch(/^DynamoDB refused the request/);
      if (message !== secret) expectNoSecret(said);
    }
  });

  it('meets the embedded table the same way', async () => {
    await notes().put({ id: 'a', text: 'x'.repeat(300_000) });
    const grow = notes()
      .update({ id: 'a' })
      .set({ more: `${secret}${'y'.repeat(200_000)}` });
    expectRefusal(await rejection(grow.send()));
  });
});

describe('an expression of more than 300 operators is refused before it is sent', () => {
  const all = (count: number): Condition<'NOTE'> =>
    Array.from({ length: count }, () => attrs.count.gt(1)).reduce((one, other) => one.and(other));
  it('in a condition', () => {
    expect(() => notes().update({ id: 'a' }).set({ text: 'x' }).if(all(150)).toRequest()).not.toThrow();
    expect(() => notes().update({ id: 'a' }).set({ text: 'x' }).if(all(151)).toRequest()).toThrow(LimitExceededError);
    expect(() => notes().query({ id: 'a' }).filter(all(151)).toRequest()).toThrow('301 operators');
  });

  it.each<[string, (condition: Condition<'NOTE'>) => { toRequest(): unknown }]>([
    ['a put', (condition) => notes().put({ id: 'a' }).if(condition)],
    ['a delete', (condition) => notes().delete({ id: 'a' }).if(condition)],
    [
      'a condition check',
      (condition) => transactWrite(here.shop, { a: conditionCheck(notes(), { id: 'a' }).if(condition) }),
    ],
    ['a query', (condition) => notes().query({ id: 'a' }).filter(condition)],
    ['a scan', (condition) => scan(notes()).filter(condition)],
  ])('in %s', (_, request) => {
    expect(() => request(all(150)).toRequest()).not.toThrow();
    expect(() => request(all(151)).toRequest()).toThrow(LimitExceededError);
  });

  it('as the embedded table counts them', async () => {
    const at = { id: 'counted' };
    expect(
      await notes()
        .put({ ...at, count: 2 })
        .ifNotExists()
        .trySend(),
    ).toMatchObject({ conditionMet: true });
    expect(
      await notes()
        .put({ ...at, count: 3 })
        .if(all(150))
        .trySend(),
    ).toMatchObject({ conditionMet: true });
  });

  it('in text', () => {
    const terms = Array.from({ length: 302 }, () => '1').join('+');
    const text = Note.text(Object.assign([terms], { raw: [terms] }));
    expect(() => notes().update({ id: 'a' }).set(attrs.count, text).toRequest()).toThrow(LimitExceededError);
  });
});

describe('values of an update that no item can hold are refused before they are sent', () => {
  const kilobytes = (n: number) => 'x'.repeat(n * 1024);
  const at = { id: 'a' };
  it.each([
    [
      'one',
      () =>
        notes()
          .update(at)
          .set({ text: kilobytes(401) }),
    ],
    [
      'two together',
      () =>
        notes()
          .update(at)
          .set({ text: kilobytes(300), more: kilobytes(101) }),
    ],
    [
      'of more bytes than characters',
      () =>
        notes()
          .update(at)
          .set({ text: '\u20ac'.repeat(140_000) }),
    ],
    ['of a member', () => notes().update(at).set(attrs.place.city, kilobytes(401))],
    [
      'of a list',
      () =>
        notes()
          .update(at)
          .append(attrs.lines, [kilobytes(200), kilobytes(201)]),
    ],
    [
      'before a list',
      () =>
        notes()
          .update(at)
          .prepend(attrs.lines, [kilobytes(401)]),
    ],
    [
      'of a set',
      () =>
        notes()
          .update(at)
          .add(attrs.tags, [kilobytes(401)]),
    ],
    [
      'of a map',
      () =>
        notes()
          .update(at)
          .set({ labels: { a: kilobytes(401) } }),
    ],
  ])('%s', (_, update) => {
    expect(() => update().toRequest()).toThrow(LimitExceededError);
  });

  it('but not those that the item may not hold afterwards', () => {
    const large = kilobytes(300);
    const update = notes()
      .update(at)
      .set({ text: large })
      .setIfNotExists(attrs.more, large)
      .if(attrs.text.ne(large))
      .remove(attrs.lines);
    expect(() => update.toRequest()).not.toThrow();
  });

  it('and never one that DynamoDB takes', async () => {
    const room = 409_600 - 200;
    for (const text of ['x'.repeat(room), '\u20ac'.repeat(Math.floor(room / 3))]) {
      await notes().update({ id: 'room' }).set({ text });
    }
  });
});

describe('an object with inherited members', () => {
  const inherited = Object.create(Object.assign(Object.create(null) as object, { lost: 'x' })) as Record<
    string,
    string
  >;
  inherited['own'] = 'y';

  it('is refused where they would be lost', () => {
    expect(() => notes().put({ id: 'a', labels: inherited })).toThrow(InvalidInputError);
    expect(() => toItem(inherited)).toThrow(InvalidInputError);
    expect(() => toItem({ a: inherited })).toThrow(InvalidInputError);
  });

  it('is read with them where they are declared', () => {
    const note = Object.create(Object.assign(Object.create(null) as object, { id: 'a' })) as {
      id: string;
      text: string;
    };
    note.text = 'x';
    expect(notes().put(note).toRequest().Item).toMatchObject({ id: { S: 'a' }, text: { S: 'x' } });
  });

  it('of another realm has none', () => {
    const foreign = runInNewContext('({ a: "x" })') as Record<string, string>;
    expect(notes().put({ id: 'a', labels: foreign }).toRequest().Item).toMatchObject({
      labels: { M: { a: { S: 'x' } } },
    });
    expect(toItem(foreign)).toEqual({ a: { S: 'x' } });
  });
});

describe('what is no option', () => {
  it('of retryOnConflict is refused', async () => {
    const run = (options: unknown) => retryOnConflict(() => Promise.resolve(1), options as never);
    for (const options of [null, 'x', 1, { signal: {} }, { signal: 'x' }, { signal: null }]) {
      await expect(run(options)).rejects.toThrow(InvalidInputError);
    }
    await fc.assert(
      fc.asyncProperty(hostileValue, async (make) => {
        const value = make();
        for (const options of [value, { signal: value }, { maxAttempts: value }, { on: value }]) {
          await run(options).catch(expectRefusal);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('of a terminal is refused, its signal too', async () => {
    for (const signal of ['x', {}, 1, { aborted: false, addEventListener: 1 }]) {
      const options = { signal } as never;
      await expect(notes().get({ id: 'a' }).item(options)).rejects.toThrow(InvalidInputError);
      await expect(notes().put({ id: 'a' }).send(options)).rejects.toThrow(InvalidInputError);
      await expect(notes().query({ id: 'a' }).all(options)).rejects.toThrow(InvalidInputError);
      await expect(batchGet(here.shop, { a: notes().get({ id: 'a' }) }).send(options)).rejects.toThrow(
        InvalidInputError,
      );
    }
  });
});

it('what inspect shows of an error of the kit is what its message says', () => {
  expectNoSecret(inspect(new ValidationException(new Error(`'${secret}'`)), { depth: 8 }));
});
