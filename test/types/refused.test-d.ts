/* eslint-disable @typescript-eslint/unbound-method -- only the types of methods are looked at */
import { describe, test } from 'vitest';
import {
  conditionCheck,
  entity,
  instant,
  integer,
  joinSteps,
  list,
  map,
  oneOf,
  string,
  stringSet,
  timestamp,
  transactWrite,
  version,
  type Batchable,
  type Condition,
  type Step,
  type Table,
} from '../../lib/commands/index.js';

const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:10}',
  attributes: {
    customer: string(),
    number: integer(),
    status: oneOf('OPEN', 'PAID'),
    total: integer(),
    note: string().optional(),
    placedAt: instant(),
    seenAt: timestamp().optional(),
    tags: stringSet().optional(),
    lines: list(map({ sku: string(), quantity: integer() })),
    shipTo: map({ city: string(), size: integer() }).optional(),
  },
  indexes: { byStatus: { pk: 'STATUS#{status}', sk: '{placedAt}' } },
});
const Cart = entity('CART', {
  pk: 'CART#{id}',
  sk: 'CART',
  attributes: { id: string(), owner: string().optional(), revision: version() },
});

declare const shop: Table;
const orders = shop.of(Order);
const carts = shop.of(Cart);
const key = { customer: 'alice', number: 1 };
const { attrs } = Order;

describe('a write of a versioned entity without its decision (DYNA206, DYNA239)', () => {
  test('has no send', () => {
    const update = carts.update({ id: 'a' }).set({ owner: 'x' });
    // @ts-expect-error -- an update says ifVersion(n) or ignoreVersion() first
    void update.send;
    // @ts-expect-error -- the same for trySend
    void update.trySend;
    // @ts-expect-error -- and for rendering
    void update.toRequest;
    const remove = carts.delete({ id: 'a' }).ifExists();
    // @ts-expect-error -- a delete by key says ifVersion(n) or ignoreVersion() first
    void remove.send;
    // @ts-expect-error -- the same for trySend
    void remove.trySend;
    void update.ifVersion(1).send;
    void update.ignoreVersion().send;
    void remove.ifVersion(1).send;
    void remove.ignoreVersion().send;
    void carts.deleteItem({ id: 'a', revision: 1 }).send;
    void carts.put({ id: 'a' }).send;
  });

  test('is no promise, and no step', () => {
    // @ts-expect-error -- what cannot be sent cannot be awaited
    void carts.update({ id: 'a' }).then;
    // @ts-expect-error -- nor stand in a transaction
    void transactWrite(shop, { step: carts.update({ id: 'a' }) });
    // @ts-expect-error -- nor a delete
    void transactWrite(shop, { step: carts.delete({ id: 'a' }) });
    void transactWrite(shop, { step: carts.update({ id: 'a' }).ignoreVersion() });
    void transactWrite(shop, { check: conditionCheck(carts, { id: 'a' }).ifVersion(1) });
  });

  test('keeps asking after any clause', () => {
    const clauses = carts
      .update({ id: 'a' })
      .set(Cart.attrs.owner, 'x')
      .setIfDefined(Cart.attrs.owner, undefined)
      .remove(Cart.attrs.owner)
      .if(Cart.attrs.owner.exists())
      .ifExists()
      .storeKeyInputs()
      .maxAttempts(1)
      .returnOld()
      .returnOldOnFailure()
      .returnCapacity();
    // @ts-expect-error -- no clause stands for the decision
    void clauses.send;
    void clauses.ignoreVersion().send;
  });

  test('is not asked of an entity without version', () => {
    void orders.update(key).send;
    void orders.delete(key).send;
    // @ts-expect-error -- which has none to check
    void orders.update(key).ifVersion;
    // @ts-expect-error -- nor to ignore
    void orders.delete(key).ignoreVersion;
  });
});

describe('a put or delete in a batch (DYNA236)', () => {
  const batchable = (command: Batchable): void => void command;
  test('has no condition, and its version dealt with', () => {
    batchable(orders.put({} as never));
    batchable(orders.delete(key));
    batchable(carts.put({ id: 'a' }).ignoreVersion());
    batchable(carts.delete({ id: 'a' }).ignoreVersion());
    // @ts-expect-error -- a batch checks no version
    batchable(carts.put({ id: 'a' }));
    // @ts-expect-error -- nor one that is said
    batchable(carts.delete({ id: 'a' }).ifVersion(1));
    // @ts-expect-error -- nor that of an item that was read
    batchable(carts.deleteItem({ id: 'a', revision: 1 }));
    // @ts-expect-error -- a batch has no conditions
    batchable(orders.put({} as never).ifNotExists());
    // @ts-expect-error -- of any kind
    batchable(orders.delete(key).if(attrs.total.gt(1)));
    // @ts-expect-error -- a unique put is one
    batchable(orders.unique({} as never));
    // @ts-expect-error -- a batch has no updates
    batchable(orders.update(key));
  });
});

