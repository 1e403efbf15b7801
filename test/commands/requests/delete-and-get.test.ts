import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../lib/commands/index.js';
import { offlineTable } from '../support/offline.js';
import { Cart, Order, order, shopOptions } from '../support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const carts = shop.of(Cart);
const key = { customer: 'alice', number: 1 };
const Key = { pk: { S: 'CUSTOMER#alice' }, sk: { S: 'ORDER#0000000001' } };

describe('delete()', () => {
  it('takes the key', () => {
    expect(orders.delete(key).toRequest()).toEqual({ TableName: 'shop', Key });
  });

  it('takes the key of an item that was read, and its version', () => {
    expect(orders.deleteItem(order()).toRequest()).toEqual({ TableName: 'shop', Key });
    expect(carts.deleteItem({ id: 'a', lines: [], revision: 7 }).toRequest()).toEqual({
      TableName: 'shop',
      Key: { pk: { S: 'CART#a' }, sk: { S: 'CART' } },
      ConditionExpression: '#0 = :0',
      ExpressionAttributeNames: { '#0': 'revision' },
      ExpressionAttributeValues: { ':0': { N: '7' } },
    });
  });

  it('joins its conditions with the version', () => {
    const request = carts.delete({ id: 'a' }).ifExists().ifVersion(7).returnOld().returnOldOnFailure().toRequest();
    expect(request).toMatchObject({
      ConditionExpression: '(attribute_exists(#0)) AND (#1 = :0)',
      ExpressionAttributeNames: { '#0': 'pk', '#1': 'revision' },
      ReturnValues: 'ALL_OLD',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('has nothing to advance after ignoreVersion()', () => {
    expect(carts.delete({ id: 'a' }).ignoreVersion().toRequest()).toEqual({
      TableName: 'shop',
      Key: { pk: { S: 'CART#a' }, sk: { S: 'CART' } },
    });
  });

  it('is refused without a decision on the version', async () => {
    const untyped = (): { toRequest(): unknown; send(): Promise<unknown> } => carts.delete({ id: 'a' }) as never;
    expect(() => untyped().toRequest()).toThrow(InvalidInputError);
    await expect(untyped().send()).rejects.toThrow(InvalidInputError);
    expect(() => carts.deleteItem({ id: 'a', lines: [] } as never)).toThrow(InvalidInputError);
  });

  it('refuses what is no key', () => {
    for (const wrong of [undefined, null, {}, { customer: 'a' }, 'alice']) {
      expect(() => orders.delete(wrong as never)).toThrow(InvalidInputError);
      expect(() => orders.get(wrong as never)).toThrow(InvalidInputError);
      expect(() => orders.deleteItem(wrong as never)).toThrow(InvalidInputError);
    }
  });
});

describe('get()', () => {
  it('takes the key', () => {
    expect(orders.get(key).toRequest()).toEqual({ TableName: 'shop', Key });
    expect(orders.get(order()).consistent().returnCapacity().toRequest()).toEqual({
      TableName: 'shop',
      Key,
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
    });
  });

  it('projects attributes, with what reading them needs', () => {
    expect(orders.get(key).project('total', 'expiresAt').toRequest()).toEqual({
      TableName: 'shop',
      Key,
      ProjectionExpression: '#p0, #p1, #p2, #p3, #p4',
      ExpressionAttributeNames: { '#p0': 'pk', '#p1': 'sk', '#p2': '_type', '#p3': 'total', '#p4': 'ttl' },
    });
  });

  it('selects the whole attribute around a part', () => {
    const { ExpressionAttributeNames } = orders.get(key).select(Order.attrs.lines.at(3).sku).toRequest();
    expect(Object.values(ExpressionAttributeNames ?? {})).toContain('lines');
    expect(Object.values(ExpressionAttributeNames ?? {})).not.toContain('sku');
  });

  it('refuses what is no attribute of its entity', () => {
    const get = orders.get(key) as unknown as Record<string, (...values: unknown[]) => unknown>;
    for (const [method, ...values] of [
      ['project'],
      ['project', 'nothing'],
      ['project', 'constructor'],
      ['project', Order.attrs.total],
      ['select', 'total'],
      ['select', Cart.attrs.owner],
      ['select', Order.attrs.tags.size()],
      ['select', undefined],
      ['maxAttempts', 0],
      ['maxAttempts', '1'],
    ] as const) {
      expect(() => get[method]?.(...values), method).toThrow(InvalidInputError);
    }
  });
});
