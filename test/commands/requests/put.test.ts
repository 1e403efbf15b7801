import { describe, expect, it } from 'vitest';
import { InvalidInputError, LimitExceededError } from '../../../lib/commands/index.js';
import { offlineTable } from '../support/offline.js';
import { Cart, Order, order, placedAt, shopOptions } from '../support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const carts = shop.of(Cart);

const storedOrder = {
  pk: { S: 'CUSTOMER#alice' },
  sk: { S: 'ORDER#0000000001' },
  _type: { S: 'ORDER' },
  customer: { S: 'alice' },
  number: { N: '1' },
  status: { S: 'OPEN' },
  placedAt: { S: '2026-12-01T00:00:00.000Z' },
  total: { N: '100' },
  lines: { L: [] },
  byStatuspk: { S: 'STATUS#OPEN' },
  byStatussk: { S: '2026-12-01T00:00:00.000Z' },
};

describe('put()', () => {
  it('stores the whole item with its keys, type and index keys', () => {
    expect(orders.put(order()).toRequest()).toEqual({ TableName: 'shop', Item: storedOrder });
  });

  it('stores every kind of attribute, and nothing for undefined and empty sets', () => {
    const { Item } = orders
      .put(
        order({
          weight: 1.5,
          note: undefined,
          tags: new Set(['a']),
          scores: new Set(),
          lines: [{ sku: 'x', quantity: 2 }],
          shipTo: { street: 's', city: 'c', zip: undefined },
          labels: { a: 'b' },
          expiresAt: new Date(1_500),
        }),
      )
      .toRequest();
    expect(Item).toEqual({
      ...storedOrder,
      weight: { N: '1.5' },
      tags: { SS: ['a'] },
      lines: { L: [{ M: { sku: { S: 'x' }, quantity: { N: '2' } } }] },
      shipTo: { M: { street: { S: 's' }, city: { S: 'c' } } },
      labels: { M: { a: { S: 'b' } } },
      ttl: { N: '2' },
    });
  });

  it('stores the item as it was when the put was made', () => {
    const lines = [{ sku: 'x', quantity: 1 }];
    const at = new Date(placedAt);
    const put = orders.put(order({ lines, placedAt: at }));
    lines.push({ sku: 'y', quantity: 1 });
    at.setTime(0);
    expect(put.toRequest().Item).toEqual({
      ...storedOrder,
      lines: { L: [{ M: { sku: { S: 'x' }, quantity: { N: '1' } } }] },
    });
  });

  it('joins conditions with AND, each in parentheses', () => {
    const { status, total, note } = Order.attrs;
    const request = orders
      .put(order())
      .if(status.eq('OPEN').or(total.gt(5)))
      .if(note.notExists())
      .ifExists()
      .toRequest();
    expect(request).toMatchObject({
      ConditionExpression: '((#0 = :0) OR (#1 > :1)) AND (attribute_not_exists(#2)) AND (attribute_exists(#3))',
      ExpressionAttributeNames: { '#0': 'status', '#1': 'total', '#2': 'note', '#3': 'pk' },
      ExpressionAttributeValues: { ':0': { S: 'OPEN' }, ':1': { N: '5' } },
    });
  });

  it('asks whether the key is taken, once', () => {
    const condition = { ConditionExpression: 'attribute_not_exists(#0)', ExpressionAttributeNames: { '#0': 'pk' } };
    expect(orders.put(order()).ifNotExists().toRequest()).toEqual({
      TableName: 'shop',
      Item: storedOrder,
      ...condition,
    });
    expect(orders.unique(order()).toRequest()).toEqual({ TableName: 'shop', Item: storedOrder, ...condition });
    expect(carts.unique({ id: 'a' }).toRequest()).toMatchObject(condition);
  });

  it('asks for what it returns', () => {
    const request = orders
      .put(order())
      .returnOld()
      .returnOldOnFailure()
      .returnCapacity('indexes')
      .returnItemCollectionMetrics()
      .toRequest();
    expect(request).toEqual({
      TableName: 'shop',
      Item: storedOrder,
      ReturnValues: 'ALL_OLD',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ReturnConsumedCapacity: 'INDEXES',
      ReturnItemCollectionMetrics: 'SIZE',
    });
    expect(orders.put(order()).returnCapacity().toRequest().ReturnConsumedCapacity).toBe('TOTAL');
  });

  it('renders what goes over the wire', () => {
    expect(JSON.parse(orders.put(order()).toRequestJson())).toEqual({ TableName: 'shop', Item: storedOrder });
  });

  it('leaves an item out of an index whose inputs it lacks', () => {
    const { Item } = shop.of(Cart).put({ id: 'a' }).toRequest();
    expect(Object.keys(Item ?? {})).not.toContain('byStatuspk');
  });

  it('refuses what is no item of its entity', () => {
    for (const wrong of [undefined, null, 5, 'x', [], new Map(), {}]) {
      expect(() => orders.put(wrong as never)).toThrow(InvalidInputError);
    }
    expect(() => orders.put({ ...order(), pk: 'x' } as never)).toThrow(/^ORDER: .*not declared: it takes /);
    expect(() => orders.put({ ...order(), total: undefined } as never)).toThrow(/^total: is required/);
    expect(() => orders.put({ ...order(), total: null } as never)).toThrow(InvalidInputError);
  });

  it('takes a row of a collection, which carries its type', () => {
    expect(orders.put({ ...order(), _type: 'ORDER' } as never).toRequest().Item).toEqual(storedOrder);
    expect(() => orders.put({ ...order(), _type: 'CART' } as never)).toThrow(InvalidInputError);
  });

  it('refuses an item over 400 KB before sending, and none below', () => {
    const full = 409_600 - 300;
    expect(() => orders.put(order({ note: 'x'.repeat(409_600) }))).toThrow(LimitExceededError);
    expect(() => orders.put(order({ note: 'é'.repeat(204_800) }))).toThrow(LimitExceededError);
    expect(() => orders.put(order({ note: 'x'.repeat(full) }))).not.toThrow();
    expect(() => orders.put(order({ labels: Object.fromEntries([['x'.repeat(409_600), 'y']]) }))).toThrow(
      LimitExceededError,
    );
  });
});

