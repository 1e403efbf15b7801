import { describe, expect, it } from 'vitest';
import {
  CommandUsedError,
  InvalidInputError,
  LimitExceededError,
  conditionCheck,
  joinSteps,
  transactWrite,
} from '../../../lib/commands/index.js';
import { offlineTable } from '../support/offline.js';
import { Cart, Order, order, shopOptions } from '../support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const carts = shop.of(Cart);
const key = { customer: 'alice', number: 1 };

describe('transactWrite()', () => {
  it('sends its steps in their order, with a token', () => {
    const transaction = transactWrite(shop, {
      put: orders.put(order()).ifNotExists().returnOldOnFailure(),
      move: carts.update({ id: 'a' }).set({ owner: 'bob' }).ifVersion(2),
      drop: carts.delete({ id: 'b' }).ignoreVersion(),
      check: conditionCheck(orders, { customer: 'alice', number: 2 }).if(Order.attrs.total.gt(5)).ifExists(),
    });
    const token = transaction.clientRequestToken;
    const request = transaction.returnCapacity().toRequest();
    expect(request.ClientRequestToken).toBe(token);
    expect(request.ReturnConsumedCapacity).toBe('TOTAL');
    expect(request.TransactItems?.map((item) => Object.keys(item))).toEqual([
      ['Put'],
      ['Update'],
      ['Delete'],
      ['ConditionCheck'],
    ]);
    expect(request.TransactItems?.[0]?.Put).toMatchObject({
      ConditionExpression: 'attribute_not_exists(#0)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(request.TransactItems?.[3]?.ConditionCheck).toEqual({
      TableName: 'shop',
      Key: { pk: { S: 'CUSTOMER#alice' }, sk: { S: 'ORDER#0000000002' } },
      ConditionExpression: '(#0 > :0) AND (attribute_exists(#1))',
      ExpressionAttributeNames: { '#0': 'total', '#1': 'pk' },
      ExpressionAttributeValues: { ':0': { N: '5' } },
    });
  });

  it('keeps its token along the chain, and takes one of the caller', () => {
    const transaction = transactWrite(shop, { put: orders.put(order()) });
    expect(transaction.clientRequestToken).toMatch(/^[\da-f-]{36}$/);
    expect(transaction.maxAttempts(1).clientRequestToken).toBe(transaction.clientRequestToken);
    const built = transactWrite(shop, { put: orders.put(order()) })
      .token('mine')
      .build();
    expect(built.clientRequestToken).toBe('mine');
    for (const wrong of ['', 'x'.repeat(37), 5, null, undefined]) {
      expect(() => transactWrite(shop, { put: orders.put(order()) }).token(wrong as never)).toThrow(InvalidInputError);
    }
  });

  it('refuses no steps, and more than 100', () => {
    const puts = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`s${i}`, orders.put(order({ number: i }))]));
    expect(() => transactWrite(shop, {}).toRequest()).toThrow(InvalidInputError);
    expect(() => transactWrite(shop, puts(101)).toRequest()).toThrow(LimitExceededError);
    expect(transactWrite(shop, puts(100)).toRequest().TransactItems).toHaveLength(100);
  });

  it('refuses one item twice, and names the steps', () => {
    const steps = { first: orders.put(order()), check: conditionCheck(orders, key).ifExists() };
    expect(() => transactWrite(shop, steps).toRequest()).toThrow(/^check: touches the same item as first/);
  });

  it('takes one key on two tables', () => {
    const other = offlineTable({ ...shopOptions, name: 'other' });
    const steps = { here: orders.put(order()), there: other.of(Order).put(order()) };
    expect(transactWrite(shop, steps).toRequest().TransactItems).toHaveLength(2);
  });

  it('refuses more than 4 MB, and names the step that is too much', () => {
    const steps = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`s${i}`, orders.put(order({ number: i, note: 'x'.repeat(400_000) }))]),
    );
    expect(() => transactWrite(shop, steps).toRequest()).toThrow(/^s10: takes the transaction over/);
  });

  it('refuses what is no step', () => {
    const untyped = transactWrite as unknown as (table: unknown, steps: unknown) => { toRequest(): unknown };
    for (const steps of [
      { a: 5 },
      { a: undefined },
      { a: null },
      { a: Promise.resolve() },
      { a: orders.get(key) },
      { a: orders.query({ customer: 'a' }) },
      [5],
    ]) {
      expect(() => untyped(shop, steps).toRequest()).toThrow(InvalidInputError);
    }
    for (const steps of [undefined, null, 'x', 5]) expect(() => untyped(shop, steps)).toThrow(InvalidInputError);
    for (const table of [undefined, {}, orders]) {
      expect(() => untyped(table, { a: orders.put(order()) })).toThrow(InvalidInputError);
    }
  });

  it('refuses a versioned step without a decision, and clauses that belong to the transaction', () => {
    const step = (command: unknown) => () => transactWrite(shop, { step: command as never }).toRequest();
    expect(step(carts.update({ id: 'a' }))).toThrow(InvalidInputError);
    expect(step(carts.delete({ id: 'a' }))).toThrow(InvalidInputError);
    expect(step(orders.put(order()).returnOld())).toThrow(/say it there/);
    expect(step(orders.update(key).returnNew())).toThrow(InvalidInputError);
    expect(step(orders.update(key).return(Order.attrs.total))).toThrow(InvalidInputError);
    expect(step(orders.put(order()).returnCapacity())).toThrow(InvalidInputError);
    expect(step(orders.put(order()).maxAttempts(1))).toThrow(InvalidInputError);
    expect(step(orders.put(order()).returnItemCollectionMetrics())).toThrow(InvalidInputError);
    expect(step(conditionCheck(orders, key))).toThrow(/has no condition/);
  });

  it('does not let a conditionCheck() be sent alone', async () => {
    const check = conditionCheck(orders, key).ifExists() as unknown as { send(): Promise<unknown> };
    await expect(check.send()).rejects.toThrow(InvalidInputError);
  });

  it('takes names of steps that objects inherit, but not __proto__', () => {
    const steps = { constructor: orders.put(order()), toString: orders.put(order({ number: 2 })) };
    expect(transactWrite(shop, steps as never).toRequest().TransactItems).toHaveLength(2);
    const proto = JSON.parse('{"__proto__":1}') as Record<string, never>;
    expect(() => transactWrite(shop, { ...proto }).toRequest()).toThrow(InvalidInputError);
    expect(() => joinSteps(proto, {})).toThrow(InvalidInputError);
  });
});

describe('joinSteps()', () => {
  it('joins the steps of helpers', () => {
    const joined = joinSteps({ a: orders.put(order()) }, { b: carts.put({ id: 'a' }) });
    expect(transactWrite(shop, joined).toRequest().TransactItems).toHaveLength(2);
  });

  it('throws on a name used twice, which spreading would drop', () => {
    expect(() => joinSteps({ a: orders.put(order()) }, { a: carts.put({ id: 'a' }) })).toThrow(
      /^a: is the name of two/,
    );
    expect(() => joinSteps({ toString: orders.put(order()) }, { toString: carts.put({ id: 'a' }) })).toThrow(
      InvalidInputError,
    );
    expect(() => joinSteps(undefined as never)).toThrow(InvalidInputError);
  });

  it('leaves using a command twice to the transaction, which refuses it', () => {
    const put = orders.put(order());
    expect(() => transactWrite(shop, joinSteps({ a: put }, { b: put })).toRequest()).toThrow(CommandUsedError);
  });
});
