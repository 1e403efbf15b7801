import { describe, expect, it } from 'vitest';
import {
  ConditionalCheckFailedException,
  InvalidInputError,
  InvalidStoredItemError,
  entity,
  integer,
  list,
  map,
  string,
  stringSet,
} from '../../../lib/commands/index.js';
import { liveTable } from '../support/live.js';
import { Cart, Order, order } from '../support/shop.js';

const live = liveTable();
const orders = () => live.shop.of(Order);
const carts = () => live.shop.of(Cart);
let serial = 0;
/** A key that no other test uses. */
const fresh = () => ({ customer: `c${++serial}`, number: 1 });
const keyOf = ({ customer }: { customer: string }) => [`CUSTOMER#${customer}`, 'ORDER#0000000001'] as const;

describe('which write to take', () => {
  it('put().ifNotExists() creates, and never overwrites', async () => {
    const key = fresh();
    await orders().put(order(key)).ifNotExists().send();
    await expect(
      orders()
        .put(order({ ...key, total: 5 }))
        .ifNotExists()
        .send(),
    ).rejects.toThrow(ConditionalCheckFailedException);
    expect((await orders().get(key).item())?.total).toBe(100);
  });

  it('put() creates, and replaces the whole item', async () => {
    const key = fresh();
    await orders().put(order({ ...key, note: 'x', shipTo: { street: 's', city: 'c' } }));
    await orders().put(order({ ...key, total: 5 }));
    expect(await orders().get(key).item()).toEqual(order({ ...key, total: 5 }));
  });

  it('put().ifExists() replaces what is there', async () => {
    const key = fresh();
    await expect(orders().put(order(key)).ifExists().send()).rejects.toThrow(ConditionalCheckFailedException);
    await orders().put(order(key));
    await orders()
      .put(order({ ...key, total: 6 }))
      .ifExists();
    expect((await orders().get(key).item())?.total).toBe(6);
  });

  it('update() patches what it names, or creates an item that reads back as its entity', async () => {
    const key = fresh();
    const { status, placedAt, total, lines } = order();
    await orders().update(key).set({ status, placedAt, total, lines });
    expect(await live.stored(...keyOf(key))).toEqual({
      pk: { S: `CUSTOMER#${key.customer}` },
      sk: { S: 'ORDER#0000000001' },
      _type: { S: 'ORDER' },
      status: { S: 'OPEN' },
      placedAt: { S: placedAt.toISOString() },
      total: { N: '100' },
      lines: { L: [] },
      byStatuspk: { S: 'STATUS#OPEN' },
      byStatussk: { S: placedAt.toISOString() },
    });
    expect(await orders().get(key).item()).toEqual(order(key));
    await orders().update(key).set({ note: 'x' });
    expect(await orders().get(key).item()).toEqual(order({ ...key, note: 'x' }));
    expect(await orders().query({ customer: key.customer }).all()).toEqual([order({ ...key, note: 'x' })]);
  });

  it('update().storeKeyInputs() stores the inputs of the key, as a put does', async () => {
    const key = fresh();
    await orders().update(key).set({ total: 1 }).storeKeyInputs();
    expect(await live.stored(...keyOf(key))).toMatchObject({ customer: { S: key.customer }, number: { N: '1' } });
  });

  it('update().ifExists() patches what is there, and leaves no half item where none is', async () => {
    const key = fresh();
    await expect(orders().update(key).set({ total: 1 }).ifExists().send()).rejects.toThrow(
      ConditionalCheckFailedException,
    );
    expect(await live.stored(...keyOf(key))).toBeUndefined();
    await orders().put(order(key));
    await orders().update(key).set({ total: 1 }).ifExists();
    expect((await orders().get(key).item())?.total).toBe(1);
  });

  it('an update keeps the type that an item has, and attributes that the entity does not declare', async () => {
    const key = fresh();
    await orders().put(order(key));
    const item = await live.stored(...keyOf(key));
    await live.store({ ...item, legacy: { S: 'kept' } });
    await orders().update(key).set({ total: 1 });
    expect(await live.stored(...keyOf(key))).toMatchObject({ legacy: { S: 'kept' }, _type: { S: 'ORDER' } });
  });

  it('delete() succeeds where nothing is, and returnOld() says whether something was', async () => {
    const key = fresh();
    expect(await orders().delete(key).returnOld()).toEqual({ conditionMet: true, item: undefined });
    await orders().put(order(key));
    expect(await orders().delete(key).returnOld()).toEqual({ conditionMet: true, item: order(key) });
    await expect(orders().delete(key).ifExists().send()).rejects.toThrow(ConditionalCheckFailedException);
  });

  it('unique() claims a key for one', async () => {
    const key = fresh();
    await orders().unique(order(key));
    expect((await orders().unique(order(key)).trySend()).conditionMet).toBe(false);
  });
});