describe('put() of a versioned entity', () => {
  it('holds only where no item has the key, for version 0 and for none', () => {
    for (const revision of [0, undefined]) {
      expect(carts.put({ id: 'a', revision }).toRequest()).toEqual({
        TableName: 'shop',
        Item: {
          pk: { S: 'CART#a' },
          sk: { S: 'CART' },
          _type: { S: 'CART' },
          id: { S: 'a' },
          lines: { L: [] },
          revision: { N: '1' },
        },
        ConditionExpression: 'attribute_not_exists(#0)',
        ExpressionAttributeNames: { '#0': 'pk' },
      });
    }
  });

  it('holds only where its version is the stored one, and stores the next', () => {
    const request = carts.put({ id: 'a', revision: 7 }).if(Cart.attrs.owner.eq('bob')).toRequest();
    expect(request).toMatchObject({
      Item: { revision: { N: '8' } },
      ConditionExpression: '(#0 = :0) AND (#1 = :1)',
      ExpressionAttributeNames: { '#0': 'owner', '#1': 'revision' },
      ExpressionAttributeValues: { ':0': { S: 'bob' }, ':1': { N: '7' } },
    });
  });

  it('stores the next version without the check after ignoreVersion()', () => {
    const request = carts.put({ id: 'a', revision: 7 }).ignoreVersion().toRequest();
    expect(request.Item).toMatchObject({ revision: { N: '8' } });
    expect(request.ConditionExpression).toBeUndefined();
  });

  it('refuses a version that is none', () => {
    for (const revision of [-1, 1.5, NaN, '1', null, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => carts.put({ id: 'a', revision } as never)).toThrow(InvalidInputError);
    }
    expect(() => carts.put({ id: 'a', revision: Number.MAX_SAFE_INTEGER }).toRequest()).toThrow(InvalidInputError);
  });

  it('refuses ifVersion(), which would contradict the item', () => {
    expect(() => (carts.put({ id: 'a' }) as unknown as { ifVersion(n: number): void }).ifVersion(1)).toThrow(
      InvalidInputError,
    );
  });
});
