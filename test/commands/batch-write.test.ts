import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  type BatchWriteItemCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  LimitExceededError,
  UnprocessedError,
  batchWrite,
  binary,
  createTable,
  entity,
  integer,
  list,
  scan,
  string,
  table,
  transactWrite,
  version,
  type Batchable,
  type Table,
} from '../../lib/commands/index.js';
import { embedded, testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineClient } from './support/offline.js';

const Order = entity('ORDER', {
  pk: 'ORDER#{id}',
  sk: 'ORDER',
  attributes: { id: string(), total: integer(), bytes: binary().optional(), texts: list(string()).optional() },
});
const Cart = entity('CART', { pk: 'CART#{id}', sk: 'CART', attributes: { id: string(), revision: version() } });

const key = (id: string) => ({ pk: { S: `ORDER#${id}` }, sk: { S: 'ORDER' } });

describe('the first request of a batchWrite', () => {
  const client = offlineClient();
  const shop = table({ name: 'shop', client });
  const orders = shop.of(Order);
  const carts = shop.of(Cart);

  it('has puts and deletes by table', () => {
    const others = table({ name: 'other', client }).of(Order);
    const command = batchWrite(shop, [
      orders.put({ id: 'a', total: 1 }),
      others.delete({ id: 'a' }),
      orders.delete({ id: 'b' }),
    ]).returnCapacity();
    expect(JSON.parse(command.toRequestJson())).toEqual({
      RequestItems: {
        shop: [
          { PutRequest: { Item: { ...key('a'), _type: { S: 'ORDER' }, id: { S: 'a' }, total: { N: '1' } } } },
          { DeleteRequest: { Key: key('b') } },
        ],
        other: [{ DeleteRequest: { Key: key('a') } }],
      },
      ReturnConsumedCapacity: 'TOTAL',
    });
    expect(() => command.toRequest()).toThrow(CommandUsedError);
    expect(() => command.maxAttempts(1)).toThrow(CommandUsedError);
  });

  it('keeps the version of a versioned entity moving', () => {
    const { RequestItems } = batchWrite(shop, [
      carts.put({ id: 'a', revision: 4 }).ignoreVersion(),
      carts.delete({ id: 'b' }).ignoreVersion(),
    ]).toRequest();
    expect(RequestItems?.['shop']?.[0]?.PutRequest?.Item?.['revision']).toEqual({ N: '5' });
  });

  const refusal = (writes: readonly unknown[]): InvalidInputError => {
    try {
      batchWrite(shop, writes as Batchable[]).toRequest();
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidInputError);
      return error as InvalidInputError;
    }
    throw new Error('was not refused');
  };

  it('refuses what can stand in no batch, by its position', () => {
    const put = () => orders.put({ id: 'x', total: 1 });
    const condition = 'batchWrite[1]: has a condition, which a batch can not hold: for a version, say ignoreVersion()';
    expect(refusal([put(), orders.unique({ id: 'a', total: 1 })]).message).toBe(condition);
    expect(refusal([put(), orders.delete({ id: 'a' }).ifExists()]).message).toBe(condition);
    expect(refusal([put(), carts.put({ id: 'a' })]).message).toBe(condition);
    expect(refusal([put(), carts.delete({ id: 'a' }).ifVersion(1)]).message).toBe(condition);
    expect(refusal([orders.update({ id: 'a' }).set({ total: 1 })]).message).toBe(
      'batchWrite[0]: is an update, which a batch can not hold',
    );
    expect(refusal([carts.delete({ id: 'a' })]).message).toMatch(/^CART: has a version/);
    expect(refusal([put().returnOld()]).message).toMatch(/can not stand in a transaction or batch/);
    expect(refusal([{}]).path).toBe('batchWrite[0]');
    expect(refusal([]).message).toMatch(/no writes/);
    expect(() => batchWrite(shop, {} as never)).toThrow(InvalidInputError);
  });

  it('refuses two writes of one item, however far apart', () => {
    const many = Array.from({ length: 60 }, (_, i) => orders.put({ id: `${i}`, total: 1 }));
    const { message } = refusal([...many, orders.delete({ id: '3' })]);
    expect(message).toBe('batchWrite[60]: writes the same item as batchWrite[3]: a batch takes each item once');
    expect(message).not.toContain('ORDER#');
  });

  it('refuses an item over 400 KB when its put is made', () => {
    expect(() => orders.put({ id: 'a', total: 1, bytes: new Uint8Array(410_000) })).toThrow(LimitExceededError);
  });

  it('sends nothing where it refuses, and is rejected then', async () => {
    await expect(batchWrite(shop, [orders.unique({ id: 'a', total: 1 })] as never[])).rejects.toThrow(
      InvalidInputError,
    );
    expect(client.sent).toBe(0);
  });
});

