// The samples and sentences of the document "Reading and writing" that no test of a command shows; see docs/seed-coverage.md.
import { describe, expect, test } from 'vitest';
import {
  ConditionalCheckFailedException,
  CommandUsedError,
  InvalidInputError,
  createTable,
  entity,
  integer,
  joinSteps,
  map,
  retryOnConflict,
  string,
  stringSet,
  table,
  transactWrite,
  version,
  type Table,
} from '../../lib/commands/index.js';
import { clientOf } from '../commands/support/handlers.js';
import { offlineClient, offlineTable } from '../commands/support/offline.js';
import { Order as IndexedOrder, order as indexedOrder, placedAt, shopOptions } from '../commands/support/shop.js';
import { fresh, testShop } from '../support/recipe-shop.js';
import { uniqueTableName } from '../support/dynamodb.js';

const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'PROFILE',
  attributes: {
    customer: string(),
    interests: stringSet(),
    orderCount: integer().default(0),
    shipTo: map({ street: string(), city: string() }).optional(),
  },
});
const Cart = entity('CART', {
  pk: 'CART#{id}',
  sk: 'CART',
  attributes: { id: string(), lines: stringSet(), revision: version() },
});

const db = testShop();

describe('UpdateItem', () => {
  test('changes a member and a set, leaves the rest, and gives the item back in one request', async () => {
    const customers = db.shop.of(Customer);
    const customer = fresh();
    await customers.put({
      customer,
      interests: new Set(['mice']),
      orderCount: 3,
      shipTo: { street: 'Gasse 1', city: 'Basel' },
    });
    db.operations();
    const moved = await customers
      .update({ customer })
      .set(Customer.attrs.shipTo.city, 'Bern')
      .add(Customer.attrs.interests, ['keyboards'])
      .ifExists()
      .returnNew()
      .send();
    expect(db.operations()).toEqual(['UpdateItem']);
    expect(moved.item).toEqual({
      customer,
      interests: new Set(['mice', 'keyboards']),
      orderCount: 3,
      shipTo: { street: 'Gasse 1', city: 'Bern' },
    });
  });

  test('with nothing but setIfDefined() of nothing changes nothing', async () => {
    const customers = db.shop.of(Customer);
    const customer = fresh();
    const shipTo = { street: 'Gasse 1', city: 'Basel' };
    await customers.put({ customer, interests: new Set(), shipTo });
    const update = await customers
      .update({ customer })
      .setIfDefined(Customer.attrs.shipTo, undefined)
      .ifExists()
      .returnNew();
    expect(update.item.shipTo).toEqual(shipTo);
  });
});

describe('What a call returns', () => {
  test('a failed condition of trySend() has neither version nor capacity, metrics and item', async () => {
    const carts = db.shop.of(Cart);
    const id = fresh();
    await carts.put({ id, lines: new Set() });
    const failed = await carts.put({ id, lines: new Set() }).returnOld().returnCapacity().trySend();
    expect(failed).toEqual({ conditionMet: false });
    const update = carts.update({ id }).ifVersion(7).returnNew().returnCapacity().returnItemCollectionMetrics();
    expect(await update.trySend()).toEqual({ conditionMet: false });
  });

  test('item collection metrics are those of a table with a local index, and undefined on another', async () => {
    const shop = table({
      name: uniqueTableName('metrics'),
      client: db.client,
      indexes: { local: { pk: 'pk', sk: 'localsk' } },
    });
    await createTable(shop).waitUntilActive().send();
    const item = { customer: fresh(), interests: new Set<string>() };
    const local = await shop.of(Customer).put(item).returnItemCollectionMetrics().send();
    expect(local.itemCollectionMetrics?.ItemCollectionKey).toEqual({ pk: { S: `CUSTOMER#${item.customer}` } });
    const none = await db.shop.of(Customer).put(item).returnItemCollectionMetrics().send();
    expect(none.itemCollectionMetrics).toBeUndefined();
  });
});

describe('Conditions', () => {
  /** The bodies of what is sent, and a table that answers each request with an error. */
  const recording = (): { shop: Table; bodies: string[] } => {
    const bodies: string[] = [];
    const client = clientOf(
      (request) => {
        bodies.push(new TextDecoder().decode((request as { body: Uint8Array }).body));
        return Promise.reject(new Error('no answer'));
      },
      { maxAttempts: 1 },
    );
    return { shop: table({ name: 'shop', client }), bodies };
  };

  test('trySend() sends what send() sends, and throws every other error as it does', async () => {
    const { shop, bodies } = recording();
    const update = () =>
      shop.of(Customer).update({ customer: 'a' }).set({ orderCount: 1 }).if(Customer.attrs.orderCount.eq(0));
    await expect(update().returnOldOnFailure().send()).rejects.toThrow('no answer');
    await expect(update().returnOldOnFailure().trySend()).rejects.toThrow('no answer');
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toBe(bodies[0]);
  });

  test('returnOld() and returnNew() give nothing for a failed condition, only returnOldOnFailure() does', async () => {
    const customers = db.shop.of(Customer);
    const item = { customer: fresh(), interests: new Set<string>(), orderCount: 2 };
    await customers.put(item);
    const update = () => customers.update(item).add(Customer.attrs.orderCount, 1).if(Customer.attrs.orderCount.gt(9));
    expect(await update().returnOld().trySend()).toEqual({ conditionMet: false });
    expect(await update().returnNew().trySend()).toEqual({ conditionMet: false });
    expect(await update().returnNew().returnOldOnFailure().trySend()).toEqual({ conditionMet: false, item });
    const thrown = (await update()
      .returnOldOnFailure()
      .send()
      .catch((error: unknown) => error)) as ConditionalCheckFailedException;
    expect(thrown.itemAs(Customer)).toEqual(item);
  });

  test('a wrapper around a write learns which item it was from the key of the error', async () => {
    const customer = fresh();
    const seen: string[] = [];
    const save = async (write: () => Promise<unknown>): Promise<void> => {
      try {
        await write();
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        seen.push(Customer.pk.parse(error.key['pk']?.S as string).customer);
      }
    };
    await save(() => db.shop.of(Customer).delete({ customer }).ifExists().send());
    expect(seen).toEqual([customer]);
  });
});

