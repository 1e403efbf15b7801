import { DynamoDBClient, CreateTableCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table, type Table } from '../../lib/commands/index.js';
import { createLocalDynamoDB, type LocalDynamoDB } from '../../lib/local/index.js';
import { TestSession } from '../../lib/messaging/index.js';
import { LocalBus } from './bus.js';
import type { Envelope } from './messages.js';
import { OrderSaga, handleOrder } from './order-saga.js';
import { Parcel, Refund } from './workers.js';

const orderId = 'o-1';
const placed: Envelope = { id: 'e-1', type: 'order.placed', detail: { orderId, total: 100 } };
const charged: Envelope = { id: 'e-2', type: 'payment.charged', detail: { orderId } };

/** Numbers from 0 to below 1, the same for a seed. */
const randomFrom = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0;
  return (seed >>> 8) / 2 ** 24;
};

describe('the order saga, without a table', () => {
  it('reminds the clock of an order that is placed', async () => {
    const session = new TestSession();
    await session.handle(handleOrder, placed);
    expect(session.events.map(({ type }) => type)).toEqual(['clock/remind']);
    expect(session.sagas).toMatchObject([{ started: true, completed: false, state: { placed: true, total: 100 } }]);
  });

  it('ships an order of which it first heard by its payment', async () => {
    const session = new TestSession().given(OrderSaga, orderId, { charged: true });
    await session.handle(handleOrder, placed);
    expect(session.events.map(({ type }) => type)).toEqual(['clock/remind', 'shipping/ship']);
  });

  it('gives back the money that comes for an order after its time-out', async () => {
    const session = new TestSession().given(OrderSaga, orderId, { timedOut: true }, { completed: true });
    await session.handle(handleOrder, charged);
    expect(session.events.map(({ type }) => type)).toEqual(['payments/refund']);
  });
});

describe('the order saga, on the embedded table', () => {
  let local: LocalDynamoDB;
  let shop: Table;
  beforeAll(async () => {
    local = await createLocalDynamoDB();
    const client = new DynamoDBClient({ ...local.clientConfig });
    await client.send(
      new CreateTableCommand({
        TableName: 'shop',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    );
    shop = table({ name: 'shop', client });
  });
  afterAll(() => local.close());

  it('ships or times out, in any order of its messages, each of them any number of times', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, pays) => {
        const bus = new LocalBus(shop, randomFrom(seed));
        const orders = ['a', 'b'].map((order) => `${++run}${order}`);
        for (const orderId of orders) {
          bus.publish({ id: `placed:${orderId}`, type: 'order.placed', detail: { orderId, total: 100 } });
          if (pays) bus.publish({ id: `charged:${orderId}`, type: 'payment.charged', detail: { orderId } });
        }
        await bus.run();
        for (const orderId of orders) {
          const saga = await shop.of(OrderSaga).get({ correlation: orderId }).consistent().item();
          const parcel = await shop.of(Parcel).get({ orderId }).consistent().item();
          const refund = await shop.of(Refund).get({ orderId }).consistent().item();
          const ended = { timedOut: saga?.timedOut, parcel: parcel !== undefined, refund: refund !== undefined };
          expect(saga?.completedAt).toBeInstanceOf(Date);
          // Shipped; or given up, and the money back.
          expect([
            { timedOut: false, parcel: true, refund: false },
            { timedOut: true, parcel: false, refund: pays },
          ]).toContainEqual(ended);
        }
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
