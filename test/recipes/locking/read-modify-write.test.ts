import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  InvalidInputError,
  createTable,
  entity,
  integer,
  string,
  table,
  version,
  type Item,
  type VersionedEntityTable,
} from '../../../lib/commands/index.js';
import { createLocalDynamoDB } from '../../../lib/local/index.js';
import { ItemMissingError } from '../../../lib/recipes/locking/item-missing-error.js';
import { readModifyUpdate, readModifyWrite } from '../../../lib/recipes/locking/read-modify-write.js';
import { fresh, testShop, twenty } from '../../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), owner: string().optional(), revision: version() },
});
const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string(), text: string() } });

const db = testShop();
let accounts: VersionedEntityTable<typeof Account>;
beforeAll(() => {
  accounts = db.shop.of(Account);
});

const opened = async (balance = 0): Promise<{ id: string }> => {
  const id = fresh();
  await accounts.put({ id, balance });
  db.operations();
  return { id };
};
const stored = (key: { id: string }) => accounts.get(key).consistent().item();
const deposit = (account: Item<typeof Account>) => ({ ...account, balance: account.balance + 10 });

test('a change whose first attempt arrives after its second was cancelled by another transaction is applied once', async () => {
  const local = await createLocalDynamoDB();
  const { requestHandler } = local;
  let attempts = 0;
  let arrive: () => Promise<unknown> = () => Promise.resolve();
  const handle: typeof requestHandler.handle = async (request) => {
    if (!request.headers['x-amz-target']?.endsWith('.TransactWriteItems')) return requestHandler.handle(request);
    attempts++;
    if (attempts === 1) {
      arrive = () => requestHandler.handle(request);
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    }
    local.setFaults(attempts === 2 ? () => ({ at: 'before', error: 'TransactionConflict' }) : undefined);
    const response = await requestHandler.handle(request);
    local.setFaults(undefined);
    if (attempts === 2) await arrive();
    return response;
  };
  const client = new DynamoDBClient({ ...local.clientConfig, requestHandler: { ...requestHandler, handle } });
  const shop = table({ name: 'shop', client });
  await createTable(shop);
  await shop.of(Account).put({ id: 'a', balance: 0 });
  expect((await readModifyWrite(shop.of(Account), { id: 'a' }, deposit)).balance).toBe(10);
  expect(attempts).toBe(3);
  expect(await shop.of(Account).get({ id: 'a' }).item()).toMatchObject({ balance: 10, revision: 2 });
  await local.close();
});