describe('a handle of another entity (DYNA215)', () => {
  test('is no attribute of this one', () => {
    // @ts-expect-error -- set
    void orders.update(key).set(Cart.attrs.owner, 'x');
    // @ts-expect-error -- a condition
    void orders.update(key).if(Cart.attrs.owner.eq('x'));
    // @ts-expect-error -- one inside another
    void orders.update(key).if(attrs.total.gt(1).and(Cart.attrs.owner.eq('x')));
    // @ts-expect-error -- remove
    void orders.update(key).remove(Cart.attrs.owner);
    // @ts-expect-error -- return
    void orders.update(key).return(Cart.attrs.owner);
    // @ts-expect-error -- select
    void orders.get(key).select(Cart.attrs.owner);
    // @ts-expect-error -- a filter
    void orders.query({ customer: 'a' }).filter(Cart.attrs.owner.exists());
    // @ts-expect-error -- text
    void orders.update(key).if(Cart.text`${Cart.attrs.owner} = ${Cart.attrs.owner.value('x')}`);
    // @ts-expect-error -- in text
    void Order.text`${Cart.attrs.owner} = ${attrs.note.value('x')}`;
    // @ts-expect-error -- put, delete and check
    void orders.put({} as never).if(Cart.attrs.owner.exists());
    // @ts-expect-error -- put, delete and check
    void orders.delete(key).if(Cart.attrs.owner.exists());
    // @ts-expect-error -- put, delete and check
    conditionCheck(orders, key).if(Cart.attrs.owner.exists());
  });
});

describe('a write of an input of the primary key (DYNA205)', () => {
  test('is refused in every clause', () => {
    // @ts-expect-error -- set
    void orders.update(key).set(attrs.customer, 'bob');
    // @ts-expect-error -- set of members
    void orders.update(key).set({ customer: 'bob' });
    // @ts-expect-error -- a number
    void orders.update(key).set({ total: 1, number: 2 });
    // @ts-expect-error -- remove
    void orders.update(key).remove(attrs.number);
    // @ts-expect-error -- add
    void orders.update(key).add(attrs.number, 1);
    // @ts-expect-error -- setIfNotExists
    void orders.update(key).setIfNotExists(attrs.customer, 'bob');
    // A condition on it is fine.
    void orders.update(key).if(attrs.customer.eq('alice'));
  });
});

describe('values', () => {
  test('are of the type of their attribute', () => {
    // @ts-expect-error -- text for a number
    void orders.update(key).set(attrs.total, '1');
    // @ts-expect-error -- text for a time
    void orders.update(key).set({ placedAt: '2026-12-01' });
    // @ts-expect-error -- a value outside of the union
    void orders.update(key).set(attrs.status, 'SHIPPED');
    // @ts-expect-error -- text that toTimestamp() did not make
    void orders.update(key).set(attrs.seenAt, '2026-12-01T00:00:00Z');
    // @ts-expect-error -- a name that is no attribute
    void orders.update(key).set({ nothing: 1 });
    // @ts-expect-error -- null
    void orders.update(key).set(attrs.note, null);
    // @ts-expect-error -- a comparison
    attrs.total.gt('5');
    // @ts-expect-error -- one of several
    attrs.status.in('OPEN', 'SHIPPED');
    // @ts-expect-error -- a Date against a timestamp
    attrs.seenAt.lt(new Date());
    // @ts-expect-error -- an element of a set
    attrs.tags.contains(5);
    // @ts-expect-error -- a member of an element
    attrs.lines.at(0).quantity.eq('1');
    // @ts-expect-error -- a member that is none
    void attrs.lines.at(0).nothing;
    // @ts-expect-error -- a number has no prefix
    void attrs.total.beginsWith;
    // @ts-expect-error -- a time neither
    void attrs.placedAt.beginsWith;
    // @ts-expect-error -- a number is no list
    void attrs.total.at;
  });

  test('of add, deleteFrom and append are those of their kinds', () => {
    void orders
      .update(key)
      .add(attrs.total, 1)
      .add(attrs.tags, ['a'])
      .deleteFrom(attrs.tags, new Set(['a']));
    // @ts-expect-error -- add to text
    void orders.update(key).add(attrs.note, 'x');
    // @ts-expect-error -- add text to a number
    void orders.update(key).add(attrs.total, 'x');
    // @ts-expect-error -- add numbers to a set of text
    void orders.update(key).add(attrs.tags, [5]);
    // @ts-expect-error -- take elements out of a number
    void orders.update(key).deleteFrom(attrs.total, [1]);
    // @ts-expect-error -- append to a set
    void orders.update(key).append(attrs.tags, ['x']);
    // @ts-expect-error -- append an element that is none of the list's
    void orders.update(key).append(attrs.lines, [{ sku: 'x' }]);
    // @ts-expect-error -- add to a version, which the library moves
    void carts.update({ id: 'a' }).add(Cart.attrs.revision, 1);
  });

  test('of a put are all that is required', () => {
    const whole = { ...key, status: 'OPEN', total: 1, placedAt: new Date(), lines: [] } as const;
    void orders.put(whole);
    // @ts-expect-error -- an attribute is missing
    void orders.put({ ...key, status: 'OPEN', placedAt: new Date(), lines: [] });
    // @ts-expect-error -- an attribute is not declared
    void orders.put({ ...whole, unknown: 1 });
    // @ts-expect-error -- an attribute is of another type
    void orders.put({ ...whole, total: '1' });
  });

  test('of a key are all of its inputs', () => {
    // @ts-expect-error -- one is missing
    void orders.get({ customer: 'a' });
    // @ts-expect-error -- one is of another type
    void orders.update({ customer: 'a', number: '1' });
    // @ts-expect-error -- one is none
    void orders.delete({ customer: 'a', number: 1, other: 1 });
    // @ts-expect-error -- a query needs those of the partition key
    void orders.query({ number: 1 });
    // @ts-expect-error -- an index needs its own
    void orders.index('byStatus').query({ customer: 'a' });
    // @ts-expect-error -- and is one of the entity's
    void orders.index('byTotal');
    void orders.index('byStatus').query({ status: 'OPEN' }).lt({ placedAt: new Date() });
  });
});

