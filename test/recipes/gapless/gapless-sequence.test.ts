import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  TransactionCanceledException,
  entity,
  integer,
  string,
  version,
  type Table,
} from '../../../lib/commands/index.js';
import { SequenceContentionError, SequenceMovedBackError } from '../../../lib/recipes/gapless/errors.js';
import { GaplessSequence, type Assigned } from '../../../lib/recipes/gapless/gapless-sequence.js';
import { sequenceEntity } from '../../../lib/recipes/gapless/sequence-entity.js';
import { embedded } from '../../support/dynamodb.js';
import { loseFirst, recipeShop, rejection, type Fault, type RecipeShop } from '../../support/recipe-shop.js';

const Invoice = entity('INVOICE', {
  pk: 'INVOICE#{id}',
  sk: 'INVOICE',
  attributes: { id: string(), number: integer(), total: integer(), label: string().optional() },
});
const Stock = entity('STOCK', {
  pk: 'STOCK#{sku}',
  sk: 'STOCK',
  attributes: { sku: string(), left: integer() },
});
const Ticket = entity('TICKET', {
  pk: 'TICKET#{id}',
  sk: 'TICKET',
  attributes: { id: string(), number: integer(), revision: version() },
});

let here: RecipeShop;
let names = 0;
const fresh = (): string => `sequence-${++names}`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const upTo = (n: number): number[] => times(n, (i) => i + 1);
const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

/** A sequence, and what assigns its numbers to invoices whose ids are its own. */
const sequenceOn = (shop: Table, name: string, first?: number) => {
  const sequence = new GaplessSequence(shop, first === undefined ? { name } : { name, first });
  const invoices = shop.of(Invoice);
  return {
    sequence,
    invoices,
    assign: (id: string, timeoutMs?: number): Promise<Assigned<(typeof Invoice)['~item']>> =>
      sequence.assign(
        invoices,
        'number',
        { id: `${name}-${id}`, total: 5 },
        timeoutMs === undefined ? {} : { timeoutMs },
      ),
  };
};

/** The numbers of the invoices with these ids, read back. */
const storedNumbers = async (name: string, ids: readonly string[]): Promise<number[]> => {
  const items = await Promise.all(
    ids.map((id) =>
      here.shop
        .of(Invoice)
        .get({ id: `${name}-${id}` })
        .consistent()
        .item(),
    ),
  );
  return items.flatMap((item) => (item === undefined ? [] : [item.number]));
};

