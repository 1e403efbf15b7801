import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  createTable,
  entity,
  integer,
  scan,
  string,
  table,
  type AttributeMap,
  type EntityTable,
  type Table,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineClient, offlineTable } from './support/offline.js';

const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:6}',
  attributes: { customer: string(), number: integer(), total: integer(), status: string().optional() },
  indexes: { byStatus: { pk: 'STATUS#{status}', sk: '{number:6}' } },
});
const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'PROFILE',
  attributes: { customer: string(), name: string() },
});
const indexes = { byStatus: {} };

describe('the request of a scan', () => {
  const orders = offlineTable({ indexes }).of(Order);
  const byType = { '#type': '_type' };
  const ofOrders = { ':t0': { S: 'ORDER' } };

  it('has DynamoDB drop the items of other entities', () => {
    expect(scan(orders).toRequest()).toEqual({
      TableName: 'shop',
      FilterExpression: '(#type IN (:t0) OR attribute_not_exists(#type))',
      ExpressionAttributeNames: byType,
      ExpressionAttributeValues: ofOrders,
    });
  });

  it('joins filters in parentheses, and takes the clauses of a read', () => {
    const command = scan(orders)
      .filter(Order.attrs.total.gt(10))
      .filter(Order.attrs.status.eq('OPEN').or(Order.attrs.status.notExists()))
      .consistent()
      .limit(5)
      .project('total')
      .returnCapacity();
    expect(JSON.parse(command.toRequestJson())).toEqual({
      TableName: 'shop',
      FilterExpression:
        '((#0 > :0) AND ((#1 = :1) OR (attribute_not_exists(#1)))) AND (#type IN (:t0) OR attribute_not_exists(#type))',
      ProjectionExpression: '#p0, #p1, #p2, #p3',
      ExpressionAttributeNames: {
        '#0': 'total',
        '#1': 'status',
        ...byType,
        '#p0': 'pk',
        '#p1': 'sk',
        '#p2': '_type',
        '#p3': 'total',
      },
      ExpressionAttributeValues: { ':0': { N: '10' }, ':1': { S: 'OPEN' }, ...ofOrders },
      ConsistentRead: true,
      Limit: 5,
      ReturnConsumedCapacity: 'TOTAL',
    });
  });

  it('names the index', () => {
    expect(scan(orders.index('byStatus')).toRequest()).toMatchObject({ TableName: 'shop', IndexName: 'byStatus' });
  });

  it('leaves the type out where an index may not hold it', () => {
    const Slim = entity('SLIM', {
      pk: 'SLIM#{id}',
      sk: 'SLIM',
      attributes: { id: string(), status: string() },
      indexes: { byStatus: { pk: 'SLIM#{status}', sk: '{id}', project: 'keys' } },
    });
    const slims = offlineTable({ indexes }).of(Slim);
    expect(scan(slims.index('byStatus')).project('id').toRequest()).toEqual({
      TableName: 'shop',
      IndexName: 'byStatus',
    });
    expect(() => scan(slims.index('byStatus')).toRequest()).toThrow(InvalidInputError);
  });

  it('is one use of the command, and a prefix may be forked', () => {
    const all = scan(orders);
    const some = all.limit(1);
    expect(some.toRequest().Limit).toBe(1);
    expect(all.toRequest().Limit).toBeUndefined();
    expect(() => all.toRequest()).toThrow(CommandUsedError);
    expect(() => some.consistent()).toThrow(CommandUsedError);
  });

  it('is not there for a scan in segments', () => {
    const parallel = scan(orders).segments(2) as never as {
      toRequest(): unknown;
      toRequestJson(): unknown;
      page(): Promise<unknown>;
    };
    expect(() => parallel.toRequest()).toThrow(/many requests/);
    expect(() => parallel.toRequestJson()).toThrow(/many requests/);
    return expect(parallel.page()).rejects.toThrow(/many requests/);
  });

  it('refuses numbers of segments that DynamoDB does not take, and a limit that is none', () => {
    for (const total of [0, -1, 1.5, 1_000_001]) expect(() => scan(orders).segments(total)).toThrow(InvalidInputError);
    expect(() => scan(orders).limit(0)).toThrow(InvalidInputError);
  });

  it('refuses what is no bound entity, and a filter of another one', () => {
    expect(() => scan({} as never)).toThrow(InvalidInputError);
    expect(() => scan(orders).filter(Customer.attrs.name.eq('a') as never)).toThrow(/another entity/);
  });
});

describe('pages that are cut short', () => {
  const mocked = (
    pages: Partial<Record<'Items' | 'LastEvaluatedKey', unknown>>[],
  ): [EntityTable<typeof Order>, () => unknown[]] => {
    const client = offlineClient();
    const mock = mockClient(client);
    pages.reduce((behavior, page) => behavior.resolvesOnce(page as never), mock.on(ScanCommand));
    const requests = (): unknown[] => mock.commandCalls(ScanCommand).map((call) => call.args[0].input.Limit);
    return [table({ name: 'shop', client, indexes }).of(Order), requests];
  };
  const last = { LastEvaluatedKey: { pk: { S: 'CUSTOMER#x' }, sk: { S: 'ORDER#000001' } } };

  it('asks for twice as many where a page had too few, so that rare items take few requests', async () => {
    const [orders, limits] = mocked([last, last, last, { Items: [] }]);
    expect(await scan(orders).limit(10).all()).toEqual([]);
    expect(limits()).toEqual([10, 20, 40, 80]);
  });
});

