import {
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  UnprocessedError,
  batchGet,
  createTable,
  entity,
  integer,
  string,
  table,
  type Table,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineClient } from './support/offline.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer() },
});
const Limit = entity('LIMIT', { pk: 'LIMIT#{id}', sk: 'LIMIT', attributes: { id: string(), daily: integer() } });

const key = (id: string) => ({ pk: { S: `ACCOUNT#${id}` }, sk: { S: 'BALANCE' } });
const stored = (id: string, balance = 1) => ({
  ...key(id),
  _type: { S: 'ACCOUNT' },
  id: { S: id },
  balance: { N: `${balance}` },
});

describe('the first request of a batchGet', () => {
  const client = offlineClient();
  const shop = table({ name: 'shop', client });
  const accounts = shop.of(Account);

  it('asks for each key once, over tables', () => {
    const limits = table({ name: 'limits', client }).of(Limit);
    const command = batchGet(shop, {
      one: accounts.get({ id: 'a' }),
      many: [accounts.get({ id: 'b' }), accounts.get({ id: 'a' })],
      limit: limits.get({ id: 'a' }).consistent().project('daily'),
    }).returnCapacity();
    expect(JSON.parse(command.toRequestJson())).toEqual({
      RequestItems: {
        shop: { Keys: [key('a'), key('b')] },
        limits: {
          Keys: [{ pk: { S: 'LIMIT#a' }, sk: { S: 'LIMIT' } }],
          ConsistentRead: true,
          ProjectionExpression: '#p0, #p1, #p2, #p3',
          ExpressionAttributeNames: { '#p0': 'pk', '#p1': 'sk', '#p2': '_type', '#p3': 'daily' },
        },
      },
      ReturnConsumedCapacity: 'TOTAL',
    });
    expect(() => command.toRequest()).toThrow(CommandUsedError);
    expect(() => command.maxAttempts(1)).toThrow(CommandUsedError);
  });

  it('uses up its gets', () => {
    const get = accounts.get({ id: 'a' });
    batchGet(shop, { get }).toRequest();
    expect(() => get.toRequest()).toThrow(CommandUsedError);
  });

  it('is refused for what is no get, by its name and position', () => {
    expect(() => batchGet(shop, { a: {} as never }).toRequest()).toThrow('a: expected a get');
    expect(() => batchGet(shop, { a: [accounts.get({ id: 'x' }), 1 as never] }).toRequest()).toThrow(
      'a[1]: expected a get',
    );
    expect(() => batchGet(shop, {}).toRequest()).toThrow(InvalidInputError);
    expect(() => batchGet(shop, null as never)).toThrow(InvalidInputError);
    expect(client.sent).toBe(0);
  });
});