describe('a member with the name of a method', () => {
  test('is reached by at(), and by nothing else', () => {
    void orders.update(key).set(attrs.shipTo.at('size'), 5);
    // @ts-expect-error -- size is the method
    void orders.update(key).set(attrs.shipTo.size, 5);
    void attrs.shipTo.size().gt(1);
  });
});

describe('a template', () => {
  test('names attributes only', () => {
    // @ts-expect-error -- {other} is none
    entity('X', { pk: 'X#{other}', sk: 'S', attributes: { id: string() } });
    // @ts-expect-error -- in the sort key neither
    entity('X', { pk: 'X', sk: '{other:5}', attributes: { id: string() } });
  });
});

describe('a read', () => {
  test('has no default terminal', () => {
    // @ts-expect-error -- a get is no promise
    void orders.get(key).then;
    // @ts-expect-error -- a query neither
    void orders.query({ customer: 'a' }).then;
  });

  test('has only what it projects (DYNA208)', async () => {
    const item = await orders.get(key).project('total', 'note').item();
    void item?.total;
    // @ts-expect-error -- was not read
    void item?.status;
    // @ts-expect-error -- so it is no item of the entity
    void orders.put(item!);
    // @ts-expect-error -- a name that is none
    void orders.get(key).project('nothing');
    // @ts-expect-error -- no name
    void orders.get(key).project();
    const [entry] = await orders.query({ customer: 'a' }).project('total').all();
    // @ts-expect-error -- was not read
    void entry?.status;
  });

  test('gives a selected value only once found was looked at (DYNA227)', async () => {
    const total = await orders.get(key).select(attrs.total).send();
    // @ts-expect-error -- there may be none
    void total.value;
    if (total.found) void total.value.toFixed();
    void total.valueOr(0).toFixed();
  });
});

describe('a transaction', () => {
  test('has the steps that it was given, by their names', async () => {
    const outcome = await transactWrite(shop, {
      claim: orders.unique({} as never),
      cart: carts.put({ id: 'a' }).returnOldOnFailure(),
    }).trySend();
    // @ts-expect-error -- there is no failure of a commit
    void outcome.failed;
    if (outcome.committed) return;
    void outcome.failed.claim?.reason;
    void outcome.failed.cart?.item?.owner;
    // @ts-expect-error -- no step has this name
    void outcome.failed.email;
    // @ts-expect-error -- the step asked for no item
    void outcome.failed.claim?.item;
  });

  test('takes writes and checks, and no reads', () => {
    // @ts-expect-error -- a get is no step
    void transactWrite(shop, { get: orders.get(key) });
    // @ts-expect-error -- a query neither
    void transactWrite(shop, { query: orders.query({ customer: 'a' }) });
    // @ts-expect-error -- a promise neither
    void transactWrite(shop, { put: orders.put({} as never).send() });
    // @ts-expect-error -- return() has its own result, which a transaction can not give
    void transactWrite(shop, { add: orders.update(key).add(attrs.total, 1).return(attrs.total) });
    // @ts-expect-error -- a check alone can not be sent
    void conditionCheck(orders, key).send;
  });

  test('joins helpers of steps', () => {
    const joined = joinSteps({ a: orders.delete(key) }, { b: carts.put({ id: 'a' }).returnOldOnFailure() });
    void transactWrite(shop, joined);
    // @ts-expect-error -- a name that none of them has
    void joined.c;
  });
});

describe('return()', () => {
  test('has no trySend(), which could not tell its value from a failure', () => {
    // @ts-expect-error -- trySend is on Put, Update and Delete only
    void orders.update(key).add(attrs.total, 1).return(attrs.total).trySend;
  });
});

describe('a helper', () => {
  test('that is generic over the entity can not send a versioned write', () => {
    const anyCondition: Condition<'ORDER'> = attrs.total.gt(1);
    void orders.update(key).if(anyCondition);
    const step: Step<unknown> = orders.update(key);
    void step;
    // @ts-expect-error -- a condition of one entity is none of another
    const other: Condition<'CART'> = anyCondition;
    void other;
  });
});
