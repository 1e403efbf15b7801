import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  LimitExceededError,
  TransactionCanceledException,
  createTable,
  entity,
  integer,
  retryOnConflict,
  string,
  table,
  transactGet,
  transactWrite,
  type Table,
} from '../../lib/commands/index.js';
import { embedded, testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineClient, offlineTable } from './support/offline.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer() },
});
const Limit = entity('LIMIT', {
  pk: 'LIMIT#{id}',
  sk: 'LIMIT',
  attributes: { id: string(), daily: integer(), note: string().optional() },
});

describe('the request of a transactGet', () => {
  const client = offlineClient();
  const shop = table({ name: 'shop', client });
  const accounts = shop.of(Account);
  const limits = table({ name: 'limits', client }).of(Limit);

  it('has the reads in their order, over tables, with projections', () => {
    const command = transactGet(shop, {
      account: accounts.get({ id: 'a' }).consistent(),
      limit: limits.get({ id: 'a' }).project('daily'),
    });
    expect(JSON.parse(command.returnCapacity().toRequestJson())).toEqual({
      TransactItems: [
        { Get: { TableName: 'shop', Key: { pk: { S: 'ACCOUNT#a' }, sk: { S: 'BALANCE' } } } },
        {
          Get: {
            TableName: 'limits',
            Key: { pk: { S: 'LIMIT#a' }, sk: { S: 'LIMIT' } },
            ProjectionExpression: '#p0, #p1, #p2, #p3',
            ExpressionAttributeNames: { '#p0': 'pk', '#p1': 'sk', '#p2': '_type', '#p3': 'daily' },
          },
        },
      ],
      ReturnConsumedCapacity: 'TOTAL',
    });
  });

  it('uses up the command and its reads', () => {
    const read = accounts.get({ id: 'a' });
    const command = transactGet(shop, { read });
    expect(command.toRequest().TransactItems).toHaveLength(1);
    expect(() => command.toRequest()).toThrow(CommandUsedError);
    expect(() => command.maxAttempts(1)).toThrow(CommandUsedError);
    expect(() => read.toRequest()).toThrow(CommandUsedError);
  });

  const refusal = (reads: object): unknown => {
    try {
      return transactGet(shop, reads as never).toRequest();
    } catch (error) {
      return error;
    }
  };

  it('is refused before sending, with the name of the read at fault', () => {
    const twice = refusal({ one: accounts.get({ id: 'secret' }), other: accounts.get({ id: 'secret' }) });
    expect(twice).toBeInstanceOf(InvalidInputError);
    expect((twice as Error).message).toBe('other: reads the same item as one: a transaction takes each item once');
    expect(refusal({})).toBeInstanceOf(InvalidInputError);
    expect(refusal({ read: {} })).toMatchObject({ path: 'read' });
    expect(refusal({ read: accounts.get({ id: 'a' }).select(Account.attrs.balance) })).toBeInstanceOf(
      InvalidInputError,
    );
    expect(refusal({ read: accounts.get({ id: 'a' }).returnCapacity() })).toBeInstanceOf(InvalidInputError);
    expect(refusal({ consumedCapacity: accounts.get({ id: 'a' }) })).toMatchObject({ path: 'consumedCapacity' });
    expect(refusal(JSON.parse('{"__proto__": {}}') as object)).toMatchObject({ path: '__proto__' });
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`r${i}`, accounts.get({ id: `${i}` })]));
    expect(refusal(many)).toBeInstanceOf(LimitExceededError);
    expect(() => transactGet(shop, undefined as never)).toThrow(InvalidInputError);
    expect(() => transactGet({} as never, {})).toThrow(InvalidInputError);
    expect(client.sent).toBe(0);
  });

  it('takes the same key of two tables', () => {
    const other = offlineTable({ name: 'other' }).of(Account);
    expect(transactGet(shop, { a: accounts.get({ id: 'a' }), b: other.get({ id: 'a' }) }).toRequest()).toBeDefined();
  });
});

describe('transactGet() on a table', () => {
  let db: TestDynamoDB;
  let shop: Table;

  beforeAll(async () => {
    db = await testDynamoDB();
    shop = table({ name: uniqueTableName('transact-get'), client: db.client });
    await createTable(shop).waitUntilActive();
    await shop.of(Account).put({ id: 'a', balance: 5 });
    await shop.of(Limit).put({ id: 'a', daily: 7, note: 'n' });
  });
  afterAll(() => db.close());

  it('answers each read by its name', async () => {
    const { account, limit, missing } = await transactGet(shop, {
      missing: shop.of(Account).get({ id: 'none' }),
      account: shop.of(Account).get({ id: 'a' }),
      limit: shop.of(Limit).get({ id: 'a' }).project('daily'),
    })
      .maxAttempts(1)
      .send();
    expect(account).toEqual({ found: true, item: { id: 'a', balance: 5 } });
    expect(limit).toEqual({ found: true, item: { daily: 7 } });
    expect(missing).toEqual({ found: false, item: undefined });
  });

  it('answers what it consumed where asked', async () => {
    const reads = { account: shop.of(Account).get({ id: 'a' }), limit: shop.of(Limit).get({ id: 'a' }) };
    const { consumedCapacity } = await transactGet(shop, reads).returnCapacity().send();
    expect(consumedCapacity).toMatchObject([{ TableName: shop.name, CapacityUnits: 4 }]);
  });

  it.runIf(embedded)('throws the read that met a transaction, which retryOnConflict runs again', async () => {
    const writing = transactWrite(shop, { busy: shop.of(Account).put({ id: 'busy', balance: 1 }) }).send();
    const reads = () => ({ other: shop.of(Account).get({ id: 'a' }), busy: shop.of(Account).get({ id: 'busy' }) });
    const error: unknown = await transactGet(shop, reads())
      .send()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).failed).toEqual({ busy: { reason: 'TransactionConflict' } });
    await writing;
    let runs = 0;
    const again = transactWrite(shop, { busy: shop.of(Account).put({ id: 'busy', balance: 2 }) }).send();
    const { busy } = await retryOnConflict(({ signal }) => {
      runs++;
      return transactGet(shop, reads()).send({ signal });
    });
    await again;
    expect([runs, busy.item?.balance]).toEqual([2, 2]);
  });

  it('ends with its signal', async () => {
    const send = transactGet(shop, { account: shop.of(Account).get({ id: 'a' }) }).send({
      signal: AbortSignal.abort(),
    });
    await expect(send).rejects.toMatchObject({ name: 'AbortError' });
  });
});
