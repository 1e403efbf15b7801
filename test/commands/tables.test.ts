import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  entity,
  integer,
  oneOf,
  string,
  table,
  timeToLive,
  uuid,
  version,
} from '../../lib/commands/index.js';
import { offlineClient, offlineTable } from './support/offline.js';
import { Order, order, shopOptions } from './support/shop.js';

const simple = (name: string, pk: string, sk = 'S', options: object = {}) =>
  entity(name, {
    pk,
    sk,
    attributes: { a: string(), b: string(), n: integer(), id: uuid(), kind: oneOf('X', 'Y') },
    ...options,
  } as never) as never;

describe('table()', () => {
  it('refuses a DocumentClient, which would encode values twice', () => {
    const client = offlineClient();
    expect(() => table({ name: 'shop', client: DynamoDBDocumentClient.from(client) })).toThrow(/DocumentClient/);
    expect(() => table({ name: 'shop', client: DynamoDBDocument.from(client) })).toThrow(/DocumentClient/);
  });

  it('takes the client that a DocumentClient was made from', () => {
    const client = offlineClient();
    DynamoDBDocumentClient.from(client);
    expect(table({ name: 'shop', client }).client).toBe(client);
  });

  it('refuses what is no client, and no name', () => {
    for (const wrong of [undefined, null, {}, 'client', { send: 1 }]) {
      expect(() => table({ name: 'shop', client: wrong as never })).toThrow(InvalidInputError);
    }
    for (const wrong of ['', undefined, 5]) {
      expect(() => table({ name: wrong as never, client: offlineClient() })).toThrow(InvalidInputError);
    }
    expect(table({ name: 'shop', client: new DynamoDBClient({ region: 'eu-west-1' }) }).name).toBe('shop');
  });

  it.each([
    [{ pk: 'k', sk: 'k' }],
    [{ type: 'pk' }],
    [{ timeToLive: 'sk' }],
    [{ type: 'ttl' }],
    [{ pk: '' }],
    [{ pk: 5 as never }],
    [{ indexes: { a: { pk: '_type' } } }],
    [{ indexes: { a: { sk: 'ttl' } } }],
    [{ indexes: { a: { pk: 'x', sk: 'x' } } }],
  ])('refuses names of which one would overwrite another: %j', (options) => {
    expect(() => offlineTable(options)).toThrow(InvalidInputError);
  });

  it('names its attributes as it is told', () => {
    const shop = offlineTable({ pk: 'id', sk: 'range', type: 'kind', indexes: { byStatus: { pk: 'p1', sk: 's1' } } });
    expect(shop.of(Order).put(order()).toRequest().Item).toMatchObject({
      id: { S: 'CUSTOMER#alice' },
      range: { S: 'ORDER#0000000001' },
      kind: { S: 'ORDER' },
      p1: { S: 'STATUS#OPEN' },
      s1: {},
    });
  });
});

