import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as own from '../../lib/commands/index.js';
import { offlineClient } from './support/offline.js';
import { Order, order, shopOptions } from './support/shop.js';

const { InvalidInputError, InvalidStoredItemError, SafeWritesError, LimitExceededError } = own;

const failure = (fn: () => unknown): unknown => {
  try {
    fn();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** An SDK exception as another copy of the SDK would make it. */
const foreign = (name: string, members: object = {}): Error =>
  Object.assign(new Error('from the SDK'), { name, ...members });

/** A table whose client answers with an error. */
const failing = (error: Error): own.Table => {
  const client = offlineClient();
  client.send = () => Promise.reject(error);
  return own.table({ name: 'shop', client, ...shopOptions });
};

describe('the errors of the kit', () => {
  it('say where the fault is, and what was expected', () => {
    const error = failure(() => own.toTimestamp('x')) as own.InvalidInputError;
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toBeInstanceOf(SafeWritesError);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('InvalidInputError');
    expect(error.path).toBe('toTimestamp');
    expect(error.message).toMatch(/^toTimestamp: expected/);
  });

  it('are told apart by instanceof', () => {
    const error = new InvalidInputError('a', 'b');
    expect(error instanceof InvalidStoredItemError).toBe(false);
    expect(error instanceof LimitExceededError).toBe(false);
    for (const other of [new Error(), { kind: 'InvalidInputError' }, null, undefined, 'x']) {
      expect(other instanceof InvalidInputError).toBe(false);
      expect(other instanceof SafeWritesError).toBe(false);
    }
  });

  it("tell a user's own subclass from the others", () => {
    class MyError extends InvalidInputError {}
    expect(new MyError('a', 'b')).toBeInstanceOf(MyError);
    expect(new MyError('a', 'b')).toBeInstanceOf(InvalidInputError);
    expect(new InvalidInputError('a', 'b') instanceof MyError).toBe(false);
  });

  it('print neither key nor item, wherever they are logged', async () => {
    const item = { pk: { S: 'CUSTOMER#alice' }, note: { S: 'secret' } };
    const conditional = foreign('ConditionalCheckFailedException', { Item: item });
    const cancelled = foreign('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: { ...item, ...full } }],
    });
    const half = foreign('ConditionalCheckFailedException', { Item: item });
    const orders = failing(conditional).of(Order);
    const errors = await Promise.all([
      orders
        .put(order({ note: 'secret' }))
        .send()
        .catch((error: unknown) => error),
      failing(half)
        .of(Order)
        .put(order())
        .returnOldOnFailure()
        .send()
        .catch((error: unknown) => error),
      own
        .transactWrite(failing(cancelled), { step: orders.put(order({ note: 'secret' })).returnOldOnFailure() })
        .send()
        .catch((error: unknown) => error),
    ]);
    for (const error of errors) {
      expect(error).toBeInstanceOf(SafeWritesError);
      const printed = [inspect(error, { depth: 10 }), JSON.stringify(error), String((error as Error).stack)].join();
      expect(printed).not.toMatch(/alice|secret/);
    }
    expect((errors[2] as own.TransactionCanceledException).failed['step']?.item).toMatchObject({ customer: 'alice' });
    expect(((errors[2] as Error).cause as { CancellationReasons: unknown[] }).CancellationReasons).toHaveLength(1);
  });

  const full = {
    sk: { S: 'ORDER#0000000001' },
    _type: { S: 'ORDER' },
    customer: { S: 'alice' },
    number: { N: '1' },
    status: { S: 'OPEN' },
    placedAt: { S: '2026-12-01T00:00:00.000Z' },
    total: { N: '100' },
  };

  it('say what failed where the item that a condition saw can not be read', async () => {
    const half = { ...full, total: { S: 'secret' } };
    const conditional = foreign('ConditionalCheckFailedException', { Item: half });
    const cancelled = foreign('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: half }],
    });
    const put = (shop: own.Table) => shop.of(Order).put(order()).ifNotExists().returnOldOnFailure();
    const shop = failing(cancelled);
    const errors = [
      [put(failing(conditional)).trySend(), conditional],
      [own.transactWrite(shop, { put: put(shop) }).trySend(), cancelled],
    ] as const;
    for (const [sent, cause] of errors) {
      const error = await sent.catch((caught: unknown) => caught as Error);
      expect(error).toBeInstanceOf(InvalidStoredItemError);
      expect((error as Error).cause).toBe(cause);
      expect(inspect(error, { depth: 10 })).not.toMatch(/secret|alice/);
    }
  });

  it('carry the key and what the condition saw, for code', async () => {
    const error = foreign('ConditionalCheckFailedException', { Item: full });
    const thrown = await failing(error)
      .of(Order)
      .put(order())
      .returnOldOnFailure()
      .send()
      .catch((caught: unknown) => caught as own.ConditionalCheckFailedException);
    expect(thrown).toBeInstanceOf(own.ConditionalCheckFailedException);
    const caught = thrown as own.ConditionalCheckFailedException;
    expect(caught.key).toEqual({ pk: { S: 'CUSTOMER#alice' }, sk: { S: 'ORDER#0000000001' } });
    expect(caught.item).toEqual(order());
    expect(caught.itemAs(Order)?.total).toBe(100);
    expect(() => caught.itemAs({ name: 'CART', '~item': {} })).toThrow(TypeError);
    expect(caught.cause).toBe(error);
  });
});

