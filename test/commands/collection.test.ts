import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  collection,
  createTable,
  entity,
  integer,
  string,
  table,
  version,
  type Table,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineTable } from './support/offline.js';

const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'PROFILE',
  attributes: { customer: string(), name: string(), revision: version() },
});
const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:6}',
  attributes: { customer: string(), number: integer(), total: integer() },
});
const Note = entity('NOTE', {
  pk: 'CUSTOMER#{customer}',
  sk: 'NOTE#{id}',
  attributes: { customer: string(), id: string() },
});
const Product = entity('PRODUCT', { pk: 'PRODUCT#{sku}', sk: 'PRODUCT', attributes: { sku: string() } });

describe('the request of a collection', () => {
  const all = collection(offlineTable(), [Customer, Order]);

  it('reads the whole partition', () => {
    expect(all.query({ customer: 'alice' }).toRequest()).toEqual({
      TableName: 'shop',
      KeyConditionExpression: '#pk = :pk',
      ExpressionAttributeNames: { '#pk': 'pk' },
      ExpressionAttributeValues: { ':pk': { S: 'CUSTOMER#alice' } },
    });
  });

  it('takes the clauses of a read', () => {
    const command = all.query({ customer: 'alice' }).consistent().reverse().limit(3).returnCapacity();
    expect(JSON.parse(command.toRequestJson())).toMatchObject({
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: 3,
      ReturnConsumedCapacity: 'TOTAL',
    });
    expect(() => command.toRequest()).toThrow(CommandUsedError);
  });
});

describe('collection()', () => {
  const shop = offlineTable();

  it('refuses entities that share no partition', () => {
    expect(() => collection(shop, [Customer, Product] as never)).toThrow(
      'PRODUCT: has another partition key template than CUSTOMER',
    );
    expect(() => collection(shop, [] as never)).toThrow(InvalidInputError);
    expect(() => collection(shop, [{}] as never)).toThrow(InvalidInputError);
  });

  it('refuses an attribute that would hide the type of a row', () => {
    const Typed = entity('TYPED', {
      pk: 'CUSTOMER#{customer}',
      sk: 'TYPED',
      attributes: { customer: string(), _type: string() },
    });
    expect(() => collection(offlineTable({ type: 'kind' }), [Customer, Typed])).toThrow(/_type/);
  });

  it('refuses templates that look alike and make other keys', () => {
    const Escaped = entity('ESCAPED', {
      pk: 'CUSTOMER#{customer}',
      sk: 'ESCAPED',
      escape: true,
      attributes: { customer: string() },
    });
    const both = collection(offlineTable(), [Customer, Escaped]);
    expect(both.query({ customer: 'alice' }).toRequest()).toBeDefined();
    expect(() => both.query({ customer: '100%' })).toThrow('ESCAPED: makes another partition key');
  });

  it('takes the inputs of the partition key only', () => {
    const all = collection(shop, [Order, Customer]);
    expect(() => all.query({ customer: 'alice', number: 1 } as never)).toThrow(InvalidInputError);
    expect(() => all.query({} as never)).toThrow(InvalidInputError);
    expect(() => all.query(undefined as never)).toThrow(InvalidInputError);
  });
});

describe('a collection on a table', () => {
  let db: TestDynamoDB;
  let shop: Table;
  const rows = [
    { _type: 'ORDER', customer: 'alice', number: 1, total: 10 },
    { _type: 'ORDER', customer: 'alice', number: 2, total: 20 },
    { _type: 'CUSTOMER', customer: 'alice', name: 'Alice', revision: 1 },
  ];

  beforeAll(async () => {
    db = await testDynamoDB();
    shop = table({ name: uniqueTableName('collection'), client: db.client });
    await createTable(shop).waitUntilActive();
    const orders = shop.of(Order);
    await orders.put({ customer: 'alice', number: 2, total: 20 });
    await orders.put({ customer: 'alice', number: 1, total: 10 });
    await orders.put({ customer: 'bob', number: 3, total: 30 });
    await shop.of(Customer).put({ customer: 'alice', name: 'Alice' });
    await shop.of(Note).put({ customer: 'alice', id: 'n' });
  });
  afterAll(() => db.close());
  const query = () => collection(shop, [Customer, Order]).query({ customer: 'alice' });

  it('gives the rows in the order of their keys, and skips other entities', async () => {
    expect(await query().all()).toEqual(rows);
    expect(await query().reverse().all()).toEqual(rows.toReversed());
    expect(await query().first()).toEqual(rows[0]);
    expect(await query().limit(2).all()).toEqual(rows.slice(0, 2));
    expect(await query().count()).toBe(3);
    expect(await collection(shop, [Note]).query({ customer: 'alice' }).all()).toEqual([
      { _type: 'NOTE', customer: 'alice', id: 'n' },
    ]);
  });

  it('reads pages that go on from cursors, which belong to these entities', async () => {
    const found: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await query().limit(1).after(cursor).page();
      found.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(found).toEqual(rows);
    const { next } = await query().limit(1).page();
    await expect(collection(shop, [Customer, Note]).query({ customer: 'alice' }).after(next).page()).rejects.toThrow(
      /cursor/,
    );
    await expect(collection(shop, [Customer, Order]).query({ customer: 'bob' }).after(next).page()).rejects.toThrow(
      /cursor/,
    );
  });

  it('gives rows that can be put back as they are', async () => {
    for await (const row of query().items()) {
      if (row._type === 'ORDER') await shop.of(Order).put({ ...row, total: row.total + 1 });
      else await shop.of(Customer).put({ ...row, name: 'A.' });
    }
    expect(await query().all()).toEqual([
      { _type: 'ORDER', customer: 'alice', number: 1, total: 11 },
      { _type: 'ORDER', customer: 'alice', number: 2, total: 21 },
      { _type: 'CUSTOMER', customer: 'alice', name: 'A.', revision: 2 },
    ]);
  });
});