describe('binding an entity', () => {
  it('refuses what is none', () => {
    for (const wrong of [undefined, null, {}, 'ORDER', 5, Order.attrs, { name: 'ORDER' }]) {
      expect(() => offlineTable().of(wrong as never)).toThrow(InvalidInputError);
    }
  });

  it('gives the same bound entity each time', () => {
    const shop = offlineTable(shopOptions);
    expect(shop.of(Order)).toBe(shop.of(Order));
  });

  it.each([
    ['the same keys', '{a}', '{b}'],
    ['a value that may be the other one’s literal', 'A#{a}', 'A#B'],
    ['heads of which one starts the other', 'A{a}', 'AB{b}'],
    ['tails of which one ends the other', '{a}X', '{b}YX'],
    ['a literal that the kind of the input could be', '{kind}', 'X'],
    ['a number that the literal could be', '{n}', '-12'],
  ])('refuses %s in one table', (_, one, other) => {
    const shop = offlineTable();
    shop.of(simple('ONE', one));
    expect(() => shop.of(simple('OTHER', other))).toThrow(/could also be a key of ONE/);
    expect(() => offlineTable().of(simple('OTHER', other))).not.toThrow();
  });

  it.each([
    ['other literals', 'A#{a}', 'B#{a}'],
    ['another number of parts', '{a}', '{a}#{b}'],
    ['a literal that the kind of the input can not be', '{kind}', 'Z'],
    ['a literal that is no number', '{n}', 'X1'],
    ['a literal that is no UUID', '{id}', 'META'],
    ['tails that differ', '{a}X', '{a}Y'],
  ])('takes keys that can not meet: %s', (_, one, other) => {
    const shop = offlineTable();
    shop.of(simple('ONE', one));
    expect(() => shop.of(simple('OTHER', other))).not.toThrow();
  });

  it('tells keys apart by either of their parts', () => {
    const shop = offlineTable();
    shop.of(simple('ONE', 'A#{a}', 'X'));
    expect(() => shop.of(simple('OTHER', 'A#{a}', 'Y'))).not.toThrow();
    expect(() => shop.of(simple('THIRD', '{a}#{b}', 'Y'))).toThrow(InvalidInputError);
  });

  it('is careful where separators differ, or values are escaped', () => {
    const shop = offlineTable();
    shop.of(simple('ONE', 'A#{a}'));
    expect(() => shop.of(simple('OTHER', '{a}|{b}', 'S', { separator: '|' }))).toThrow(InvalidInputError);
    expect(() => shop.of(simple('THIRD', 'B|{a}', 'S', { separator: '|' }))).not.toThrow();
    const odd = entity('ODD', { pk: '{k}', sk: 'T', escape: true, attributes: { k: oneOf('a#b') } });
    const literal = entity('LITERAL', { pk: 'a%23b', sk: 'T', attributes: {} });
    const escaped = offlineTable();
    escaped.of(odd);
    expect(() => escaped.of(literal)).toThrow(InvalidInputError);
  });

  it('refuses two entities of one name with other keys, and takes one that was declared twice', () => {
    const shop = offlineTable();
    shop.of(simple('ONE', 'A#{a}'));
    expect(() => shop.of(simple('ONE', 'A#{a}'))).not.toThrow();
    expect(() => shop.of(simple('ONE', 'B#{a}'))).toThrow(/has this name/);
  });

  it('forgets an entity that it refused', () => {
    const shop = offlineTable();
    expect(() => shop.of(simple('ONE', 'A#{a}', 'S', { indexes: { missing: { pk: '{b}' } } }))).toThrow(
      InvalidInputError,
    );
    expect(() => shop.of(simple('OTHER', 'A#{a}'))).not.toThrow();
  });

  it.each([
    ['a key attribute', { pk: string() }],
    ['the type attribute', { type: string().savedAs('_type') }],
    ['an index key', { byStatuspk: string() }],
    ['the time to live, which it is not', { ttl: integer() }],
  ])('refuses an attribute with the stored name of %s', (_, attributes) => {
    const named = entity('NAMED', { pk: 'A', sk: 'S', attributes: attributes as never });
    expect(() => offlineTable(shopOptions).of(named)).toThrow(/stored name/);
  });

  it('stores the time to live where the entity says, if it does', () => {
    const session = (savedAs?: string) =>
      entity('SESSION', {
        pk: 'S',
        sk: 'S',
        attributes: { until: savedAs === undefined ? timeToLive() : timeToLive().savedAs(savedAs) },
      });
    const stored = (savedAs?: string): string[] =>
      Object.keys(
        offlineTable()
          .of(session(savedAs))
          .put({ until: new Date(0) })
          .toRequest().Item ?? {},
      );
    expect(stored()).toContain('ttl');
    expect(stored('until')).toContain('until');
  });

  it('refuses a sort key that the table has not, and the other way round', () => {
    const plain = entity('PLAIN', { pk: 'A', attributes: { a: string() } });
    expect(() => offlineTable().of(plain)).toThrow(/no sort key/);
    expect(() => offlineTable({ sk: false }).of(Order)).toThrow(InvalidInputError);
    const request = offlineTable({ sk: false }).of(plain).put({ a: 'x' }).toRequest();
    expect(request.Item).toEqual({ pk: { S: 'A' }, _type: { S: 'PLAIN' }, a: { S: 'x' } });
    expect(offlineTable({ sk: false }).of(plain).get({}).toRequest().Key).toEqual({ pk: { S: 'A' } });
  });

  it('refuses an index that the table does not have, or has otherwise', () => {
    expect(() => offlineTable().of(Order)).toThrow(/uses the index byStatus/);
    expect(() => offlineTable({ indexes: { byStatus: { sk: false } } }).of(Order)).toThrow(/has a sort key/);
    const unsorted = simple('ONE', 'A#{a}', 'S', { indexes: { byKind: { pk: '{kind}' } } });
    expect(() => offlineTable({ indexes: { byKind: {} } }).of(unsorted)).toThrow(/has no sort key/);
    expect(() => offlineTable({ indexes: { byKind: { sk: false } } }).of(unsorted)).not.toThrow();
    const inherited = simple('ONE', 'A#{a}', 'S', { indexes: { constructor: { pk: '{kind}' } } });
    expect(() => offlineTable().of(inherited)).toThrow(/uses the index/);
  });

  it('refuses an index key that would be stored over another key', () => {
    const local = simple('ONE', 'A#{a}', 'S', { indexes: { local: { pk: 'OTHER#{a}', sk: '{b}' } } });
    expect(() => offlineTable({ indexes: { local: { pk: 'pk', sk: 'l' } } }).of(local)).toThrow(/another form/);
    const two = simple('ONE', 'A#{a}', 'S', {
      indexes: { x: { pk: '{a}', sk: '{b}' }, y: { pk: '{a}', sk: '{n:4}' } },
    });
    const indexes = { x: { pk: 'shared', sk: 'x' }, y: { pk: 'shared', sk: 'y' } };
    expect(() => offlineTable({ indexes }).of(two)).toThrow(InvalidInputError);
  });

  it('refuses an index that projects what is no attribute', () => {
    expect(() => simple('ONE', 'A#{a}', 'S', { indexes: { x: { pk: '{b}', project: ['nothing'] } } })).toThrow(
      InvalidInputError,
    );
  });

  it('refuses an index of the entity that it has not', () => {
    expect(() =>
      offlineTable(shopOptions)
        .of(Order)
        .index('other' as never),
    ).toThrow(InvalidInputError);
  });

  it('keeps versions apart from entities that have none', () => {
    const versioned = entity('V', { pk: 'V', sk: 'S', attributes: { rev: version().savedAs('v') } });
    const request = offlineTable().of(versioned).put({ rev: 4 }).toRequest();
    expect(request.Item).toMatchObject({ v: { N: '5' } });
    expect(request.ExpressionAttributeNames).toEqual({ '#0': 'v' });
  });
});