describe('the requests of a batchWrite', () => {
  const scripted = (answer: (input: BatchWriteItemCommandInput, n: number) => Partial<BatchWriteItemCommandOutput>) => {
    const client = offlineClient();
    const inputs: BatchWriteItemCommandInput[] = [];
    mockClient(client)
      .on(BatchWriteItemCommand)
      .callsFake((input: BatchWriteItemCommandInput) => answer(input, inputs.push(input)));
    const shop = table({ name: 'shop', client });
    return { shop, orders: shop.of(Order), inputs };
  };
  const writesOf = (input: BatchWriteItemCommandInput): WriteRequest[] => input.RequestItems?.['shop'] ?? [];
  const idOf = ({ PutRequest, DeleteRequest }: WriteRequest): string =>
    (PutRequest?.Item ?? DeleteRequest?.Key)!['pk']!.S!.slice('ORDER#'.length);
  afterEach(() => vi.restoreAllMocks());

  it('hold 25 writes each', async () => {
    const { shop, orders, inputs } = scripted(() => ({}));
    const puts = Array.from({ length: 60 }, (_, i) => orders.put({ id: `${i}`, total: i }));
    expect(await batchWrite(shop, puts)).toEqual({ complete: true, written: 60, requests: 3 });
    expect(inputs.map((input) => writesOf(input).length)).toEqual([25, 25, 10]);
  });

  it('hold 16 MB on the wire each', async () => {
    const { shop, orders, inputs } = scripted(() => ({}));
    // A stored byte each, nine on the wire.
    const texts = Array.from({ length: 300_000 }, () => '');
    const puts = Array.from({ length: 10 }, (_, i) => orders.put({ id: `${i}`, total: i, texts }));
    await batchWrite(shop, puts);
    expect(inputs.map((input) => writesOf(input).length)).toEqual([6, 4]);
    for (const input of inputs) expect(JSON.stringify(input).length).toBeLessThan(16 * 1024 * 1024);
  });

  it('may hold 25 large items, which are under 16 MB', async () => {
    const { shop, orders, inputs } = scripted(() => ({}));
    const bytes = new Uint8Array(400_000);
    await batchWrite(
      shop,
      Array.from({ length: 25 }, (_, i) => orders.put({ id: `${i}`, total: i, bytes })),
    );
    expect(inputs).toHaveLength(1);
  });

  it('are repeated for what DynamoDB left, and only for that', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { shop, orders, inputs } = scripted((input, n) => ({
      ...(n === 1 && { UnprocessedItems: { shop: writesOf(input).slice(1) } }),
      ConsumedCapacity: [{ TableName: 'shop', CapacityUnits: n }],
    }));
    const writes = [orders.put({ id: 'a', total: 1 }), orders.delete({ id: 'b' }), orders.put({ id: 'c', total: 1 })];
    const result = await batchWrite(shop, writes).returnCapacity().send();
    expect(inputs.map((input) => writesOf(input).map(idOf))).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ]);
    expect(result).toEqual({
      complete: true,
      written: 3,
      requests: 2,
      consumedCapacity: [{ TableName: 'shop', CapacityUnits: 3 }],
    });
  });

  it('end where nothing gets done, and the positions that stay are told', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { shop, orders, inputs } = scripted((input) => ({
      UnprocessedItems: { shop: writesOf(input).filter((write) => ['1', '27'].includes(idOf(write))) },
    }));
    const writes = () =>
      Array.from({ length: 30 }, (_, i) =>
        i % 2 ? orders.delete({ id: `${i}` }) : orders.put({ id: `${i}`, total: i }),
      );
    const result = await batchWrite(shop, writes()).trySend();
    expect(result).toEqual({ complete: false, written: 28, requests: inputs.length, unprocessed: [1, 27] });
    expect(inputs).toHaveLength(18);
    const error: unknown = await batchWrite(shop, writes()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessedError);
    expect(error).toMatchObject({
      message: 'DynamoDB left 2 of the 30 writes of a batch unprocessed after retries.',
      result: { written: 28, unprocessed: [1, 27] },
    });
  });

  it('wait at random between repeats, and not after the last', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const { shop, orders } = scripted((input) => ({ UnprocessedItems: { shop: writesOf(input) } }));
    await batchWrite(shop, [orders.put({ id: 'a', total: 1 })]).trySend();
    expect(random).toHaveBeenCalledTimes(7);
  });

  it('are repeated where DynamoDB throttled all of one', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const throttle = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    const { shop, orders, inputs } = scripted((_, n) => {
      if (n === 1) throw throttle;
      return {};
    });
    expect(await batchWrite(shop, [orders.put({ id: 'a', total: 1 })])).toMatchObject({ written: 1, requests: 2 });
    expect(inputs[1]).toEqual(inputs[0]);
  });

  it('end with any other error, which is thrown as it is', async () => {
    const failure = Object.assign(new Error('no'), { name: 'InternalServerError' });
    const { shop, orders } = scripted(() => {
      throw failure;
    });
    await expect(batchWrite(shop, [orders.put({ id: 'a', total: 1 })]).trySend()).rejects.toBe(failure);
  });

  it('are not repeated once one failed for good', async () => {
    const failure = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    const { shop, orders, inputs } = scripted((input, n) => {
      if (n === 2) throw failure;
      return { UnprocessedItems: { shop: writesOf(input) } };
    });
    const puts = Array.from({ length: 50 }, (_, i) => orders.put({ id: `${i}`, total: i }));
    await expect(batchWrite(shop, puts).send()).rejects.toBe(failure);
    expect(inputs).toHaveLength(2);
  });

  it('stop waiting with the signal', async () => {
    const stop = new AbortController();
    const { shop, orders } = scripted((input) => {
      setTimeout(() => stop.abort(), 5);
      return { UnprocessedItems: { shop: writesOf(input) } };
    });
    vi.spyOn(Math, 'random').mockReturnValue(1e6);
    const send = batchWrite(shop, [orders.put({ id: 'a', total: 1 })]).send({ signal: stop.signal });
    await expect(send).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('are sent once by a command that is awaited twice', async () => {
    const { shop, orders, inputs } = scripted(() => ({}));
    const batch = batchWrite(shop, [orders.put({ id: 'a', total: 1 })]);
    expect(await batch).toBe(await batch);
    let ended = 0;
    await batch.finally(() => ended++);
    expect([inputs.length, ended]).toEqual([1, 1]);
    await expect(batch.send()).rejects.toThrow(CommandUsedError);
  });

  it('are none for no writes', async () => {
    const { shop, inputs } = scripted(() => ({}));
    expect(await batchWrite(shop, [])).toEqual({ complete: true, written: 0, requests: 0 });
    expect(inputs).toEqual([]);
  });
});

