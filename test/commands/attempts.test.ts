import { describe, expect, it } from 'vitest';
import { InvalidInputError, table, transactWrite, type Table } from '../../lib/commands/index.js';
import { broken, clientOf } from './support/handlers.js';
import { Order, order, shopOptions } from './support/shop.js';

const key = { customer: 'a', number: 1 };
type Attempts = { maxAttempts(attempts: number): unknown };

const operations: Record<string, (shop: Table) => Attempts> = {
  get: (shop) => shop.of(Order).get(key),
  put: (shop) => shop.of(Order).put(order()),
  update: (shop) => shop.of(Order).update(key).set({ total: 1 }),
  'update with return()': (shop) => shop.of(Order).update(key).add(Order.attrs.total, 1).return(Order.attrs.total),
  delete: (shop) => shop.of(Order).delete(key),
  query: (shop) => shop.of(Order).query({ customer: 'a' }),
  transactWrite: (shop) => transactWrite(shop, { put: shop.of(Order).put(order()) }),
};

const send = (command: unknown): Promise<unknown> => {
  const { page, send } = command as Record<'page' | 'send', (() => Promise<unknown>) | undefined>;
  return (send ?? page)?.call(command) as Promise<unknown>;
};

/** A table whose every attempt fails, and how many there were. */
const failing = (config = {}): { shop: Table; attempts: () => number } => {
  let attempts = 0;
  const client = clientOf(() => {
    attempts++;
    return Promise.reject(broken());
  }, config);
  return { shop: table({ name: 'shop', client, ...shopOptions }), attempts: () => attempts };
};

describe.each(Object.entries(operations))('maxAttempts() of a %s', (_, command) => {
  it.each([1, 2, 3])('makes %d attempts in all', async (n) => {
    const { shop, attempts } = failing();
    await expect(send(command(shop).maxAttempts(n))).rejects.toThrow('socket hang up');
    expect(attempts()).toBe(n);
  });

  it("is the client's own where it is not said, also after another command said it", async () => {
    const { shop, attempts } = failing({ maxAttempts: 3 });
    for (const n of [1, 2]) await expect(send(command(shop).maxAttempts(n))).rejects.toThrow();
    const before = attempts();
    await expect(send(command(shop))).rejects.toThrow();
    expect(attempts() - before).toBe(3);
  });

  it("may be more than the client's", async () => {
    const { shop, attempts } = failing({ maxAttempts: 1 });
    await expect(send(command(shop).maxAttempts(2))).rejects.toThrow();
    expect(attempts()).toBe(2);
  });

  it('is refused on a client that caches its middleware, before sending', async () => {
    const { shop, attempts } = failing({ cacheMiddleware: true });
    for (const n of [1, 2]) {
      await expect(send(command(shop).maxAttempts(n))).rejects.toThrow(/cacheMiddleware/);
      await expect(send(command(shop).maxAttempts(n))).rejects.toThrow(InvalidInputError);
    }
    expect(attempts()).toBe(0);
  });

  it('refuses what is no number of attempts', () => {
    const { shop } = failing();
    for (const wrong of [0, -1, 1.5, NaN, Infinity, '2', null, undefined]) {
      expect(() => command(shop).maxAttempts(wrong as never)).toThrow(InvalidInputError);
    }
  });
});

it('takes the attempts that the SDK has for DynamoDB by default', async () => {
  const { shop, attempts } = failing();
  await expect(shop.of(Order).put(order()).send()).rejects.toThrow();
  expect(attempts()).toBeGreaterThanOrEqual(3);
});
