import { describe, expect, it } from 'vitest';
import { table, transactWrite, type SendOptions, type Table } from '../../lib/commands/index.js';
import { clientOf } from './support/handlers.js';
import { Cart, Order, order, shopOptions } from './support/shop.js';

const key = { customer: 'a', number: 1 };

const collect = async (items: AsyncIterable<unknown>): Promise<unknown[]> => {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const terminals: Record<string, (shop: Table, options: SendOptions) => Promise<unknown>> = {
  'get().item()': (shop, options) => shop.of(Order).get(key).item(options),
  'get().send()': (shop, options) => shop.of(Order).get(key).send(options),
  'get().select().send()': (shop, options) => shop.of(Order).get(key).select(Order.attrs.total).send(options),
  'put().send()': (shop, options) => shop.of(Order).put(order()).send(options),
  'put().trySend()': (shop, options) => shop.of(Order).put(order()).trySend(options),
  'update().send()': (shop, options) => shop.of(Order).update(key).set({ total: 1 }).send(options),
  'update().trySend()': (shop, options) => shop.of(Cart).update({ id: 'a' }).ifVersion(1).trySend(options),
  'update().return().send()': (shop, options) => shop.of(Order).update(key).return(Order.attrs.total).send(options),
  'delete().send()': (shop, options) => shop.of(Order).delete(key).send(options),
  'delete().trySend()': (shop, options) => shop.of(Order).delete(key).trySend(options),
  'query().page()': (shop, options) => shop.of(Order).query({ customer: 'a' }).page(options),
  'query().all()': (shop, options) => shop.of(Order).query({ customer: 'a' }).all(options),
  'query().items()': (shop, options) => collect(shop.of(Order).query({ customer: 'a' }).items(options)),
  'query().first()': (shop, options) => shop.of(Order).query({ customer: 'a' }).first(options),
  'query().count()': (shop, options) => shop.of(Order).query({ customer: 'a' }).count(options),
  'transactWrite().send()': (shop, options) => transactWrite(shop, { put: shop.of(Order).put(order()) }).send(options),
  'transactWrite().trySend()': (shop, options) =>
    transactWrite(shop, { put: shop.of(Order).put(order()) }).trySend(options),
  'transactWrite().build().send()': (shop, options) =>
    transactWrite(shop, { put: shop.of(Order).put(order()) })
      .build()
      .send(options),
  'with maxAttempts(1)': (shop, options) => shop.of(Order).put(order()).maxAttempts(1).send(options),
  'with maxAttempts(2)': (shop, options) => shop.of(Order).put(order()).maxAttempts(2).send(options),
};

describe.each(Object.entries(terminals))('the signal of %s', (_, send) => {
  it('aborts a request that is under way', async () => {
    const controller = new AbortController();
    let started = 0;
    const client = clientOf((_request, { abortSignal } = {}) => {
      started++;
      setImmediate(() => controller.abort());
      return new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () =>
          reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' })),
        );
      });
    });
    const shop = table({ name: 'shop', client, ...shopOptions });
    await expect(send(shop, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(started).toBe(1);
  });
});
