import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  LimitExceededError,
  entity,
  instant,
  integer,
  list,
  map,
  string,
} from '../../../lib/commands/index.js';
import { offlineTable } from '../support/offline.js';
import { Cart, Order, shopOptions } from '../support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const carts = shop.of(Cart);
const key = { customer: 'alice', number: 1 };
const { total, note, tags, scores, lines, shipTo, labels, weight, status, placedAt, expiresAt } = Order.attrs;

const update = () => orders.update(key);
/** The texts of a request, with the names put in. */
const texts = (request: {
  UpdateExpression?: string | undefined;
  ConditionExpression?: string | undefined;
  ExpressionAttributeNames?: Record<string, string> | undefined;
}): { update: string; condition: string | undefined } => {
  const named = (text: string | undefined): string | undefined =>
    text?.replace(/#\d+/g, (alias) => request.ExpressionAttributeNames?.[alias] ?? alias);
  return { update: named(request.UpdateExpression) as string, condition: named(request.ConditionExpression) };
};
const type = '_type = if_not_exists(_type, :0)';

describe('update()', () => {
  it('writes the type of an item that it may create, and no input of the key', () => {
    expect(update().set({ total: 5 }).toRequest()).toEqual({
      TableName: 'shop',
      Key: { pk: { S: 'CUSTOMER#alice' }, sk: { S: 'ORDER#0000000001' } },
      UpdateExpression: 'SET #0 = if_not_exists(#0, :0), #1 = :1',
      ExpressionAttributeNames: { '#0': '_type', '#1': 'total' },
      ExpressionAttributeValues: { ':0': { S: 'ORDER' }, ':1': { N: '5' } },
    });
  });

  it('writes the inputs of the key after storeKeyInputs()', () => {
    const request = update().storeKeyInputs().set(note, 'x').toRequest();
    expect(texts(request).update).toBe(`SET ${type}, note = :1, customer = :2, number = :3`);
    expect(request.ExpressionAttributeValues).toMatchObject({ ':2': { S: 'alice' }, ':3': { N: '1' } });
  });

  it('takes the key as it was when the update was made', () => {
    const Visit = entity('VISIT', {
      pk: 'V#{at}',
      sk: 'V',
      attributes: { at: instant(), who: string() },
      indexes: { byWho: { pk: '{who}', sk: '{at}' } },
    });
    const at = new Date(0);
    const command = offlineTable({ indexes: { byWho: {} } })
      .of(Visit)
      .update({ at });
    at.setTime(1);
    const text = '1970-01-01T00:00:00.000Z';
    const request = command.set({ who: 'x' }).storeKeyInputs().toRequest();
    expect(request.Key?.['pk']).toEqual({ S: `V#${text}` });
    expect(request.ExpressionAttributeValues).toMatchObject({ ':2': { S: text }, ':4': { S: text } });
  });

  it('writes a path into a document as one, not as a dotted name', () => {
    const request = update().set(shipTo.city, 'Bern').set(lines.at(2).sku, 'x').set(labels.at('a.b'), 'y').toRequest();
    expect(request.UpdateExpression).toBe('SET #0 = if_not_exists(#0, :0), #1.#2 = :1, #3[2].#4 = :2, #5.#6 = :3');
    expect(request.ExpressionAttributeNames).toEqual({
      '#0': '_type',
      '#1': 'shipTo',
      '#2': 'city',
      '#3': 'lines',
      '#4': 'sku',
      '#5': 'labels',
      '#6': 'a.b',
    });
  });

  it('writes a top-level attribute whose name has a dot as one', () => {
    const Dotted = entity('DOTTED', { pk: 'D', sk: '{id}', attributes: { id: string(), 'a.b': string() } });
    const request = offlineTable().of(Dotted).update({ id: 'x' }).set(Dotted.attrs['a.b'], 'y').toRequest();
    expect(request).toMatchObject({ ExpressionAttributeNames: { '#1': 'a.b' } });
    expect(request.UpdateExpression).toContain('#1 = :1');
  });

  it('removes for undefined and for an empty set, and stores other empty values', () => {
    const removed = update().set({ note: undefined, tags: new Set(), weight: undefined }).toRequest();
    expect(texts(removed).update).toBe(`SET ${type} REMOVE note, tags, weight`);
    const stored = update().set({ note: '', lines: [], labels: {} }).toRequest();
    expect(stored.ExpressionAttributeValues).toMatchObject({ ':1': { S: '' }, ':2': { L: [] }, ':3': { M: {} } });
  });

  it('leaves undefined and empty sets out of the documents it sets', () => {
    const request = update().set(shipTo, { street: 's', city: 'c', zip: undefined }).toRequest();
    expect(request.ExpressionAttributeValues?.[':1']).toEqual({ M: { street: { S: 's' }, city: { S: 'c' } } });
  });

  it('setIfDefined() changes nothing for undefined', () => {
    expect(texts(update().setIfDefined(note, undefined).toRequest()).update).toBe(`SET ${type}`);
    expect(texts(update().setIfDefined(note, 'x').toRequest()).update).toBe(`SET ${type}, note = :1`);
    expect(() => update().setIfDefined('note' as never, undefined)).toThrow(InvalidInputError);
  });

  it('setIfNotExists() keeps what is stored', () => {
    expect(texts(update().setIfNotExists(note, 'x').toRequest()).update).toBe(
      `SET ${type}, note = if_not_exists(note, :1)`,
    );
    expect(() => update().setIfNotExists(tags, new Set<string>())).toThrow(InvalidInputError);
  });

  it('add() adds to numbers and sets', () => {
    const request = update()
      .add(total, 5)
      .add(tags, ['a', 'b'])
      .add(scores, new Set([1]))
      .toRequest();
    expect(texts(request).update).toBe(`SET ${type} ADD total :1, tags :2, scores :3`);
    expect(request.ExpressionAttributeValues).toMatchObject({
      ':1': { N: '5' },
      ':2': { SS: ['a', 'b'] },
      ':3': { NS: ['1'] },
    });
  });

  it('add() and deleteFrom() of no elements change nothing', () => {
    expect(texts(update().add(tags, []).deleteFrom(tags, new Set<string>()).toRequest()).update).toBe(`SET ${type}`);
  });

  it('deleteFrom() takes elements out of a set', () => {
    expect(texts(update().deleteFrom(tags, ['a']).toRequest()).update).toBe(`SET ${type} DELETE tags :1`);
  });

  it('append() and prepend() take an absent list as empty', () => {
    const line = [{ sku: 'x', quantity: 1 }];
    expect(update().append(lines, line).toRequest()).toMatchObject({
      UpdateExpression: 'SET #0 = if_not_exists(#0, :0), #1 = list_append(if_not_exists(#1, :1), :2)',
      ExpressionAttributeValues: { ':1': { L: [] }, ':2': { L: [{ M: { sku: { S: 'x' } } }] } },
    });
    expect(update().prepend(lines, line).toRequest()).toMatchObject({
      UpdateExpression: 'SET #0 = if_not_exists(#0, :0), #1 = list_append(:1, if_not_exists(#1, :2))',
      ExpressionAttributeValues: { ':1': { L: [{ M: { sku: { S: 'x' } } }] }, ':2': { L: [] } },
    });
  });

  it('takes expression text as a value, in the order of its values', () => {
    const request = update()
      .set(note, 'n')
      .set(total, Order.text`${total} - ${total.value(5)} + ${total.value(1)}`)
      .set(weight, 2)
      .toRequest();
    expect(texts(request).update).toBe(`SET ${type}, note = :1, total = total - :2 + :3, weight = :4`);
    expect(request.ExpressionAttributeValues).toMatchObject({
      ':2': { N: '5' },
      ':3': { N: '1' },
      ':4': { N: '2' },
    });
  });

  it('shares names between the update and its condition, and numbers values through both', () => {
    const request = update().if(total.ge(5)).set(note, 'x').if(note.ne('x')).add(total, -5).ifExists().toRequest();
    expect(request).toMatchObject({
      UpdateExpression: 'SET #0 = if_not_exists(#0, :0), #2 = :2 ADD #1 :4',
      ConditionExpression: '(#1 >= :1) AND (#2 <> :3) AND (attribute_exists(#3))',
      ExpressionAttributeNames: { '#0': '_type', '#1': 'total', '#2': 'note', '#3': 'pk' },
      ExpressionAttributeValues: {
        ':0': { S: 'ORDER' },
        ':1': { N: '5' },
        ':2': { S: 'x' },
        ':3': { S: 'x' },
        ':4': { N: '-5' },
      },
    });
  });

  it('stores the time to live under the name that the table has for it', () => {
    const request = offlineTable({ ...shopOptions, timeToLive: 'expires' })
      .of(Order)
      .update(key)
      .set(expiresAt, new Date(5_000))
      .if(expiresAt.notExistsOrLt(new Date(6_000)))
      .toRequest();
    expect(texts(request)).toEqual({
      update: `SET ${type}, expires = :1`,
      condition: '(attribute_not_exists(expires)) OR (expires < :2)',
    });
  });

  it('refuses two actions on one path, and on one inside the other', () => {
    const cases = [
      update().set(total, 1).set(total, 2),
      update().set(total, 1).add(total, 2),
      update().set(note, 'x').remove(note),
      update().remove(note, note),
      update().add(tags, ['a']).deleteFrom(tags, ['b']),
      update().set(shipTo, undefined).set(shipTo.city, 'x'),
      update().set(shipTo.city, 'x').set(shipTo, { street: 's', city: 'c' }),
      update().set(lines.at(1).sku, 'x').remove(lines.at(1)),
      update().set(labels.at('a'), 'x').set(labels.at('a'), 'y'),
      update().set({ total: 1 }).set({ total: 1 }),
    ];
    for (const command of cases) expect(() => command.toRequest()).toThrow(/two actions on this path/);
  });

  it('allows actions on neighbours', () => {
    const command = update()
      .set(lines.at(1).sku, 'x')
      .remove(lines.at(10))
      .set(lines.at(1).quantity, 5)
      .set(labels.at('a'), 'x')
      .set(labels.at('a.b'), 'x')
      .set(labels.at('a"'), 'x')
      .set(shipTo.city, 'x')
      .set(shipTo.street, 'x');
    expect(() => command.toRequest()).not.toThrow();
  });

  it('refuses what an update can not write', () => {
    const other = entity('OTHER', { pk: 'O', sk: 'O', attributes: { total: integer() } });
    const untyped = orders.update(key) as unknown as Record<string, (...values: unknown[]) => unknown>;
    const refused: [string, ...unknown[]][] = [
      ['set', Order.attrs.customer, 'bob'],
      ['set', { customer: 'bob' }],
      ['set', { nothing: 1 }],
      ['set', { constructor: 1 }],
      ['set', JSON.parse('{"__proto__":1}')],
      ['set', other.attrs.total, 1],
      ['set', note],
      ['set', note, null],
      ['set', note, 5],
      ['set', tags.size(), 5],
      ['set', 'note', 'x'],
      ['set', null],
      ['set', undefined],
      ['set', new Map([['note', 'x']])],
      ['set', []],
      ['set', { '~h': true, path: 'note' }, 5],
      ['set', note, total.eq(5)],
      ['set', note, other.text`${other.attrs.total}`],
      ['add', note, 'x'],
      ['add', total, 'x'],
      ['add', total, NaN],
      ['add', tags, 'abc'],
      ['add', lines, [1]],
      ['deleteFrom', total, 5],
      ['deleteFrom', tags, [5]],
      ['append', tags, ['x']],
      ['append', lines, 'x'],
      ['prepend', note, []],
      ['remove', Order.attrs.number],
      ['remove', 'note'],
      ['setIfNotExists', note, undefined],
      ['return', other.attrs.total],
      ['return', tags.size()],
      ['return', 'note'],
      ['maxAttempts', 0],
      ['maxAttempts', 1.5],
      ['if', 'note = x'],
      ['if', undefined],
      ['if', other.attrs.total.eq(5)],
    ];
    for (const [method, ...values] of refused) {
      expect(() => untyped[method]?.(...values), `${method} ${JSON.stringify(values)}`).toThrow(InvalidInputError);
    }
  });

  it('refuses a key that is none', () => {
    for (const wrong of [undefined, null, {}, { customer: 'alice' }, { customer: 'a#b', number: 1 }]) {
      expect(() => orders.update(wrong as never)).toThrow(InvalidInputError);
    }
  });

  it('refuses expressions longer than DynamoDB takes', () => {
    let command = update();
    for (let i = 0; i < 400; i++) command = command.set(labels.at(`l${i}`), 'x');
    expect(() => command.toRequest()).toThrow(LimitExceededError);
  });

  it('asks for what it returns', () => {
    expect(update().returnOld().toRequest().ReturnValues).toBe('ALL_OLD');
    expect(update().returnNew().toRequest().ReturnValues).toBe('ALL_NEW');
    expect(update().returnOldOnFailure().toRequest().ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
  });

  it('return() asks for the new values of what the update writes, else for all', () => {
    expect(update().add(total, 1).return(total).toRequest().ReturnValues).toBe('UPDATED_NEW');
    expect(update().add(total, 1).return(note).toRequest().ReturnValues).toBe('ALL_NEW');
    // Only the part that was written would come back.
    expect(update().set(shipTo.city, 'x').return(shipTo).toRequest().ReturnValues).toBe('ALL_NEW');
    expect(update().set(shipTo.city, 'x').return(shipTo.city).toRequest().ReturnValues).toBe('ALL_NEW');
  });
});

describe('update() of an index key', () => {
  it('recomputes the key when all inputs are set', () => {
    const at = new Date('2026-12-02T00:00:00Z');
    const request = update().set({ status: 'PAID', placedAt: at, total: 5 }).toRequest();
    expect(texts(request).update).toBe(
      `SET ${type}, status = :1, placedAt = :2, total = :3, byStatuspk = :4, byStatussk = :5`,
    );
    expect(request.ExpressionAttributeValues).toMatchObject({
      ':4': { S: 'STATUS#PAID' },
      ':5': { S: '2026-12-02T00:00:00.000Z' },
    });
  });

  it('is refused where an input is missing or its value is unknown', () => {
    const at = new Date();
    expect(() => update().set({ status: 'PAID' }).toRequest()).toThrow(/^placedAt: set it to a value too/);
    expect(() => update().set(placedAt, at).toRequest()).toThrow(/^status: /);
    expect(() => update().set({ status: 'PAID' }).setIfNotExists(placedAt, at).toRequest()).toThrow(/^placedAt: /);
    expect(() =>
      update()
        .set({ placedAt: at })
        .set(status, Order.text`${status}`)
        .toRequest(),
    ).toThrow(/^status: /);
  });

  it('takes the item out of the index when an input is removed', () => {
    const Task = entity('TASK', {
      pk: 'TASK#{id}',
      sk: 'TASK',
      attributes: { id: string(), owner: string(), due: instant().optional() },
      indexes: { byStatus: { pk: 'OWNER#{owner}', sk: '{due}' } },
    });
    const tasks = offlineTable(shopOptions).of(Task);
    const removed = `SET ${type} REMOVE due, byStatuspk, byStatussk`;
    const task = () => tasks.update({ id: 't1' });
    expect(texts(task().remove(Task.attrs.due).toRequest()).update).toBe(removed);
    expect(texts(task().set({ due: undefined }).toRequest()).update).toBe(removed);
    expect(texts(task().set({ owner: 'bob' }).remove(Task.attrs.due).toRequest()).update).toBe(
      `SET ${type}, owner = :1 REMOVE due, byStatuspk, byStatussk`,
    );
  });

  it('takes inputs of the primary key from the key', () => {
    const Task = entity('TASK', {
      pk: 'TASK#{id}',
      sk: 'TASK',
      attributes: { id: string(), owner: string().optional(), title: string() },
      indexes: { byOwner: { pk: 'OWNER#{owner}', sk: '{id}' } },
    });
    const tasks = offlineTable({ indexes: { byOwner: {} } }).of(Task);
    const request = tasks.update({ id: 't1' }).set({ owner: 'bob' }).toRequest();
    expect(request.ExpressionAttributeValues).toEqual({
      ':0': { S: 'TASK' },
      ':1': { S: 'bob' },
      ':2': { S: 'OWNER#bob' },
      ':3': { S: 't1' },
    });
    expect(() => tasks.update({ id: 't1' }).set({ owner: 'a#b' }).toRequest()).toThrow(InvalidInputError);
    expect(() => tasks.update({ id: 't1' }).set({ owner: '' }).toRequest()).toThrow(InvalidInputError);
  });

  it('puts an item that it creates into an index that the key alone says', () => {
    const User = entity('USER', {
      pk: 'USER#{id}',
      sk: 'USER',
      attributes: { id: string(), name: string() },
      indexes: { all: { pk: 'USERS', sk: '{id}' } },
    });
    const request = offlineTable({ indexes: { all: {} } })
      .of(User)
      .update({ id: 'a' })
      .set({ name: 'x' })
      .toRequest();
    expect(texts(request).update).toBe(
      `SET ${type}, name = :1, allpk = if_not_exists(allpk, :2), allsk = if_not_exists(allsk, :3)`,
    );
    expect(request.ExpressionAttributeValues).toMatchObject({ ':2': { S: 'USERS' }, ':3': { S: 'a' } });
  });

  it("never writes the table's own key for a local index or an inverted one", () => {
    const Note = entity('NOTE', {
      pk: 'NOTE#{id}',
      sk: 'AT#{day}',
      attributes: { id: string(), day: string(), rank: integer().optional(), text: string() },
      indexes: { byRank: { pk: 'NOTE#{id}', sk: 'RANK#{rank:4}' }, inverted: { pk: 'AT#{day}', sk: 'NOTE#{id}' } },
    });
    const notes = offlineTable({
      indexes: { byRank: { pk: 'pk', sk: 'ranksk' }, inverted: { pk: 'sk', sk: 'pk' } },
    }).of(Note);
    expect(notes.put({ id: 'a', day: 'd', rank: 7, text: 'x' }).toRequest().Item).toMatchObject({
      pk: { S: 'NOTE#a' },
      sk: { S: 'AT#d' },
      ranksk: { S: 'RANK#0007' },
    });
    expect(texts(notes.update({ id: 'a', day: 'd' }).set({ rank: 8 }).toRequest()).update).toBe(
      `SET ${type}, rank = :1, ranksk = :2`,
    );
    expect(texts(notes.update({ id: 'a', day: 'd' }).remove(Note.attrs.rank).toRequest()).update).toBe(
      `SET ${type} REMOVE rank, ranksk`,
    );
    expect(texts(notes.update({ id: 'a', day: 'd' }).set({ text: 'y' }).toRequest()).update).toBe(
      `SET ${type}, text = :1`,
    );
  });
});

describe('update() of a versioned entity', () => {
  const { revision, owner } = Cart.attrs;
  const version = (command: { toRequest(): object }) => texts(command.toRequest());

  it('checks the version that it is told, and stores the next', () => {
    const request = carts.update({ id: 'a' }).set({ owner: 'bob' }).ifVersion(7).toRequest();
    expect(texts(request)).toEqual({ update: `SET ${type}, owner = :1, revision = :3`, condition: 'revision = :2' });
    expect(request.ExpressionAttributeValues).toMatchObject({ ':2': { N: '7' }, ':3': { N: '8' } });
  });

  it('moves the version without a check after ignoreVersion()', () => {
    const request = carts.update({ id: 'a' }).set({ owner: 'bob' }).ignoreVersion().toRequest();
    expect(texts(request)).toEqual({
      update: `SET ${type}, owner = :1, revision = if_not_exists(revision, :2) + :3`,
      condition: undefined,
    });
    expect(request.ExpressionAttributeValues).toMatchObject({ ':2': { N: '0' }, ':3': { N: '1' } });
  });

  it('keeps a version that it sets itself', () => {
    expect(version(carts.update({ id: 'a' }).set({ revision: 20 }).ifVersion(7))).toEqual({
      update: `SET ${type}, revision = :1`,
      condition: 'revision = :2',
    });
    expect(version(carts.update({ id: 'a' }).ignoreVersion().set(revision, 20)).update).toBe(
      `SET ${type}, revision = :1`,
    );
  });

  it('writes the version besides conditions, key inputs and indexes with the right values', () => {
    const request = carts
      .update({ id: 'a' })
      .storeKeyInputs()
      .set({ owner: 'bob' })
      .ifVersion(1)
      .if(owner.exists())
      .toRequest();
    expect(texts(request)).toEqual({
      update: `SET ${type}, owner = :1, id = :2, revision = :4`,
      condition: '(attribute_exists(owner)) AND (revision = :3)',
    });
    expect(request.ExpressionAttributeValues).toEqual({
      ':0': { S: 'CART' },
      ':1': { S: 'bob' },
      ':2': { S: 'a' },
      ':3': { N: '1' },
      ':4': { N: '2' },
    });
  });

  it('refuses other writes of the version, which would leave it unknown', () => {
    const untyped = carts.update({ id: 'a' }).ignoreVersion() as unknown as Record<
      string,
      (...v: unknown[]) => unknown
    >;
    for (const [method, ...values] of [
      ['remove', revision],
      ['set', revision, undefined],
      ['set', { revision: undefined }],
      ['set', revision, Cart.text`${revision}`],
      ['setIfNotExists', revision, 5],
      ['add', revision, 1],
      ['set', revision, -1],
      ['set', revision, 1.5],
    ] as const) {
      expect(() => untyped[method]?.(...values), method).toThrow(InvalidInputError);
    }
  });

  it('is refused without a decision, with a contradiction, and with a version that is none', () => {
    const untyped = (): { toRequest(): unknown; send(): Promise<unknown>; ifVersion(n: unknown): never } =>
      carts.update({ id: 'a' }).set({ owner: 'x' }) as never;
    expect(() => untyped().toRequest()).toThrow(/say ifVersion\(n\) or ignoreVersion\(\)/);
    expect(() =>
      (carts.update({ id: 'a' }).ifVersion(1) as unknown as { ignoreVersion(): typeof carts }).ignoreVersion(),
    ).not.toThrow();
    const both = carts.update({ id: 'a' }).ifVersion(1) as unknown as { ignoreVersion(): { toRequest(): void } };
    expect(() => both.ignoreVersion().toRequest()).toThrow(/contradict/);
    for (const wrong of [-1, 1.5, NaN, '1', null, undefined]) {
      expect(() => untyped().ifVersion(wrong)).toThrow(InvalidInputError);
    }
    expect(() => (orders.update(key) as never as { ifVersion(n: number): void }).ifVersion(1)).toThrow(
      InvalidInputError,
    );
  });

  it('rejects instead of sending without a decision', async () => {
    const untyped = carts.update({ id: 'a' }) as never as { send(): Promise<unknown>; trySend(): Promise<unknown> };
    await expect(untyped.send()).rejects.toThrow(InvalidInputError);
    await expect(untyped.trySend()).rejects.toThrow(InvalidInputError);
    expect((shop.client as { sent?: number }).sent).toBe(0);
  });
});

describe('names of members', () => {
  const Odd = entity('ODD', {
    pk: 'ODD',
    sk: '{id}',
    attributes: {
      id: string(),
      place: map({
        number: integer(),
        path: string(),
        top: string(),
        text: string(),
        entity: string(),
        encode: string(),
        kept: string(),
        constructor: string(),
        toString: string(),
        size: integer(),
        eq: string(),
        value: integer(),
      }),
      constructor: string().optional(),
      toString: string().optional(),
      nested: list(map({ number: integer() })),
    },
  });
  const odd = offlineTable().of(Odd);
  const nameOf = (command: { toRequest(): { ExpressionAttributeNames?: object | undefined } }): unknown =>
    (command.toRequest().ExpressionAttributeNames as Record<string, string>)['#2'];

  it.each(['number', 'path', 'top', 'text', 'entity', 'encode', 'kept', 'constructor', 'toString'])(
    'may be %s, whatever a handle has inside',
    (name) => {
      const handle = (Odd.attrs.place as unknown as Record<string, never>)[name] as never;
      const value = name === 'number' ? 5 : 'x';
      expect(nameOf(odd.update({ id: 'a' }).set(handle, value as never))).toBe(name);
    },
  );

  it.each(['size', 'eq', 'value'] as const)('may be that of a method, %s, which at() reaches', (name) => {
    const { place } = Odd.attrs;
    expect(nameOf(odd.update({ id: 'a' }).set(place.at(name) as never, (name === 'eq' ? 'x' : 5) as never))).toBe(name);
  });

  it('may be those of prototypes at the top', () => {
    const request = odd
      .update({ id: 'a' })
      .set({ constructor: 'x' } as never)
      .set(Odd.attrs.toString as never, 'y' as never)
      .toRequest();
    expect(Object.values(request.ExpressionAttributeNames ?? {})).toEqual(['_type', 'constructor', 'toString']);
  });

  it('reach into elements of a list', () => {
    const request = odd.update({ id: 'a' }).set(Odd.attrs.nested.at(3).number, 5).toRequest();
    expect(request.UpdateExpression).toContain('#1[3].#2 = :1');
  });

  it('refuse what is no member', () => {
    const place = Odd.attrs.place as unknown as { at(name: unknown): unknown };
    for (const wrong of ['nothing', '__proto__', 'hasOwnProperty', 0, undefined, null, {}]) {
      expect(() => place.at(wrong)).toThrow(InvalidInputError);
    }
    const nested = Odd.attrs.nested as unknown as { at(index: unknown): unknown };
    for (const wrong of [-1, 1.5, NaN, '0', Infinity, undefined])
      expect(() => nested.at(wrong)).toThrow(InvalidInputError);
    const record = Order.attrs.labels as unknown as { at(name: unknown): unknown };
    for (const wrong of ['', '__proto__', 5, undefined]) expect(() => record.at(wrong)).toThrow(InvalidInputError);
    expect(() => record.at('\0size')).not.toThrow();
  });
});