describe('the requests of a batchGet', () => {
  /** Answers from a function of the request's input, and keeps the inputs. */
  const scripted = (answer: (input: BatchGetItemCommandInput, n: number) => Partial<BatchGetItemCommandOutput>) => {
    const client = offlineClient();
    const inputs: BatchGetItemCommandInput[] = [];
    mockClient(client)
      .on(BatchGetItemCommand)
      .callsFake((input: BatchGetItemCommandInput) => answer(input, inputs.push(input)));
    const shop = table({ name: 'shop', client });
    return { shop, accounts: shop.of(Account), inputs };
  };
  const idsOf = (input: BatchGetItemCommandInput): string[] =>
    (input.RequestItems?.['shop']?.Keys ?? []).map(({ pk }) => pk!.S!.slice('ACCOUNT#'.length));
  const found = (ids: string[]): Partial<BatchGetItemCommandOutput> => ({
    // In an order of its own.
    Responses: { shop: ids.map((id) => stored(id)).reverse() },
  });
  const ids = Array.from({ length: 250 }, (_, i) => `${i}`);
  afterEach(() => vi.restoreAllMocks());

  it('hold 100 keys each, and items come back in the order of the gets', async () => {
    const { shop, accounts, inputs } = scripted((input) => found(idsOf(input).filter((id) => id !== '7')));
    const result = await batchGet(shop, { all: ids.map((id) => accounts.get({ id })) }).send();
    expect(inputs.map((input) => idsOf(input).length)).toEqual([100, 100, 50]);
    expect(result).toMatchObject({ complete: true, requests: 3 });
    expect(result.items.all.map((item) => item?.id)).toEqual(ids.map((id) => (id === '7' ? undefined : id)));
  });

  it('are apart for another consistency or projection, and shared by what agrees', async () => {
    const { shop, accounts, inputs } = scripted((input) => found(idsOf(input)));
    const { items } = await batchGet(shop, {
      plain: accounts.get({ id: 'a' }),
      consistent: accounts.get({ id: 'a' }).consistent(),
      part: accounts.get({ id: 'b' }).project('balance'),
      parts: [accounts.get({ id: 'c' }).project('balance'), accounts.get({ id: 'b' }).project('balance')],
    }).send();
    expect(inputs.map((input) => [idsOf(input), input.RequestItems?.['shop']?.ConsistentRead])).toEqual([
      [['a'], undefined],
      [['a'], true],
      [['b', 'c'], undefined],
    ]);
    expect(items).toEqual({
      plain: { id: 'a', balance: 1 },
      consistent: { id: 'a', balance: 1 },
      part: { balance: 1 },
      parts: [{ balance: 1 }, { balance: 1 }],
    });
    expect(items.part).not.toBe(items.parts[1]);
  });

  it('are at most eight at once', async () => {
    let now = 0;
    let most = 0;
    const { shop, accounts } = scripted(() => ({}));
    mockClient(shop.client)
      .on(BatchGetItemCommand)
      .callsFake(async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 1));
        now--;
        return {};
      });
    const many = Array.from({ length: 2000 }, (_, i) => accounts.get({ id: `${i}` }));
    expect((await batchGet(shop, { many }).send()).requests).toBe(20);
    expect(most).toBe(8);
  });

  it('are repeated for what DynamoDB left, and only for that', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { shop, accounts, inputs } = scripted((input, n) => {
      const asked = idsOf(input);
      if (n > 1) return found(asked);
      // A key's attributes come back in any order.
      const left = asked.slice(2).map((id) => ({ sk: key(id).sk, pk: key(id).pk }));
      const consumed = [{ TableName: 'shop', CapacityUnits: 1 }];
      return { ...found(asked.slice(0, 2)), UnprocessedKeys: { shop: { Keys: left } }, ConsumedCapacity: consumed };
    });
    const all = ['a', 'b', 'c', 'd'].map((id) => accounts.get({ id }));
    const result = await batchGet(shop, { all }).returnCapacity().send();
    expect(inputs.map(idsOf)).toEqual([
      ['a', 'b', 'c', 'd'],
      ['c', 'd'],
    ]);
    expect(result.items.all.map((item) => item?.id)).toEqual(['a', 'b', 'c', 'd']);
    expect(result).toMatchObject({ requests: 2, consumedCapacity: [{ TableName: 'shop', CapacityUnits: 1 }] });
  });

  it('end where nothing gets done, and what stays is told', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const answer = (input: BatchGetItemCommandInput): Partial<BatchGetItemCommandOutput> => {
      const asked = idsOf(input);
      const stays = asked.filter((id) => id > 'b');
      return {
        ...found(asked.filter((id) => id <= 'b')),
        ...(stays.length > 0 && { UnprocessedKeys: { shop: { Keys: stays.map(key) } } }),
      };
    };
    const { shop, accounts, inputs } = scripted(answer);
    const reads = () => ({
      a: accounts.get({ id: 'a' }),
      c: accounts.get({ id: 'c' }),
      more: [accounts.get({ id: 'b' }), accounts.get({ id: 'd' }), accounts.get({ id: 'c' })],
    });
    const result = await batchGet(shop, reads()).trySend();
    expect(result).toEqual({
      complete: false,
      items: { a: { id: 'a', balance: 1 }, c: undefined, more: [{ id: 'b', balance: 1 }, undefined, undefined] },
      requests: inputs.length,
      unprocessed: [
        { name: 'c', index: undefined },
        { name: 'more', index: 1 },
        { name: 'more', index: 2 },
      ],
    });
    // The first got something done, eight after it did not.
    expect(inputs).toHaveLength(9);
    const error: unknown = await batchGet(shop, reads())
      .send()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessedError);
    expect((error as UnprocessedError).message).toBe(
      'DynamoDB left 3 of the 5 reads of a batch unprocessed after retries.',
    );
    expect((error as UnprocessedError).result).toMatchObject({
      complete: false,
      unprocessed: result.complete ? [] : result.unprocessed,
    });
    expect(JSON.stringify(error)).not.toContain('items');
  });

  it('are repeated after a throttle, which is the cause where that does not help', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const throttle = Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    const once = scripted((input, n) => {
      if (n === 1) throw throttle;
      return found(idsOf(input));
    });
    const read = { a: once.accounts.get({ id: 'a' }) };
    expect(await batchGet(once.shop, read).send()).toMatchObject({ requests: 2, items: { a: { id: 'a' } } });
    const ever = scripted(() => {
      throw throttle;
    });
    const error: unknown = await batchGet(ever.shop, { a: ever.accounts.get({ id: 'a' }) })
      .send()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessedError);
    expect((error as Error).cause).toBe(throttle);
    expect(ever.inputs).toHaveLength(8);
  });

  it('end with any other error, which is thrown as it is, and start nothing after it', async () => {
    const failure = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    const { shop, accounts, inputs } = scripted(() => {
      throw failure;
    });
    const many = Array.from({ length: 2000 }, (_, i) => accounts.get({ id: `${i}` }));
    await expect(batchGet(shop, { many }).trySend()).rejects.toBe(failure);
    expect(inputs).toHaveLength(8);
  });

  it('are none for no reads', async () => {
    const { shop, inputs } = scripted(() => ({}));
    expect(await batchGet(shop, { all: [] }).send()).toEqual({ complete: true, items: { all: [] }, requests: 0 });
    expect(inputs).toEqual([]);
  });
});