describe('a scan of a table', () => {
  let db: TestDynamoDB;
  let shop: Table;
  let orders: EntityTable<typeof Order>;
  const numbers = Array.from({ length: 30 }, (_, i) => i);

  beforeAll(async () => {
    db = await testDynamoDB();
    shop = table({ name: uniqueTableName('scan'), client: db.client, indexes });
    await createTable(shop).waitUntilActive();
    orders = shop.of(Order);
    const customers = shop.of(Customer);
    for (const number of numbers) {
      const customer = `c${number % 5}`;
      await orders.put({ customer, number, total: number * 10, ...(number % 3 === 0 && { status: 'OPEN' }) });
      await customers.put({ customer, name: 'a' });
    }
  });
  afterAll(() => db.close());

  const sorted = (items: readonly { number: number }[]): number[] =>
    items.map(({ number }) => number).sort((a, b) => a - b);

  it("gives the entity's items and no others", async () => {
    const found = await scan(orders).all();
    expect(sorted(found)).toEqual(numbers);
    expect(found.find(({ number }) => number === 3)).toEqual({ customer: 'c3', number: 3, total: 30, status: 'OPEN' });
    expect(await scan(orders).count()).toBe(30);
    expect(await scan(shop.of(Customer)).count()).toBe(5);
  });

  it('filters, projects and selects', async () => {
    expect(await scan(orders).filter(Order.attrs.total.ge(280)).project('total').all()).toEqual(
      expect.arrayContaining([{ total: 280 }, { total: 290 }]),
    );
    const totals = await scan(orders).select(Order.attrs.total).all();
    expect(totals.sort((a, b) => a - b)).toEqual(numbers.map((n) => n * 10));
    expect(await scan(orders).filter(Order.attrs.status.exists()).count()).toBe(10);
    expect(await scan(orders).filter(Order.attrs.status.exists()).limit(4).count()).toBe(4);
  });

  it('reads pages that go on from cursors, and counts what DynamoDB read', async () => {
    const seen: number[] = [];
    let pages = 0;
    for (let cursor: string | undefined, more = true; more; pages++) {
      const page = await scan(orders).limit(8).after(cursor).returnCapacity().page();
      expect(page.count).toBe(page.items.length);
      expect(page.scannedCount).toBeLessThanOrEqual(8);
      expect(page.consumedCapacity.CapacityUnits).toBeGreaterThan(0);
      seen.push(...page.items.map(({ number }) => number));
      cursor = page.next;
      more = page.hasMore;
    }
    expect(seen.sort((a, b) => a - b)).toEqual(numbers);
    expect(pages).toBeGreaterThanOrEqual(5);
  });

  it('refuses the cursor of another scan', async () => {
    const { next } = await scan(orders).limit(1).page();
    const refused = /cursor/;
    await expect(scan(orders).filter(Order.attrs.total.gt(1)).after(next).page()).rejects.toThrow(refused);
    await expect(scan(shop.of(Customer)).after(next).page()).rejects.toThrow(refused);
    await expect(scan(orders.index('byStatus')).after(next).page()).rejects.toThrow(refused);
    await expect(scan(orders).after('nonsense').page()).rejects.toThrow(refused);
    await expect(scan(orders).consistent().limit(3).after(next).page()).resolves.toBeDefined();
    // Two attributes that hold the same text have filters of one shape and value.
    const page = await scan(orders).filter(Order.attrs.status.eq('c1')).limit(1).page();
    await expect(scan(orders).filter(Order.attrs.customer.eq('c1')).after(page.next).page()).rejects.toThrow(refused);
  });

  it('stops at its limit', async () => {
    expect(await scan(orders).limit(7).all()).toHaveLength(7);
    expect(await scan(orders).segments(3).count()).toBe(30);
  });

  it('reads the items of an index', async () => {
    expect(sorted(await scan(orders.index('byStatus')).all())).toEqual(numbers.filter((n) => n % 3 === 0));
    expect(await scan(orders.index('byStatus')).count()).toBe(10);
  });

  it('reads an item without type by its key', async () => {
    const { PutItemCommand, DeleteItemCommand } = await import('@aws-sdk/client-dynamodb');
    const key: AttributeMap = { pk: { S: 'CUSTOMER#old' }, sk: { S: 'ORDER#000099' } };
    const client = db.client;
    await client.send(new PutItemCommand({ TableName: shop.name, Item: { ...key, total: { N: '7' } } }));
    const untyped = { pk: { S: 'LEGACY' }, sk: { S: 'X' } };
    await client.send(new PutItemCommand({ TableName: shop.name, Item: untyped }));
    try {
      expect(await scan(orders).filter(Order.attrs.total.eq(7)).all()).toEqual([
        { customer: 'old', number: 99, total: 7 },
      ]);
    } finally {
      for (const Key of [key, untyped]) await client.send(new DeleteItemCommand({ TableName: shop.name, Key }));
    }
  });

  it('reads segments at once, each item once', async () => {
    const found: number[] = [];
    for await (const { number } of scan(orders).segments(4).items()) found.push(number);
    expect(found.sort((a, b) => a - b)).toEqual(numbers);
    expect(sorted(await scan(orders).filter(Order.attrs.total.lt(50)).segments(64).all())).toEqual([0, 1, 2, 3, 4]);
    expect(await scan(orders).limit(9).segments(4).all()).toHaveLength(9);
    const totals = await scan(orders).select(Order.attrs.total).segments(2).all();
    expect(totals.reduce((sum, total) => sum + total, 0)).toBe(4350);
  });
});