describe('readModifyWrite', () => {
  test('reads, changes, writes and gives the item that is stored', async () => {
    const key = await opened();
    const account = await readModifyWrite(accounts, key, deposit);
    expect(db.operations()).toEqual(['GetItem', 'TransactWriteItems']);
    expect(account).toEqual({ ...key, balance: 10, revision: 2 });
    expect(await stored(key)).toEqual(account);
  });

  test('writes without a transaction what may be repeated', async () => {
    const key = await opened();
    await readModifyWrite(accounts, key, (account) => ({ ...account, balance: 7 }), { repeatable: true });
    expect(db.operations()).toEqual(['GetItem', 'PutItem']);
    expect(await stored(key)).toEqual({ ...key, balance: 7, revision: 2 });
  });

  test('takes an item read before for the first run only', async () => {
    const key = await opened();
    const first = await stored(key);
    await accounts.put(deposit(first!));
    db.operations();
    const runs: number[] = [];
    const account = await readModifyWrite(
      accounts,
      key,
      (item, { run }) => {
        runs.push(run);
        return deposit(item);
      },
      { first },
    );
    expect(runs).toEqual([1, 2]);
    expect(db.operations()).toEqual(['TransactWriteItems', 'GetItem', 'TransactWriteItems']);
    expect(account.balance).toBe(20);
  });

  test('writes nothing where the change gives nothing', async () => {
    const key = await opened(5);
    expect(await readModifyWrite(accounts, key, () => undefined)).toEqual({ ...key, balance: 5, revision: 1 });
    expect(db.operations()).toEqual(['GetItem']);
  });

  test('writes the version that was read, whatever the change gives', async () => {
    const key = await opened();
    await readModifyWrite(accounts, key, ({ id, balance }) => ({ id, balance: balance + 1 }));
    await readModifyWrite(accounts, key, ({ id, balance }) => ({ id, balance: balance + 1, revision: 9 }));
    expect(await stored(key)).toEqual({ ...key, balance: 2, revision: 3 });
  });

  test('refuses another key, and an entity without version', async () => {
    const key = await opened();
    await expect(readModifyWrite(accounts, key, (item) => ({ ...item, id: fresh() }))).rejects.toThrow(
      InvalidInputError,
    );
    // @ts-expect-error -- an unversioned entity could lose a write
    await expect(readModifyWrite(db.shop.of(Note), { id: 'n' }, (note) => note)).rejects.toThrow(InvalidInputError);
    await expect(readModifyWrite(accounts, key, (item) => item, { within: 10, maxAttempts: 2 })).rejects.toThrow(
      InvalidInputError,
    );
    expect(db.operations()).toEqual(['GetItem']);
  });

  test('refuses a missing item, or takes what it counts as', async () => {
    const key = { id: fresh() };
    await expect(readModifyWrite(accounts, key, deposit)).rejects.toThrow(ItemMissingError);
    const missing = () => ({ ...key, balance: 0 });
    await twenty(() => readModifyWrite(accounts, key, deposit, { missing, within: 15_000 }));
    expect(await stored(key)).toEqual({ ...key, balance: 200, revision: 20 });
  });

  test('keeps every change of 20 writers at once', async () => {
    const key = await opened();
    await twenty((i) => readModifyWrite(accounts, key, deposit, { within: 15_000, repeatable: i % 2 === 0 }));
    expect(await stored(key)).toEqual({ ...key, balance: 200, revision: 21 });
  });

  test('gives up after its runs, or its time, with the conflict', async () => {
    const key = await opened();
    let lost = 0;
    const losing = async (item: Item<typeof Account>) => {
      lost += 1;
      await accounts.update(key).add(Account.attrs.balance, 1).ignoreVersion();
      return deposit(item);
    };
    await expect(readModifyWrite(accounts, key, losing, { maxAttempts: 2 })).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    });
    expect(lost).toBe(2);
    await expect(readModifyWrite(accounts, key, losing, { within: 0, repeatable: true })).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
    expect(lost).toBe(3);
    expect((await stored(key))?.balance).toBe(3);
  });

  test('applies a change once where its response was lost', async () => {
    const key = await opened();
    db.loseResponseOf('TransactWriteItems');
    const account = await readModifyWrite(accounts, key, deposit);
    expect(db.operations()).toEqual(['GetItem', 'TransactWriteItems', 'TransactWriteItems']);
    expect(account.balance).toBe(10);
    expect(await stored(key)).toEqual(account);
  });

  test('applies a repeatable change twice to the same end where its response was lost', async () => {
    const key = await opened();
    db.loseResponseOf('PutItem');
    await readModifyWrite(accounts, key, (account) => ({ ...account, balance: 7 }), { repeatable: true });
    expect(db.operations()).toEqual(['GetItem', 'PutItem', 'PutItem', 'GetItem', 'PutItem']);
    expect(await stored(key)).toEqual({ ...key, balance: 7, revision: 3 });
  });

  test('never overwrites a write between its read and its own', async () => {
    const key = await opened();
    db.afterNext('GetItem', async () => {
      await accounts.update(key).add(Account.attrs.balance, 1000).ignoreVersion();
    });
    expect((await readModifyWrite(accounts, key, deposit)).balance).toBe(1010);
  });

  test('stops where it is aborted', async () => {
    const key = await opened();
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(readModifyWrite(accounts, key, deposit, { signal })).rejects.toThrow('stop');
    expect(db.operations()).toEqual([]);
  });

  test('tells nothing of keys and values', async () => {
    const key = { id: 'secret-key' };
    const message = await readModifyWrite(accounts, key, deposit).catch((error: unknown) => String(error));
    expect(message).not.toContain('secret');
  });
});

describe('readModifyUpdate', () => {
  test('leaves attributes that the entity does not declare', async () => {
    const key = await opened();
    const Key = { pk: { S: `ACCOUNT#${key.id}` }, sk: { S: 'BALANCE' } };
    await db.client.send(
      new UpdateItemCommand({
        TableName: db.shop.name,
        Key,
        UpdateExpression: 'SET newer = :n',
        ExpressionAttributeValues: { ':n': { S: 'x' } },
      }),
    );
    const next = await readModifyUpdate(accounts, key, (account, update) =>
      update.set({ balance: account.balance + 10 }),
    );
    expect(next).toBe(2);
    const { Item } = await db.client.send(new GetItemCommand({ TableName: db.shop.name, Key }));
    expect(Item).toMatchObject({ newer: { S: 'x' }, balance: { N: '10' }, revision: { N: '2' } });
  });

  test('keeps every change of 20 writers at once', async () => {
    const key = await opened();
    await twenty(() =>
      readModifyUpdate(accounts, key, (account, update) => update.set({ balance: account.balance + 10 }), {
        within: 15_000,
      }),
    );
    expect(await stored(key)).toEqual({ ...key, balance: 200, revision: 21 });
  });

  test('writes nothing where the change gives nothing, and refuses a missing item', async () => {
    const key = await opened();
    expect(await readModifyUpdate(accounts, key, () => undefined)).toBe(1);
    expect(db.operations()).toEqual(['GetItem']);
    await expect(readModifyUpdate(accounts, { id: fresh() }, (_, update) => update)).rejects.toThrow(ItemMissingError);
  });
});