describe('what a write returns', () => {
  it('is only what it was asked for', async () => {
    const key = fresh();
    expect(await orders().put(order(key)).send()).toEqual({ conditionMet: true });
    expect(await orders().put(order(key)).returnOld().send()).toEqual({ conditionMet: true, item: order(key) });
    expect(await orders().update(key).set({ total: 1 }).send()).toEqual({ conditionMet: true });
    expect(await orders().update(key).set({ total: 2 }).returnOld().send()).toEqual({
      conditionMet: true,
      item: order({ ...key, total: 1 }),
    });
    expect(await orders().update(key).set({ total: 3 }).returnNew().send()).toEqual({
      conditionMet: true,
      item: order({ ...key, total: 3 }),
    });
    const { consumedCapacity } = await orders().update(key).set({ total: 4 }).returnCapacity().send();
    expect(consumedCapacity.CapacityUnits).toBeGreaterThan(0);
    expect(await orders().delete(key).send()).toEqual({ conditionMet: true });
  });

  it('says how large the collection of items is that it wrote into', async () => {
    const key = fresh();
    const { itemCollectionMetrics } = await orders().put(order(key)).returnItemCollectionMetrics().send();
    expect(itemCollectionMetrics?.ItemCollectionKey).toEqual({ pk: { S: `CUSTOMER#${key.customer}` } });
  });

  it('return() gives the attribute after the update', async () => {
    const key = fresh();
    expect(await orders().update(key).add(Order.attrs.total, 5).return(Order.attrs.total)).toBe(5);
    expect(await orders().update(key).add(Order.attrs.total, 5).return(Order.attrs.total).send()).toBe(10);
    expect(await orders().update(key).add(Order.attrs.total, 1).return(Order.attrs.note)).toBeUndefined();
    expect(await orders().update(key).set({ note: 'x' }).return(Order.attrs.total)).toBe(11);
    expect(await orders().update(key).remove(Order.attrs.lines).return(Order.attrs.lines)).toEqual([]);
    expect(await orders().update(key).set({ note: 'x' }).return(Order.attrs.number)).toBe(1);
  });

  it('return() gives the whole of a document of which a part was written', async () => {
    const key = fresh();
    await orders().put(
      order({ ...key, shipTo: { street: 's', city: 'c', zip: 'z' }, lines: [{ sku: 'a', quantity: 1 }] }),
    );
    const { shipTo, lines } = Order.attrs;
    expect(await orders().update(key).set(shipTo.city, 'Bern').return(shipTo)).toEqual({
      street: 's',
      city: 'Bern',
      zip: 'z',
    });
    expect(await orders().update(key).set(shipTo.city, 'Basel').return(shipTo.city)).toBe('Basel');
    expect(await orders().update(key).set(lines.at(0).quantity, 5).return(lines.at(0).sku)).toBe('a');
    expect(await orders().update(key).set(shipTo.city, 'Chur').return(shipTo.zip)).toBe('z');
  });

  it('trySend() answers a failed condition, with what it saw where it asked for that', async () => {
    const key = fresh();
    const change = () => orders().update(key).set({ total: 1 }).ifExists();
    expect(await change().trySend()).toEqual({ conditionMet: false });
    expect(await change().returnOldOnFailure().trySend()).toEqual({ conditionMet: false, item: undefined });
    await orders().put(order({ ...key, expiresAt: new Date(5_000), tags: new Set(['a']) }));
    const failed = await orders()
      .update(key)
      .set({ total: 1 })
      .if(Order.attrs.total.gt(1000))
      .returnOldOnFailure()
      .trySend();
    expect(failed).toEqual({
      conditionMet: false,
      item: order({ ...key, expiresAt: new Date(5_000), tags: new Set(['a']) }),
    });
    const met = await change().returnOld().returnOldOnFailure().trySend();
    expect(met).toMatchObject({ conditionMet: true, item: { total: 100 } });
    expect(await orders().delete(key).if(Order.attrs.total.gt(5)).trySend()).toEqual({ conditionMet: false });
  });

  it('returnOld() gives nothing for a failed condition', async () => {
    const key = fresh();
    await orders().put(order(key));
    expect(await orders().put(order(key)).ifNotExists().returnOld().trySend()).toEqual({ conditionMet: false });
  });

  it('says that the write took effect where the item can not be read', async () => {
    const key = fresh();
    const error = await orders()
      .update(key)
      .set({ total: 1 })
      .returnNew()
      .send()
      .catch((caught: unknown) => caught as Error);
    expect(error).toBeInstanceOf(InvalidStoredItemError);
    expect((error as Error).message).toMatch(/the write took effect/);
    expect(await live.stored(...keyOf(key))).toMatchObject({ total: { N: '1' } });
  });
});