describe('Retry on a conflict', () => {
  test('a run may write other entities, and send a transaction', async () => {
    const [carts, customers] = [db.shop.of(Cart), db.shop.of(Customer)];
    const [id, customer] = [fresh(), fresh()];
    await carts.put({ id, lines: new Set() });
    let runs = 0;
    await retryOnConflict(async ({ run }) => {
      runs = run;
      const cart = await carts.get({ id }).consistent().item();
      // Another writer comes between the first run's read and its write.
      if (run === 1) await carts.update({ id }).add(Cart.attrs.lines, ['other']).ignoreVersion();
      await transactWrite(db.shop, {
        cart: carts.put({ ...cart!, lines: new Set([...cart!.lines, 'mine']) }),
        count: customers.update({ customer }).add(Customer.attrs.orderCount, 1),
      }).send();
    });
    expect(runs).toBe(2);
    expect((await carts.get({ id }).item())?.lines).toEqual(new Set(['other', 'mine']));
    expect((await customers.get({ customer }).item())?.orderCount).toBe(1);
  });
});

describe('See what goes over the wire', () => {
  test('a createTable() that was rendered can still be sent', async () => {
    const create = createTable(table({ name: uniqueTableName('rendered'), client: db.client })).ifNotExists();
    expect(JSON.parse(create.toRequestJson())).toMatchObject({ BillingMode: 'PAY_PER_REQUEST' });
    expect((await create.send()).created).toBe(true);
    expect((await create.send()).created).toBe(false);
  });
});

describe('Helpers that return a command', () => {
  const shop = offlineTable(shopOptions);
  const orders = shop.of(IndexedOrder);
  const key = { customer: 'alice', number: 1 };
  const { status, total } = IndexedOrder.attrs;

  test('hide nothing from the checks of the whole chain: those are made when it is sent', () => {
    const withTotal = () => orders.update(key).set(total, 1);
    expect(() => withTotal().add(total, 2).toRequest()).toThrow(InvalidInputError);
    const paid = () => orders.update(key).set(status, 'PAID');
    expect(() => paid().toRequest()).toThrow(InvalidInputError);
    expect(paid().set({ placedAt }).toRequest().UpdateExpression).toContain('SET');
    const ofAlice = () => orders.query({ customer: 'alice' });
    expect(() => ofAlice().filter(IndexedOrder.attrs.customer.eq('bob')).toRequest()).toThrow(InvalidInputError);
  });

  test('that use the command they return leave nothing to send', async () => {
    const used = () => {
      const command = orders.update(key).set(total, 1);
      command.toRequest();
      return command;
    };
    await expect(used().send()).rejects.toThrow(CommandUsedError);
  });

  test('and are async have it sent: a command is awaitable', async () => {
    const client = offlineClient();
    const far = table({ name: 'shop', client, ...shopOptions }).of(IndexedOrder);
    const helper = async () => far.update(key).set(total, 1); // the mistake
    await expect(helper()).rejects.toThrow('a request was sent');
    expect(client.sent).toBe(1);
  });

  test('and return it inside of a try leave the failure to their caller', async () => {
    const caught: unknown[] = [];
    const helper = async (): Promise<unknown> => {
      try {
        return orders.put(indexedOrder());
      } catch (error) {
        caught.push(error);
        return undefined;
      }
    };
    await expect(helper()).rejects.toThrow('a request was sent');
    expect(caught).toEqual([]);
  });

  test('and yield it from an async generator have it sent', async () => {
    const client = offlineClient();
    const far = table({ name: 'shop', client, ...shopOptions }).of(IndexedOrder);
    const helper = async function* () {
      yield far.put(indexedOrder());
    };
    await expect(helper().next()).rejects.toThrow('a request was sent');
    expect(client.sent).toBe(1);
  });

  test('may return steps of a transaction', async () => {
    const customer = fresh();
    const counted = (id: string) => ({
      count: db.shop.of(Customer).update({ customer: id }).add(Customer.attrs.orderCount, 1),
    });
    const cart = { cart: db.shop.of(Cart).put({ id: customer, lines: new Set<string>() }) };
    expect(await transactWrite(db.shop, joinSteps(counted(customer), cart)).send()).toEqual({ committed: true });
    expect((await db.shop.of(Customer).get({ customer }).item())?.orderCount).toBe(1);
  });
});
