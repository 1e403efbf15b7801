import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  InvalidInputError,
  LimitExceededError,
  conditionCheck,
  table,
  type AttributeMap,
} from '../../lib/commands/index.js';
import { TestSession, bodyPath, fromInvocation, messageHandler, toItem, toObject } from '../../lib/messaging/index.js';
import { messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
const fresh = (): string => `raw${++names}x`;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const client = { send: () => undefined, config: {} } as never;

describe('a raw operation', () => {
  it('commits with the message: puts, checks and updates, of the library and of the SDK', async () => {
    const id = fresh();
    const { shop } = here;
    const key = { pk: { S: `CUSTOMERS#${id}` }, sk: { S: id } };
    const handler = messageHandler<{ id: string }, { id: string }>({
      table: shop,
      consumer: 'customers',
      from: fromInvocation({ id: bodyPath('id') }),
      handle: (_message, session) => {
        const customer = { customerId: id, customerPreferred: true, tags: new Set(['a']) };
        session.add({ Put: { TableName: shop.name, Item: { ...toItem(customer), ...key } } });
        session.add(conditionCheck(shop.of(Account), { id }).ifNotExists());
        session.add({
          Update: {
            TableName: shop.name,
            Key: { pk: { S: id }, sk: { S: 'n' } },
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        });
      },
    });
    const message = { id };
    await handler(message);
    await handler(message);
    const { others } = await here.stored(id);
    expect(others.map((item) => toObject(item))).toEqual(
      expect.arrayContaining([
        { pk: `CUSTOMERS#${id}`, sk: id, customerId: id, customerPreferred: true, tags: new Set(['a']) },
        { pk: id, sk: 'n', n: 1 },
      ]),
    );
    expect(others).toHaveLength(2);
  });

  it('that is put without its keys is refused, with what to add', () => {
    const session = new TestSession({ table: table({ name: 'someTable', client, pk: 'PK', sk: 'SK' }) });
    const put = (Item: AttributeMap) => () => session.add({ Put: { TableName: 'someTable', Item } });
    const customer = toItem({ CustomerId: '1', CustomerPreferred: true });
    expect(put(customer)).toThrow('Put 1: lacks the key attribute PK: add it to the mapped item');
    expect(put({ ...customer, PK: { S: 'a' } })).toThrow('lacks the key attribute SK');
    expect(put({ ...customer, PK: { S: '' }, SK: { S: 'b' } })).toThrow('lacks the key attribute PK');
    expect(put({ ...customer, PK: { BOOL: true }, SK: { S: 'b' } })).toThrow('lacks the key attribute PK');
    expect(session.operations).toEqual([]);
    put({ ...customer, PK: { S: 'a' }, SK: { S: 'b' } })();
    put(toItem({ partitionKey: 'a', sortKey: 'c' }, { names: { partitionKey: 'PK', sortKey: 'SK' } }))();
    expect(session.operations).toHaveLength(2);
  });

  it('that is put into a table whose keys are not known is refused, until the table is named', () => {
    const Put = { TableName: 'other', Item: toItem({ id: '1' }) };
    expect(() => new TestSession().add({ Put })).toThrow('name the table in the option `tables`');
    const session = new TestSession({ tables: [table({ name: 'other', client, pk: 'id', sk: false })] });
    session.add({ Put });
    expect(() => session.add({ Put: { ...Put, Item: toItem({ name: 'x' }) } })).toThrow('lacks the key attribute id');
  });

  it.each([
    ['nothing', undefined, 'expected a command'],
    ['null', null, 'expected a command'],
    ['text', 'Put', 'expected a command'],
    ['null for an operation', { Put: null }, 'expected'],
    ['an operation beside something else', { Delete: { TableName: 'test' }, Get: {} }, 'expected a command'],
    ['an empty object', {}, 'expected a command'],
    ['two operations', { Put: { TableName: 'test' }, Delete: { TableName: 'test' } }, 'expected a command'],
    ['no table', { Delete: { Key: { pk: { S: 'a' } } } }, 'expected a TableName'],
    [
      'plain values, as lib-dynamodb takes',
      { Put: { TableName: 'test', Item: { pk: 'a', sk: 'b' } } },
      'no attribute value',
    ],
    ['no item', { Put: { TableName: 'test' } }, 'expected attribute values'],
    ['half a key', { Delete: { TableName: 'test', Key: { pk: { S: 'a' } } } }, 'lacks the key attribute sk'],
    [
      'more than a key',
      { Delete: { TableName: 'test', Key: { pk: { S: 'a' }, sk: { S: 'b' }, x: { S: 'c' } } } },
      'expected a Key of the key attributes and nothing else',
    ],
    ['an empty key of another table', { Delete: { TableName: 'x', Key: { id: { S: '' } } } }, 'expected a Key'],
  ])('that is %s is refused', (_what, operation, message) => {
    expect(() => new TestSession().add(operation as never)).toThrow(message);
  });

  const put = (value: unknown, more: object = {}) => ({
    Put: { TableName: 'test', Item: { pk: { S: 'a' }, sk: { S: 'b' }, value }, ...more },
  });
  const nested = (levels: number): unknown => (levels === 0 ? { S: 'x' } : { L: [nested(levels - 1)] });
  it.each<[string, unknown]>([
    ['text alone', 'a'],
    ['null', null],
    ['no type', {}],
    ['an undefined S', { S: undefined }],
    ['an S that is a number', { S: 5 }],
    ['a lone surrogate', { S: '\ud800' }],
    ['an N that is a number', { N: 5 }],
    ['an empty N', { N: '' }],
    ['an N that is no number', { N: '0x10' }],
    ['an N that is NaN', { N: 'NaN' }],
    ['an N with a space', { N: ' 5' }],
    ['an N out of range', { N: '1e126' }],
    ['an N of 39 digits', { N: '1'.repeat(39) }],
    ['a B of text', { B: 'AAAA' }],
    ['a B of an ArrayBuffer', { B: new ArrayBuffer(1) }],
    ['a BOOL of text', { BOOL: 'true' }],
    ['a NULL that is false', { NULL: false }],
    ['an L that is no array', { L: { S: 'a' } }],
    ['a hole', { L: new Array(1) }],
    ['an M that is an array', { M: [] }],
    ['an M that is null', { M: null }],
    ['an M with a nameless member', { M: { '': { S: 'a' } } }],
    ['an M with __proto__', { M: JSON.parse('{"__proto__":{"S":"a"}}') as object }],
    ['an M with a lone surrogate in a name', { M: { '\ud800': { S: 'a' } } }],
    ['plain values in an M', { M: { a: 1 } }],
    ['an SS of a number', { SS: [5] }],
    ['an SS that is text', { SS: 'a' }],
    ['an empty SS', { SS: [] }],
    ['an SS with a text twice', { SS: ['a', 'a'] }],
    ['an NS of a number', { NS: [5] }],
    ['an NS with a number twice', { NS: ['1', '1.0', '2'] }],
    ['a BS of text', { BS: ['a'] }],
    ['a BS with the same bytes twice', { BS: [new Uint8Array([1]), Buffer.from([1])] }],
    ['two types', { S: 'a', N: '1' }],
    ['another type', { X: 1 }],
    ['a type of the prototype', { constructor: 1 }],
    ['$unknown of the SDK', { $unknown: ['X', 1] }],
  ])('with a value that is %s is refused when it is added, also deep inside', (_what, value) => {
    const session = new TestSession();
    const inside = [value, { L: [value] }, { M: { a: { L: [{ S: 'x' }, value] } } }];
    for (const given of inside) expect(() => session.add(put(given) as never, 'op')).toThrow(InvalidInputError);
    const values = { ExpressionAttributeValues: { ':v': { L: [value] } } };
    expect(() => session.add(put({ S: 'x' }, values) as never, 'op')).toThrow(/^op: /);
    const Update = { TableName: 'test', Key: { pk: { S: 'a' }, sk: { S: 'b' } }, UpdateExpression: 'SET a = :v' };
    expect(() => session.add({ Update: { ...Update, ...values } } as never, 'op')).toThrow(/^op: /);
    expect(() => session.add({ Delete: { TableName: 'test', Key: { pk: value, sk: { S: 'b' } } } } as never)).toThrow(
      InvalidInputError,
    );
    expect(session.operations).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['a mistyped condition', { ConditionExpresion: 'attribute_not_exists(pk)' }, /nothing but Item, TableName/],
    ['what a transaction can not return', { ReturnValues: 'ALL_OLD' }, /nothing but Item, TableName/],
    ['an empty condition', { ConditionExpression: '' }, /text for ConditionExpression/],
    ['a condition that is no text', { ConditionExpression: {} }, /text for ConditionExpression/],
    ['names that are no text', { ExpressionAttributeNames: { '#a': 5 } }, /ExpressionAttributeNames/],
    ['names that are null', { ExpressionAttributeNames: null }, /ExpressionAttributeNames/],
    ['values that are a list', { ExpressionAttributeValues: [] }, /attribute values/],
  ])('that says %s is refused', (_what, more, message) => {
    expect(() => new TestSession().add(put({ S: 'x' }, more) as never)).toThrow(InvalidInputError);
    expect(() => new TestSession().add(put({ S: 'x' }, more) as never)).toThrow(message);
  });

  it.each<[string, unknown, string]>([
    ['an update without its expression', { Update: {} }, 'UpdateExpression'],
    ['a check without its condition', { ConditionCheck: {} }, 'ConditionExpression'],
  ])('that is %s is refused', (_what, operation, message) => {
    const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
    const [kind] = Object.keys(operation as object) as [string];
    expect(() => new TestSession().add({ [kind]: { TableName: 'test', Key } })).toThrow(message);
  });

  it('takes 32 levels and refuses the 33rd, and what holds itself', () => {
    new TestSession().add(put(nested(32)) as never);
    expect(() => new TestSession().add(put(nested(33)) as never)).toThrow(LimitExceededError);
    const cycle: { L: unknown[] } = { L: [] };
    cycle.L.push(cycle);
    expect(() => new TestSession().add(put(cycle) as never)).toThrow(LimitExceededError);
  });

  it('is copied when it is added: what changes afterwards is not sent', () => {
    const session = new TestSession();
    const bytes = new Uint8Array([1]);
    const operation = {
      Put: {
        TableName: 'test',
        Item: {
          pk: { S: 'a' },
          sk: { S: 'b' },
          m: { M: { l: { L: [{ N: '1' }] } } },
          b: { B: bytes },
          s: { SS: ['x'] },
        },
        ConditionExpression: '#a = :a',
        ExpressionAttributeNames: { '#a': 'a' },
        ExpressionAttributeValues: { ':a': { S: 'a' } },
      },
    };
    session.add(operation);
    const before = structuredClone(operation);
    const { Item, ExpressionAttributeNames, ExpressionAttributeValues } = operation.Put;
    Item.pk.S = 'other';
    Item.m.M.l.L[0] = { N: 'x' };
    Item.m.M.l.L.push({ N: '2' });
    bytes[0] = 9;
    Item.s.SS.push('y');
    ExpressionAttributeNames['#a'] = 'b';
    ExpressionAttributeValues[':a'].S = 'b';
    operation.Put.ConditionExpression = 'changed';
    expect(session.operations[0]?.item).toEqual(before);
    expect(session.commit().at(-1)?.item).toEqual(before);
  });

  it('sends of every kind of value what the same put sends that goes to the SDK', async () => {
    const id = fresh();
    const Item = (sk: string): AttributeMap => ({
      pk: { S: id },
      sk: { S: sk },
      all: {
        L: [
          { S: '' },
          { N: '-1.5e3' },
          { B: new Uint8Array([0, 255]) },
          { BOOL: false },
          { NULL: true },
          { M: { a: { M: {} } } },
          { SS: ['a', ''] },
          { NS: ['1', '-2'] },
          { BS: [new Uint8Array([1]), new Uint8Array()] },
        ],
      },
    });
    await here.shop.client.send(new PutItemCommand({ TableName: here.shop.name, Item: Item('sdk') }));
    const handler = messageHandler<{ id: string }, { id: string }>({
      table: here.shop,
      consumer: 'all values',
      from: fromInvocation({ id: bodyPath('id') }),
      handle: (_message, session) => session.add({ Put: { TableName: here.shop.name, Item: Item('session') } }),
    });
    await handler({ id });
    const [one, two] = (await here.stored(id)).others;
    expect(one?.['all']).toBeDefined();
    expect(one?.['all']).toEqual(two?.['all']);
  });

  it('knows a table by its name and by its ARN, on either side', () => {
    const arn = 'arn:aws:dynamodb:eu-west-1:111122223333:table/someTable';
    const incomplete = { TableName: '', Item: { id: { S: 'a' } } };
    for (const name of [arn, 'someTable']) {
      const session = new TestSession({ table: table({ name, client, pk: 'PK', sk: 'SK' }) });
      for (const TableName of [arn, 'someTable'])
        expect(() => session.add({ Put: { ...incomplete, TableName } })).toThrow('lacks the key attribute PK');
      const Item = { PK: { S: 'a' }, SK: { S: 'b' } };
      session.add({ Put: { TableName: 'someTable', Item } });
      expect(() => session.add({ Put: { TableName: arn, Item } })).toThrow('the same item');
    }
    // Of two tables of one name, the one that is meant.
    const other = table({ name: arn, client, pk: 'id', sk: false });
    const session = new TestSession({ table: table({ name: 'someTable', client }), tables: [other] });
    session.add({ Put: { TableName: arn, Item: { id: { S: 'a' } } } });
    expect(() => session.add({ Put: { TableName: 'someTable', Item: { id: { S: 'b' } } } })).toThrow('attribute pk');
  });

  it('touches the same item where its key is the same number, however it is written', () => {
    const session = new TestSession();
    const remove = (N: string) => session.add({ Delete: { TableName: 'other', Key: { id: { N } } } });
    remove('100');
    for (const same of ['100.0', '1e2', '0100', '1.0E+2']) expect(() => remove(same)).toThrow('the same item');
    for (const other of ['-100', '10', '1000', '100.1', '0']) remove(other);
    expect(() => remove('-0.0')).toThrow('the same item');
  });

  it('says by name, and never by value, what stopped it', async () => {
    const id = fresh();
    await here.shop.of(Account).put({ id, balance: 1 });
    const handler = messageHandler<{ id: string }, { id: string }>({
      table: here.shop,
      consumer: id,
      from: fromInvocation({ id: bodyPath('id') }),
      maxAttempts: 1,
      handle: (_message, session) => {
        const Key = { pk: { S: `ACCOUNT#${id}` }, sk: { S: 'BALANCE' } };
        const Delete = { TableName: here.shop.name, Key, ConditionExpression: 'attribute_not_exists(pk)' };
        session.add({ Delete: { ...Delete, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } }, 'gone');
      },
    });
    const error = (await rejection(handler({ id }))) as Error & { failed: Record<string, { item: AttributeMap }> };
    expect(error.message).not.toContain(id);
    expect(error.failed['gone']?.item['balance']).toEqual({ N: '1' });
  });
});