describe('batchGet() on tables', () => {
  let db: TestDynamoDB;
  let shop: Table;
  let other: Table;

  beforeAll(async () => {
    db = await testDynamoDB();
    shop = table({ name: uniqueTableName('batch-get'), client: db.client });
    other = table({ name: uniqueTableName('batch-get'), client: db.client, pk: 'p', sk: 's' });
    await createTable(shop).waitUntilActive();
    await createTable(other).waitUntilActive();
    await Promise.all(Array.from({ length: 120 }, (_, i) => shop.of(Account).put({ id: `${i}`, balance: i })));
    await other.of(Limit).put({ id: 'a', daily: 7 });
  });
  afterAll(() => db.close());

  it('reads them all', async () => {
    const wanted = Array.from({ length: 130 }, (_, i) => i);
    const { items, consumedCapacity, requests } = await batchGet(shop, {
      balances: wanted.map((i) => shop.of(Account).get({ id: `${i}` })),
      limit: other.of(Limit).get({ id: 'a' }).consistent().project('daily'),
      none: other.of(Limit).get({ id: 'none' }).consistent().project('daily'),
    })
      .returnCapacity()
      .maxAttempts(2)
      .send();
    expect(items.balances.map((item) => item?.balance)).toEqual(wanted.map((i) => (i < 120 ? i : undefined)));
    expect([items.limit, items.none]).toEqual([{ daily: 7 }, undefined]);
    expect(requests).toBe(2);
    expect(consumedCapacity.map(({ TableName }) => TableName).sort()).toEqual([shop.name, other.name].sort());
    expect(consumedCapacity.find(({ TableName }) => TableName === shop.name)?.CapacityUnits).toBe(65);
  });

  it('ends with its signal', async () => {
    const send = batchGet(shop, { a: shop.of(Account).get({ id: '1' }) }).send({ signal: AbortSignal.abort() });
    await expect(send).rejects.toMatchObject({ name: 'AbortError' });
  });
});