describe('an update', () => {
  it('adds, removes and appends in place', async () => {
    const key = fresh();
    const { tags, scores, lines, labels, total, note } = Order.attrs;
    await orders().put(order({ ...key, note: 'x', labels: {} }));
    await orders().update(key).add(tags, ['a', 'b']).add(scores, [1, 2]).add(total, -1);
    await orders()
      .update(key)
      .deleteFrom(tags, ['a'])
      .append(lines, [{ sku: 'x', quantity: 1 }])
      .remove(note);
    await orders()
      .update(key)
      .prepend(lines, [{ sku: 'y', quantity: 1 }])
      .set(labels.at('a.b'), 'dotted');
    expect(await orders().get(key).item()).toEqual(
      order({
        ...key,
        total: 99,
        tags: new Set(['b']),
        scores: new Set([1, 2]),
        lines: [
          { sku: 'y', quantity: 1 },
          { sku: 'x', quantity: 1 },
        ],
        labels: { 'a.b': 'dotted' },
      }),
    );
    await orders().update(key).set(lines.at(1).quantity, 7).remove(lines.at(0));
    expect((await orders().get(key).item())?.lines).toEqual([{ sku: 'x', quantity: 7 }]);
  });

  it('appends to a list that is absent', async () => {
    const key = fresh();
    await orders()
      .update(key)
      .append(Order.attrs.lines, [{ sku: 'x', quantity: 1 }]);
    expect(await orders().update(key).prepend(Order.attrs.lines, []).return(Order.attrs.lines)).toEqual([
      { sku: 'x', quantity: 1 },
    ]);
  });

  it('takes an empty set as removal, so that the attribute reads as absent', async () => {
    const key = fresh();
    await orders().put(order({ ...key, tags: new Set(['a']) }));
    await orders().update(key).set({ tags: new Set() });
    expect(await live.stored(...keyOf(key))).not.toHaveProperty('tags');
    await orders().put(order({ ...key, tags: new Set() }));
    expect(await live.stored(...keyOf(key))).not.toHaveProperty('tags');
  });

  it('says what to do where the map that it writes into is missing', async () => {
    const key = fresh();
    await orders().put(order(key));
    await expect(orders().update(key).set(Order.attrs.shipTo.city, 'Bern').send()).rejects.toThrow(
      expect.objectContaining({
        name: InvalidInputError.name,
        message: expect.stringMatching(/set the whole map/) as string,
      }),
    );
  });

  it('takes expression text', async () => {
    const key = fresh();
    const { total, lines } = Order.attrs;
    await orders().put(order(key));
    await orders()
      .update(key)
      .set(total, Order.text`${total} - ${total.value(30)}`)
      .if(Order.text` ( size(${lines}) < ${total.value(5)} ) `)
      .if(total.gt(0).or(lines.exists()));
    expect((await orders().get(key).item())?.total).toBe(70);
  });

  it('joins clauses so that DynamoDB takes each as one', async () => {
    const key = fresh();
    const { total, note, status } = Order.attrs;
    await orders().put(order(key));
    // Without parentheses this would hold: total = 1 OR (total = 100 AND note exists).
    const joined = orders()
      .update(key)
      .set({ note: 'x' })
      .if(total.eq(100).or(total.eq(1)))
      .if(note.exists());
    expect((await joined.trySend()).conditionMet).toBe(false);
    const nested = total.eq(1).or(total.eq(100).and(note.notExists())).and(status.in('OPEN', 'PAID').negate().negate());
    expect((await orders().update(key).set({ note: 'x' }).if(nested).trySend()).conditionMet).toBe(true);
  });

  it('meets every condition function of DynamoDB', async () => {
    const key = fresh();
    const { total, note, status, tags, lines, shipTo, labels, scores, placedAt, customer } = Order.attrs;
    await orders().put(
      order({
        ...key,
        note: 'hello',
        tags: new Set(['a']),
        scores: new Set([1]),
        lines: [{ sku: 'x', quantity: 2 }],
        shipTo: { street: 's', city: 'Bern' },
        labels: { 'a.b': 'x' },
      }),
    );
    for (const condition of [
      total.eq(100),
      total.ne(1),
      total.between(100, 100),
      total.in(1, 100),
      status.in('PAID', 'OPEN'),
      note.beginsWith('he'),
      note.contains('ll'),
      note.size().eq(5),
      note.isType('S'),
      tags.contains('a'),
      tags.contains('b').negate(),
      tags.size().eq(1),
      tags.eq(new Set(['a'])),
      scores.contains(1),
      lines.size().eq(1),
      lines.at(0).sku.eq('x'),
      lines.at(1).notExists(),
      lines.eq([{ sku: 'x', quantity: 2 }]),
      shipTo.city.eq('Bern'),
      shipTo.zip.notExists(),
      shipTo.eq({ street: 's', city: 'Bern' }),
      labels.at('a.b').eq('x'),
      labels.size().eq(1),
      placedAt.le(new Date()).or(placedAt.gt(new Date())),
      customer.exists(),
      Order.attrs.weight.notExistsOrLt(1),
      total.notExistsOrLe(100),
    ]) {
      expect(
        (
          await orders()
            .delete(key)
            .if(condition.and(total.eq(5)))
            .trySend()
        ).conditionMet,
      ).toBe(false);
      expect((await orders().update(key).set({ total: 100 }).if(condition).trySend()).conditionMet).toBe(true);
    }
  });
});

