import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyPath, fromInvocation, messageHandler } from '../../lib/messaging/index.js';
import { OutboxItem } from '../../lib/recipes/index.js';
import { embedded } from '../support/dynamodb.js';
import { messagingShop, type MessagingShop } from './support/messaging-shop.js';
import { Process } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

/** An event of less than 200 bytes as it is stored. */
const event = { type: 'order.moved', source: 'shop', detail: { text: 'x'.repeat(72) } };

const handlerOf = (consumer: string, events: number, aggregates: number, saga: boolean, readFirst = false) =>
  messageHandler<{ id: string }, { id: string }>({
    table: here.shop,
    consumer,
    from: fromInvocation({ id: bodyPath('id') }),
    readFirst,
    handle: async (_message, session) => {
      if (saga) await session.saga(Process, consumer);
      for (let i = 0; i < events; i++)
        session.publish(event, { aggregate: `${consumer}${i % aggregates}`, sequence: 1 });
    },
  });

/** The numbers of the table in docs/messaging.md; only the embedded table counts units. */
describe.runIf(embedded)('a message costs', () => {
  it.each([
    [0, 1, false, { requests: 1, writeUnits: 2, readUnits: 0 }],
    [1, 1, false, { requests: 1, writeUnits: 4, readUnits: 0 }],
    [10, 1, false, { requests: 1, writeUnits: 6, readUnits: 0 }],
    [10, 10, false, { requests: 1, writeUnits: 22, readUnits: 0 }],
    [0, 1, true, { requests: 2, writeUnits: 4, readUnits: 1 }],
    [1, 1, true, { requests: 2, writeUnits: 6, readUnits: 1 }],
  ])('with %i events of %i aggregates, and a saga: %s', async (events, aggregates, saga, expected) => {
    const consumer = `cost${++names}x`;
    const handler = handlerOf(consumer, events, aggregates, saga);
    const cost = await here.costOf(() => handler({ id: 'm1' }));
    const { writeUnits, readUnits, operations } = cost;
    expect({ requests: operations.length, writeUnits, readUnits }).toEqual(expected);
    // A duplicate costs the same, since a cancelled transaction is billed.
    const again = await here.costOf(() => handler({ id: 'm1' }));
    expect([again.operations.length, again.writeUnits]).toEqual([expected.requests, expected.writeUnits]);
  });

  it('one request and one read unit as a duplicate, with readFirst', async () => {
    const consumer = `cost${++names}x`;
    const handler = handlerOf(consumer, 1, 1, false, true);
    await handler({ id: 'm1' });
    const { operations, readUnits, writeUnits } = await here.costOf(() => handler({ id: 'm1' }));
    expect([operations.length, readUnits, writeUnits]).toEqual([1, 1, 0]);
  });

  it('a write unit per KB of an aggregate’s events to remove them from the outbox', async () => {
    const consumer = `cost${++names}x`;
    await handlerOf(consumer, 10, 1, false)({ id: 'm1' });
    const { outbox } = await here.stored(consumer);
    const shard = Number(outbox[0]?.['shard']?.N);
    const key = { shard, aggregate: `${consumer}0`, sequence: 1 };
    const cost = await here.costOf(() => here.shop.of(OutboxItem).delete(key).send());
    expect(cost.writeUnits).toBe(2);
  });
});
