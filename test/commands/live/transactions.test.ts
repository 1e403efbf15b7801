import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  TransactionCanceledException,
  conditionCheck,
  joinSteps,
  transactWrite,
  type Step,
} from '../../../lib/commands/index.js';
import { embedded } from '../../support/dynamodb.js';
import { liveTable } from '../support/live.js';
import { Cart, Order, order } from '../support/shop.js';

const live = liveTable();
const orders = () => live.shop.of(Order);
const carts = () => live.shop.of(Cart);
let serial = 0;
const fresh = () => ({ customer: `t${++serial}`, number: 1 });

describe('a transaction', () => {
  it('writes all of its steps', async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()];
    await orders().put(order(b));
    await orders().put(order(c));
    const result = await transactWrite(live.shop, {
      put: orders().put(order(a)).ifNotExists(),
      update: orders()
        .update(b)
        .set({ status: 'PAID', placedAt: new Date(0) })
        .ifExists(),
      remove: orders().delete(c).if(Order.attrs.total.eq(100)),
    })
      .returnCapacity()
      .send();
    expect(result.committed).toBe(true);
    expect(result.consumedCapacity[0]?.CapacityUnits).toBeGreaterThan(0);
    expect(await orders().get(a).item()).toEqual(order(a));
    expect(await orders().get(b).item()).toMatchObject({ status: 'PAID' });
    expect(await orders().get(c).item()).toBeUndefined();
    const paid = await orders()
      .index('byStatus')
      .query({ status: 'PAID', placedAt: new Date(0) })
      .all();
    expect(paid.map(({ customer }) => customer)).toContain(b.customer);
  });

  it('writes none of them where a condition fails, and says which by its name', async () => {
    const [a, b] = [fresh(), fresh()];
    await orders().put(order(a));
    const outcome = await transactWrite(live.shop, {
      first: orders().put(order(b)),
      claim: orders().unique(order(a)).returnOldOnFailure(),
      check: conditionCheck(orders(), fresh()).ifExists().returnOldOnFailure(),
      blind: orders().delete(fresh()).ifExists(),
    }).trySend();
    expect(outcome).toEqual({
      committed: false,
      failed: {
        claim: { reason: 'ConditionalCheckFailed', item: order(a) },
        check: { reason: 'ConditionalCheckFailed', item: undefined },
        blind: { reason: 'ConditionalCheckFailed' },
      },
    });
    expect(await orders().get(b).item()).toBeUndefined();
  });

  it('throws a failed condition from send(), with the failed steps', async () => {
    const a = fresh();
    await orders().put(order(a));
    const error = await transactWrite(live.shop, { claim: orders().unique(order(a)).returnOldOnFailure() })
      .send()
      .catch((caught: unknown) => caught as TransactionCanceledException);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).failed).toEqual({
      claim: { reason: 'ConditionalCheckFailed', item: order(a) },
    });
    expect((error as Error).message).not.toContain(a.customer);
  });

  it('may be awaited, once', async () => {
    const a = fresh();
    const transaction = transactWrite(live.shop, { add: orders().update(a).add(Order.attrs.total, 1) });
    expect(await transaction).toEqual({ committed: true });
    expect(await transaction).toEqual({ committed: true });
    expect((await orders().get(a).select(Order.attrs.total).send()).valueOr(0)).toBe(1);
    await expect(transaction.send()).rejects.toThrow(/used once/);
  });

  it('that was built is the same request each time it is sent', async () => {
    const a = fresh();
    const built = transactWrite(live.shop, { add: orders().update(a).add(Order.attrs.total, 1) }).build();
    expect(await built.send()).toEqual({ committed: true });
    expect(await built.send()).toEqual({ committed: true });
    expect(await built.trySend()).toEqual({ committed: true });
    expect((await orders().get(a).select(Order.attrs.total).send()).valueOr(0)).toBe(1);
  });

  it('with the token of another one is refused', async () => {
    const a = fresh();
    const token = `token-${Date.now()}`;
    const add = (n: number) =>
      transactWrite(live.shop, { add: orders().update(a).add(Order.attrs.total, n) }).token(token);
    await add(1).send();
    await add(1).send();
    await expect(add(2).send()).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
    expect((await orders().get(a).select(Order.attrs.total).send()).valueOr(0)).toBe(1);
  });

  it('is what toRequest() renders', async () => {
    const a = fresh();
    const request = transactWrite(live.shop, { put: orders().put(order(a)) }).toRequest();
    await live.client.send(new TransactWriteItemsCommand(request));
    expect(await orders().get(a).item()).toEqual(order(a));
  });

  it('joins the steps of helpers', async () => {
    const [a, b] = [fresh(), fresh()];
    const claim = (key: { customer: string; number: number }): { claim: Step<unknown> } => ({
      claim: orders().unique(order(key)),
    });
    await transactWrite(live.shop, joinSteps(claim(a), { cart: carts().put({ id: b.customer }) }));
    const again = await transactWrite(
      live.shop,
      joinSteps(claim(a), { cart: carts().put({ id: b.customer, revision: 1 }) }),
    ).trySend();
    expect(again).toMatchObject({ committed: false, failed: { claim: { reason: 'ConditionalCheckFailed' } } });
  });

  it('is refused by DynamoDB for a path without parent, with what to do', async () => {
    const a = fresh();
    await orders().put(order(a));
    const error = (await transactWrite(live.shop, { move: orders().update(a).set(Order.attrs.shipTo.city, 'Bern') })
      .send()
      .catch((caught: unknown) => caught)) as Error;
    expect(error.message).toMatch(/move: ValidationError|set the whole map/);
  });

  it.runIf(embedded)('meets another one on the same item as a conflict, which trySend() throws', async () => {
    const a = fresh();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        transactWrite(live.shop, { add: orders().update(a).add(Order.attrs.total, 1) }).trySend(),
      ),
    );
    const committed = outcomes.filter(({ status }) => status === 'fulfilled').length;
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual({ committed: true });
      else {
        expect(outcome.reason).toBeInstanceOf(TransactionCanceledException);
        expect((outcome.reason as TransactionCanceledException).failed).toEqual({
          add: { reason: 'TransactionConflict' },
        });
      }
    }
    expect((await orders().get(a).select(Order.attrs.total).send()).valueOr(0)).toBe(committed);
  });
});