describe('GaplessSequence', () => {
  it('numbers records one after another', async () => {
    const { sequence, assign } = sequenceOn(here.shop, fresh());
    expect(await sequence.last()).toBe(0);
    expect(await assign('a')).toEqual({ number: 1, repeated: false, item: undefined });
    expect((await assign('b')).number).toBe(2);
    expect(await sequence.last()).toBe(2);
  });

  it('starts where it is told to, and only where it has no number yet', async () => {
    const name = fresh();
    expect((await sequenceOn(here.shop, name, 1000).assign('a')).number).toBe(1000);
    expect((await sequenceOn(here.shop, name, 5).assign('b')).number).toBe(1001);
  });

  it('answers a repeat with the number given, and the record as it is stored', async () => {
    const name = fresh();
    const { assign } = sequenceOn(here.shop, name);
    await assign('a');
    await assign('b');
    const repeat = { number: 1, repeated: true, item: { id: `${name}-a`, number: 1, total: 5 } };
    expect(await assign('a')).toEqual(repeat);
    expect(await sequenceOn(here.shop, name).assign('a')).toEqual(repeat);
    expect((await assign('c')).number).toBe(3);
  });

  it('derives members from the number, and numbers versioned records', async () => {
    const name = fresh();
    const sequence = new GaplessSequence(here.shop, { name });
    const labelled = { total: 1, id: `${name}-a` };
    await sequence.assign(here.shop.of(Invoice), 'number', (number) => ({ ...labelled, label: `2026-${number}` }));
    expect(
      await here.shop
        .of(Invoice)
        .get({ id: `${name}-a` })
        .consistent()
        .item(),
    ).toEqual({
      ...labelled,
      number: 1,
      label: '2026-1',
    });
    await sequence.assign(here.shop.of(Ticket), 'number', { id: `${name}-t` });
    expect(
      await here.shop
        .of(Ticket)
        .get({ id: `${name}-t` })
        .consistent()
        .item(),
    ).toMatchObject({
      number: 2,
      revision: 1,
    });
  });

  it('gives 20 concurrent writers of one process 20 numbers in the order of their calls', async () => {
    const { assign } = sequenceOn(here.shop, fresh());
    const given = await Promise.all(times(20, (i) => assign(String(i))));
    expect(given.map(({ number }) => number)).toEqual(upTo(20));
  });

  it('gives 20 concurrent processes numbers without a gap', async () => {
    const name = fresh();
    const given = await Promise.all(times(20, (i) => sequenceOn(here.shop, name).assign(String(i), 20_000)));
    expect(ascending(given.map(({ number }) => number))).toEqual(upTo(20));
    expect(ascending(await storedNumbers(name, times(20, String)))).toEqual(upTo(20));
  }, 30_000);

  it('gives two concurrent calls of one id one number', async () => {
    const name = fresh();
    const given = await Promise.all(times(6, () => sequenceOn(here.shop, name).assign('a')));
    expect(given.map(({ number }) => number)).toEqual(times(6, () => 1));
    expect(given.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(await sequenceOn(here.shop, name).sequence.last()).toBe(1);
  });

  it('numbers once where the response is lost and the client sends again', async () => {
    const name = fresh();
    const { assign } = sequenceOn(here.faulty(loseFirst('TransactWriteItems')), name);
    expect((await assign('a')).number).toBe(1);
    expect((await assign('b')).number).toBe(2);
  });

  it('numbers once where the outcome stays unknown and the caller calls again', async () => {
    const name = fresh();
    const { assign } = sequenceOn(here.faulty(loseFirst('TransactWriteItems'), 1), name);
    await expect(assign('a')).rejects.toThrow('socket hang up');
    expect(await assign('a')).toMatchObject({ number: 1, repeated: true });
    expect((await assign('b')).number).toBe(2);
  });

  it('leaves no gap where a request never arrived', async () => {
    let sent = 0;
    const { assign } = sequenceOn(
      here.faulty(() => ++sent === 2 && 'before', 1),
      fresh(),
    );
    expect((await assign('a')).number).toBe(1);
    await expect(assign('b')).rejects.toThrow('socket hang up');
    expect((await assign('c')).number).toBe(2);
    expect((await assign('b')).number).toBe(3);
  });

  it("throws a failed condition of the caller's own steps, and takes no number", async () => {
    const name = fresh();
    const stock = here.shop.of(Stock);
    await stock.put({ sku: name, left: 1 });
    const sequence = new GaplessSequence(here.shop, { name });
    const sell = (id: string) =>
      sequence.assign(
        here.shop.of(Invoice),
        'number',
        { id: `${name}-${id}`, total: 1 },
        {
          steps: () => ({
            stock: stock.update({ sku: name }).add(Stock.attrs.left, -1).if(Stock.attrs.left.gt(0)),
          }),
        },
      );
    expect((await sell('a')).number).toBe(1);
    const error = await rejection(sell('b'));
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).failed['stock']?.reason).toBe('ConditionalCheckFailed');
    // The repeat of the one that sold is answered, though nothing is left.
    expect(await sell('a')).toMatchObject({ number: 1, repeated: true });
    expect(await sequence.last()).toBe(1);
  });

  it("refuses a step of the caller's with the name of its own", async () => {
    const sequence = new GaplessSequence(here.shop, { name: fresh() });
    const steps = () => ({ record: here.shop.of(Stock).put({ sku: 'x', left: 1 }) });
    const error = await rejection(sequence.assign(here.shop.of(Invoice), 'number', { id: 'x', total: 1 }, { steps }));
    expect(error).toBeInstanceOf(InvalidInputError);
  });

  it('gives up when the time is over, in line or in a race, with nothing written', async () => {
    const name = fresh();
    const inTheWay: Fault = async () => {
      await sequenceOn(here.shop, name).assign(`other-${++names}`);
      return false;
    };
    const { assign } = sequenceOn(here.faulty(inTheWay), name);
    const [first, second] = await Promise.all([rejection(assign('a', 150)), rejection(assign('b', 50))]);
    expect(first).toBeInstanceOf(SequenceContentionError);
    expect((first as Error).cause).toBeInstanceOf(TransactionCanceledException);
    expect(second).toBeInstanceOf(SequenceContentionError);
    expect(await storedNumbers(name, ['a', 'b'])).toEqual([]);
  });

  it('ends one wait in line by its signal, and lets the others go on', async () => {
    const name = fresh();
    const slow = here.faulty(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return false;
    });
    const { sequence, invoices, assign } = sequenceOn(slow, name);
    const gone = new AbortController();
    const first = assign('a');
    const second = rejection(
      sequence.assign(invoices, 'number', { id: `${name}-b`, total: 1 }, { signal: gone.signal }),
    );
    const third = assign('c');
    const reason = new Error('the caller left');
    gone.abort(reason);
    expect(await second).toBe(reason);
    expect([(await first).number, (await third).number]).toEqual([1, 2]);
  });

  it('stops where its item was deleted or set back, rather than give numbers twice', async () => {
    const name = fresh();
    const { assign } = sequenceOn(here.shop, name);
    await assign('a');
    await assign('b');
    const items = here.shop.of(sequenceEntity());
    await items.put({ name, last: 1, format: 1 });
    expect(await rejection(assign('c'))).toBeInstanceOf(SequenceMovedBackError);
    await items.delete({ name });
    expect(await rejection(assign('c'))).toBeInstanceOf(SequenceMovedBackError);
    expect(await storedNumbers(name, ['c'])).toEqual([]);
  });

  it('refuses a newer format, and options that can not work', async () => {
    const name = fresh();
    await here.shop.of(sequenceEntity()).put({ name, last: 1, format: 2 });
    const { assign } = sequenceOn(here.shop, name);
    expect(await rejection(assign('a'))).toBeInstanceOf(InvalidStoredItemError);
    expect(await rejection(new GaplessSequence(here.shop, { name }).last())).toBeInstanceOf(InvalidStoredItemError);
    expect(await rejection(assign('a', 0))).toBeInstanceOf(InvalidInputError);
    expect(() => new GaplessSequence(here.shop, { name, first: 0.5 })).toThrow(InvalidInputError);
  });

  it.each([integer().optional(), integer().default(0)])(
    'refuses a member that a record may lack, since it would answer no number, or one that nobody got',
    async (number) => {
      const Draft = entity('DRAFT', { pk: 'DRAFT#{id}', sk: 'DRAFT', attributes: { id: string(), number } });
      const id = fresh();
      await here.shop.of(Draft).put({ id });
      const sequence = new GaplessSequence(here.shop, { name: id });
      const assigned = sequence.assign(here.shop.of(Draft), 'number' as never, { id });
      expect(await rejection(assigned)).toMatchObject({ name: 'InvalidInputError', path: 'member' });
      expect(await sequence.last()).toBe(0);
    },
  );

  it.runIf(embedded)('costs what its documentation says', async () => {
    const name = fresh();
    const { assign } = sequenceOn(here.shop, name);
    const one = { operations: ['TransactWriteItems'], writeUnits: 4, readUnits: 0 };
    expect(await here.costOf(() => assign('a'))).toEqual(one);
    expect(await here.costOf(() => assign('b'))).toEqual(one);
    expect(await here.costOf(() => assign('a'))).toEqual(one);
    const other = sequenceOn(here.shop, name);
    const two = { operations: ['TransactWriteItems', 'TransactWriteItems'], writeUnits: 8, readUnits: 0 };
    expect(await here.costOf(() => other.assign('c'))).toEqual(two);
    expect(await here.costOf(() => assign('d'))).toEqual(two);
  });

  it('has no gap and no number twice, whatever the processes, repeats, lost responses and failures', async () => {
    const call = fc.record({ process: fc.integer({ min: 0, max: 2 }), id: fc.integer({ min: 0, max: 7 }) });
    const faults = fc.array(fc.constantFrom(false, false, true, 'before' as const), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), faults, async (calls, faults) => {
        const name = fresh();
        let sent = 0;
        const processes = times(3, () =>
          sequenceOn(
            here.faulty(() => faults[sent++] ?? false, 1),
            name,
          ),
        );
        // Delivered until it is answered, as a queue would.
        const deliver = async (process: number, id: number): Promise<{ id: number; number: number }> => {
          try {
            const { number } = await processes[process]!.assign(String(id));
            return { id, number };
          } catch (error) {
            if (error instanceof SequenceContentionError) throw error;
            return deliver(process, id);
          }
        };
        const given = await Promise.all(calls.map(({ process, id }) => deliver(process, id)));
        const byId = new Map<number, Set<number>>();
        for (const { id, number } of given) byId.set(id, (byId.get(id) ?? new Set()).add(number));
        expect([...byId.values()].every((numbers) => numbers.size === 1)).toBe(true);
        const ids = [...byId.keys()].map(String);
        expect(ascending(await storedNumbers(name, ids))).toEqual(upTo(ids.length));
        expect(ascending([...byId.values()].flatMap((numbers) => [...numbers]))).toEqual(upTo(ids.length));
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});