describe('errors of DynamoDB', () => {
  it('are known by name, whichever copy of the SDK made them', async () => {
    const orders = failing(foreign('ConditionalCheckFailedException')).of(Order);
    expect(await orders.put(order()).trySend()).toEqual({ conditionMet: false });
    expect(await orders.put(order()).returnOldOnFailure().trySend()).toEqual({ conditionMet: false, item: undefined });
    await expect(orders.put(order()).send()).rejects.toThrow(own.ConditionalCheckFailedException);
  });

  it('come through as they are where the kit has no name for them', async () => {
    for (const name of ['ProvisionedThroughputExceededException', 'TransactionConflictException']) {
      const error = foreign(name);
      const orders = failing(error).of(Order);
      await expect(orders.put(order()).send()).rejects.toBe(error);
      await expect(orders.put(order()).trySend()).rejects.toBe(error);
      await expect(orders.get(order()).item()).rejects.toBe(error);
      await expect(orders.query({ customer: 'a' }).all()).rejects.toBe(error);
      await expect(own.transactWrite(failing(error), { a: orders.put(order()) }).trySend()).rejects.toBe(error);
    }
  });

  it('that say a parent is missing get a message that says what to do', async () => {
    const error = foreign('ValidationException');
    error.message = 'The document path provided in the update expression is invalid for update';
    const orders = failing(error).of(Order);
    const thrown = (await orders
      .update(order())
      .set(Order.attrs.shipTo.city, 'Bern')
      .send()
      .catch((caught: unknown) => caught)) as Error;
    expect(thrown).toBeInstanceOf(InvalidInputError);
    expect(thrown.message).toMatch(/set the whole map/);
    expect(thrown.cause).toBe(error);
  });

  it('of a cancelled transaction say the steps, and trySend() answers failed conditions only', async () => {
    const reasons = (...codes: string[]): Error =>
      foreign('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
    const run = (error: Error) => {
      const shop = failing(error);
      const orders = shop.of(Order);
      return own.transactWrite(shop, {
        a: orders.put(order()),
        b: orders.put(order({ number: 2 })).returnOldOnFailure(),
      });
    };
    expect(await run(reasons('ConditionalCheckFailed', 'None')).trySend()).toEqual({
      committed: false,
      failed: { a: { reason: 'ConditionalCheckFailed' } },
    });
    expect(await run(reasons('TransactionConflict', 'ConditionalCheckFailed')).trySend()).toEqual({
      committed: false,
      failed: { b: { reason: 'ConditionalCheckFailed', item: undefined } },
      others: { a: { reason: 'TransactionConflict' } },
    });
    for (const code of ['TransactionConflict', 'ThrottlingError', 'ValidationError', 'ProvisionedThroughputExceeded']) {
      const error = await run(reasons('None', code))
        .trySend()
        .catch((caught: unknown) => caught as own.TransactionCanceledException);
      expect(error).toBeInstanceOf(own.TransactionCanceledException);
      expect(Object.keys((error as own.TransactionCanceledException).failed)).toEqual(['b']);
      expect((error as Error).message).toContain(`b: ${code}`);
    }
  });

  it('of steps with names that objects inherit are no failures of theirs', async () => {
    const error = foreign('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
    const shop = failing(error);
    const orders = shop.of(Order);
    const outcome = await own
      .transactWrite(shop, {
        ['constructor']: orders.put(order()),
        ['toString']: orders.put(order({ number: 2 })),
      } as never)
      .trySend();
    expect(outcome.committed).toBe(false);
    const { failed } = outcome as unknown as { failed: Readonly<Record<string, unknown>> };
    const names = Object.keys(failed);
    expect(names).toEqual(['toString']);
    expect(['constructor', 'valueOf'].some((name) => name in failed)).toBe(false);
  });
});

describe('two copies of the package', () => {
  afterEach(() => vi.resetModules());

  /** A second copy, as the CommonJS build in the same process is one. */
  const copy = async (): Promise<typeof own> => {
    vi.resetModules();
    const second = await import('../../lib/commands/index.js');
    expect(second.entity).not.toBe(own.entity);
    return second;
  };

  it("know each other's entities, attributes, handles and conditions", async () => {
    const second = await copy();
    const shop = second.table({ name: 'shop', client: offlineClient(), ...shopOptions });
    const orders = shop.of(Order);
    const request = orders
      .update(order())
      .set(Order.attrs.shipTo.city, 'Bern')
      .set(Order.attrs.total, Order.text`${Order.attrs.total} + ${Order.attrs.total.value(1)}`)
      .if(Order.attrs.total.gt(5))
      .toRequest();
    expect(request.ConditionExpression).toBe('#3 > :3');
    const mixed = second.entity('MIXED', {
      pk: 'M',
      sk: '{a}',
      attributes: { a: own.string(), b: own.map({ c: second.integer(), d: own.list(own.string()) }) },
    });
    const { Item } = own
      .table({ name: 'shop', client: offlineClient() })
      .of(mixed as never)
      .put({ a: 'x', b: { c: 1, d: [] } } as never)
      .toRequest();
    expect(Item).toMatchObject({ b: { M: { c: { N: '1' } } } });
  });

  it("take each other's commands as steps, and bound entities", async () => {
    const second = await copy();
    const shop = own.table({ name: 'shop', client: offlineClient(), ...shopOptions });
    const step = second
      .table({ name: 'shop', client: offlineClient(), ...shopOptions })
      .of(Order)
      .put(order());
    expect(own.transactWrite(shop, { step }).toRequest().TransactItems).toHaveLength(1);
    expect(
      second.transactWrite(shop, { check: second.conditionCheck(shop.of(Order), order()).ifExists() }),
    ).toBeDefined();
  });

  it("know each other's errors, and retry on each other's conflicts", async () => {
    const second = await copy();
    expect(new second.InvalidInputError('a', 'b')).toBeInstanceOf(InvalidInputError);
    expect(new InvalidInputError('a', 'b')).toBeInstanceOf(second.SafeWritesError);
    expect(new second.InvalidInputError('a', 'b') instanceof LimitExceededError).toBe(false);
    let runs = 0;
    await own.retryOnConflict(() => {
      runs++;
      if (runs === 1) throw new second.ConditionalCheckFailedException({}, undefined, 'ORDER', undefined);
      return Promise.resolve();
    });
    expect(runs).toBe(2);
  });

  it('refuse an entity of another protocol, and say why', () => {
    const old = { [Symbol.for('safewrites.entity')]: 0 };
    const shop = own.table({ name: 'shop', client: offlineClient() });
    expect(() => shop.of(old as never)).toThrow(/another version of safewrites/);
  });
});