describe('batchWrite() on a table', () => {
  let db: TestDynamoDB;
  let shop: Table;

  beforeAll(async () => {
    db = await testDynamoDB();
    shop = table({ name: uniqueTableName('batch-write'), client: db.client });
    await createTable(shop).waitUntilActive();
  });
  afterAll(() => db.close());

  it('writes and deletes', async () => {
    const orders = shop.of(Order);
    const puts = Array.from({ length: 30 }, (_, i) => orders.put({ id: `${i}`, total: i }));
    const first = await batchWrite(shop, puts).returnCapacity().maxAttempts(1).send();
    expect(first).toMatchObject({
      written: 30,
      requests: 2,
      consumedCapacity: [{ TableName: shop.name, CapacityUnits: 30 }],
    });
    await batchWrite(shop, [
      orders.delete({ id: '0' }),
      orders.put({ id: '1', total: 100 }),
      orders.delete({ id: 'none' }),
    ]);
    const found = await scan(orders).all();
    expect(found).toHaveLength(29);
    expect(found.find(({ id }) => id === '1')?.total).toBe(100);
  });

  it.runIf(embedded)('repeats a write that a transaction held', async () => {
    const orders = shop.of(Order);
    const transaction = transactWrite(shop, { a: orders.put({ id: 'held', total: 1 }) }).send();
    const result = await batchWrite(shop, [orders.put({ id: 'free', total: 2 }), orders.put({ id: 'held', total: 2 })]);
    await transaction;
    expect(result).toMatchObject({ complete: true, written: 2, requests: 2 });
    expect(await orders.get({ id: 'held' }).item()).toEqual({ id: 'held', total: 2 });
  });
});
