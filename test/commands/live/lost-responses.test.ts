import { describe, expect, it } from 'vitest';
import {
  ConditionalCheckFailedException,
  entity,
  retryOnConflict,
  string,
  table,
  timestamp,
  toTimestamp,
  transactWrite,
  type Table,
} from '../../../lib/commands/index.js';
import { losing } from '../support/handlers.js';
import { liveTable } from '../support/live.js';
import { Cart, Order } from '../support/shop.js';

const Match = entity('MATCH', {
  pk: 'MATCH#{id}',
  sk: 'LIVE',
  attributes: { id: string(), score: string().optional(), scoreAt: timestamp().optional() },
});

const live = liveTable();
let serial = 0;
const fresh = () => ({ customer: `r${++serial}`, number: 1 });
const total = async (key: { customer: string; number: number }): Promise<number> =>
  (await live.shop.of(Order).get(key).select(Order.attrs.total).send()).valueOr(-1);

/** The table on a connection that loses the first responses. */
const lossy = (lost = 1): Table =>
  table({
    name: live.shop.name,
    client: losing(live.client, lost),
    indexes: { byStatus: {}, keys: { sk: false }, local: { pk: 'pk', sk: 'localsk' } },
  });

describe('a response that is lost after the write took effect', () => {
  it('lets an add count twice, and maxAttempts(1) at most once', async () => {
    const [twice, once] = [fresh(), fresh()];
    await lossy().of(Order).update(twice).add(Order.attrs.total, 1).send();
    expect(await total(twice)).toBe(2);
    await expect(lossy().of(Order).update(once).add(Order.attrs.total, 1).maxAttempts(1).send()).rejects.toThrow(
      'socket hang up',
    );
    expect(await total(once)).toBe(1);
  });

  it('lets a conditional write fail against its own first attempt', async () => {
    const key = fresh();
    await live.shop.of(Order).update(key).set({ total: 1 });
    const change = lossy().of(Order).update(key).set({ total: 2 }).if(Order.attrs.total.eq(1));
    await expect(change.send()).rejects.toThrow(ConditionalCheckFailedException);
    expect(await total(key)).toBe(2);
  });

  it('makes retryOnConflict() run a versioned write again, on the version that it stored', async () => {
    const { customer: id } = fresh();
    await live.shop.of(Cart).put({ id });
    const carts = lossy(1).of(Cart);
    let runs = 0;
    await retryOnConflict(async () => {
      runs++;
      const cart = await live.shop.of(Cart).get({ id }).consistent().item();
      await carts.put({ ...cart!, owner: 'a' });
    });
    expect(runs).toBe(2);
    expect(await live.shop.of(Cart).get({ id }).item()).toMatchObject({ owner: 'a', revision: 3 });
  });

  it('looks like a second delivery to a write that compares the times of events', async () => {
    const { customer: id } = fresh();
    const at = toTimestamp('2026-12-01T00:00:00.000000001Z');
    const apply = (shop: Table, score: string, scoreAt: typeof at) =>
      shop
        .of(Match)
        .update({ id })
        .set({ score, scoreAt })
        .if(Match.attrs.scoreAt.notExistsOrLt(scoreAt))
        .returnOldOnFailure()
        .trySend();
    const result = await apply(lossy(), '1:0', at);
    expect(result).toEqual({ conditionMet: false, item: { id, score: '1:0', scoreAt: at } });
    const older = toTimestamp('2026-12-01T00:00:00Z');
    expect(await apply(live.shop, '0:0', older)).toMatchObject({ conditionMet: false, item: { scoreAt: at } });
    const newer = toTimestamp('2026-12-01T00:00:00.000000002Z');
    expect(await apply(live.shop, '2:0', newer)).toEqual({ conditionMet: true });
  });

  it('leaves a transaction done once, by its token', async () => {
    const key = fresh();
    const shop = lossy();
    await transactWrite(shop, { add: shop.of(Order).update(key).add(Order.attrs.total, 1) }).send();
    expect(await total(key)).toBe(1);
    const failing = lossy();
    const built = transactWrite(failing, { add: failing.of(Order).update(key).add(Order.attrs.total, 1) })
      .maxAttempts(1)
      .build();
    await expect(built.send()).rejects.toThrow('socket hang up');
    await built.send();
    expect(await total(key)).toBe(2);
  });

  it('does no harm to a write that says the same each time', async () => {
    const key = fresh();
    await lossy().of(Order).update(key).set({ total: 7 }).add(Order.attrs.tags, ['a']);
    await lossy().of(Order).delete(key);
    expect(await live.shop.of(Order).get(key).item()).toBeUndefined();
  });
});
