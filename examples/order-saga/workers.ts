import { entity, string, type Table } from '../../lib/commands/index.js';
import { messageHandler } from '../../lib/messaging/index.js';
import { envelopes } from './messages.js';

export const Parcel = entity('PARCEL', { pk: 'PARCEL#{orderId}', sk: 'PARCEL', attributes: { orderId: string() } });
export const Refund = entity('REFUND', { pk: 'REFUND#{orderId}', sk: 'REFUND', attributes: { orderId: string() } });

/** Packs a parcel for every order that is to be shipped: its record and the event leave together. */
export const shippingHandler = (shop: Table) =>
  messageHandler({
    table: shop,
    consumer: 'shipping',
    from: envelopes,
    handle: ({ body: { detail } }, session) => {
      const { orderId } = detail;
      session.add(shop.of(Parcel).unique({ orderId }));
      session.publish({ type: 'parcel.shipped', detail: { orderId } });
    },
  });

/** Gives money back, once an order. */
export const paymentsHandler = (shop: Table) =>
  messageHandler({
    table: shop,
    consumer: 'payments',
    from: envelopes,
    handle: ({ body: { detail } }, session) => session.add(shop.of(Refund).unique({ orderId: detail.orderId })),
  });

/** Reminds of an order: a real one waits, by EventBridge Scheduler or a delayed message. */
export const clockHandler = (shop: Table) =>
  messageHandler({
    table: shop,
    consumer: 'clock',
    from: envelopes,
    handle: ({ body: { detail } }, session) => {
      const { orderId } = detail;
      session.publish({ type: 'timeout.reached', detail: { orderId }, id: `timeout:${orderId}` });
    },
  });