describe('a read', () => {
  it('says whether it found the item', async () => {
    const key = fresh();
    expect(await orders().get(key).send()).toEqual({ found: false, item: undefined });
    expect(await orders().get(key).item()).toBeUndefined();
    await orders().put(order(key));
    expect(await orders().get(key).consistent().send()).toEqual({ found: true, item: order(key) });
    const { consumedCapacity } = await orders().get(key).returnCapacity().send();
    expect(consumedCapacity.CapacityUnits).toBe(0.5);
  });

  it('projects members, and reads what is absent as an item does', async () => {
    const key = fresh();
    await orders().update(key).set({ total: 1 });
    expect(await orders().get(key).project('total', 'note', 'lines', 'customer').item()).toEqual({
      total: 1,
      lines: [],
      customer: key.customer,
    });
  });

  it('selects one value, which is there only once found was looked at', async () => {
    const key = fresh();
    const select = () => orders().get(key).select(Order.attrs.total).send();
    const none = await select();
    expect(none.found).toBe(false);
    expect('value' in none).toBe(false);
    expect(none.valueOr(0)).toBe(0);
    await orders().put(order({ ...key, shipTo: { street: 's', city: 'Bern' }, lines: [{ sku: 'x', quantity: 1 }] }));
    const found = await select();
    expect(found.found && found.value).toBe(100);
    expect(found.valueOr(0)).toBe(100);
    expect(await orders().get(key).select(Order.attrs.shipTo.city).send()).toMatchObject({ value: 'Bern' });
    expect(await orders().get(key).select(Order.attrs.lines.at(0).sku).send()).toMatchObject({ value: 'x' });
    expect(await orders().get(key).select(Order.attrs.lines.at(7).sku).send()).toMatchObject({ value: undefined });
    expect(await orders().get(key).select(Order.attrs.shipTo.zip).send()).toMatchObject({ found: true });
  });

  it('selects what is absent as an item reads it: a default, nothing, or not at all', async () => {
    const Nested = entity('NESTED', {
      pk: 'NESTED#{id}',
      sk: 'N',
      attributes: {
        id: string(),
        needed: string(),
        maybe: map({ a: string(), b: string().optional(), c: integer().default(3), d: stringSet() }).optional(),
        usual: map({ a: string(), deep: list(map({ x: string() })) }).default({ a: 'x', deep: [{ x: 'y' }] }),
      },
    });
    const nested = live.shop.of(Nested);
    const { needed, maybe, usual, id } = Nested.attrs;
    const key = { id: fresh().customer };
    const read = async (handle: Parameters<ReturnType<typeof nested.get>['select']>[0]): Promise<unknown> => {
      const result = await nested.get(key).select(handle).send();
      return result.found ? result.value : 'no item';
    };
    await nested.update(key);
    expect(await read(id)).toBe(key.id);
    await expect(read(needed)).rejects.toThrow(InvalidStoredItemError);
    expect(await read(maybe)).toBeUndefined();
    expect(await read(maybe.a)).toBeUndefined();
    expect(await read(usual.a)).toBe('x');
    expect(await read(usual.deep.at(0).x)).toBe('y');
    expect(await read(usual.deep.at(1).x)).toBeUndefined();
    const item = await live.stored(`NESTED#${key.id}`, 'N');
    await live.store({ ...item, maybe: { M: {} } });
    await expect(read(maybe.a)).rejects.toThrow(InvalidStoredItemError);
    expect(await read(maybe.b)).toBeUndefined();
    expect(await read(maybe.c)).toBe(3);
    expect(await read(maybe.d)).toEqual(new Set());
  });

  it('refuses an item of another entity, and one that does not match', async () => {
    const key = fresh();
    await orders().put(order(key));
    const item = await live.stored(...keyOf(key));
    await live.store({ ...item, _type: { S: 'OTHER' } });
    await expect(orders().get(key).item()).rejects.toThrow(InvalidStoredItemError);
    await live.store({ ...item, total: { S: 'secret' } });
    await expect(orders().get(key).item()).rejects.toThrow(/^total: (?!.*secret)/);
    const { total: _, ...half } = item ?? {};
    await live.store(half);
    await expect(orders().get(key).item()).rejects.toThrow(InvalidStoredItemError);
  });

  it('reads an item that another writer stored without a type', async () => {
    const key = fresh();
    await orders().put(order(key));
    const { _type: _, ...item } = (await live.stored(...keyOf(key))) ?? {};
    await live.store(item);
    expect(await orders().get(key).item()).toEqual(order(key));
    expect(await orders().query({ customer: key.customer }).all()).toEqual([order(key)]);
  });

  it('reads an item back as it was put', async () => {
    const key = { customer: 'constructor', number: 9_999_999_999 };
    const item = order({
      ...key,
      weight: 0.1,
      note: '',
      tags: new Set(['', 'é']),
      scores: new Set([0.1, -1e20]),
      labels: { constructor: 'a', toString: 'b', '': 'c' },
      shipTo: { street: '', city: '\0' },
      lines: [{ sku: '', quantity: -5 }],
    });
    await orders().put(item);
    expect(await orders().get(key).item()).toEqual(item);
  });
});

describe('a helper', () => {
  const countOrder = (key: { customer: string; number: number }) => orders().update(key).add(Order.attrs.total, 1);

  it('returns a command for the caller to finish and send', async () => {
    const key = fresh();
    await expect(countOrder(key).ifExists().send()).rejects.toThrow(ConditionalCheckFailedException);
    await orders().put(order(key));
    await countOrder(key).ifExists();
    expect((await orders().get(key).item())?.total).toBe(101);
  });

  it('returns a command that is awaited once, however often', async () => {
    const key = fresh();
    await orders().put(order(key));
    const command = countOrder(key);
    await command;
    await command;
    await Promise.all([command, command]);
    expect((await orders().get(key).item())?.total).toBe(101);
    await expect(command.send()).rejects.toThrow(/used once/);
  });

  it('may leave a command unsent, which costs nothing', async () => {
    const key = fresh();
    void countOrder(key).ifExists;
    expect(await orders().get(key).item()).toBeUndefined();
  });

  it('hands on failures to catch() and finally()', async () => {
    const key = fresh();
    let settled = 0;
    const caught = await countOrder(key)
      .ifExists()
      .finally(() => settled++)
      .catch((error: unknown) => error);
    expect(caught).toBeInstanceOf(ConditionalCheckFailedException);
    expect(
      await carts()
        .put({ id: `c${++serial}` })
        .finally(() => settled++),
    ).toEqual({ conditionMet: true, version: 1 });
    expect(settled).toBe(2);
  });
});
