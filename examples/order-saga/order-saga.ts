import { boolean, integer, type Table } from '../../lib/commands/index.js';
import { messageHandler, sagaEntity, type Message, type Session } from '../../lib/messaging/index.js';
import { envelopes, type Envelope } from './messages.js';

/** An order from its placing or its payment, whichever is heard of first, to its shipment or its time-out. */
export const OrderSaga = sagaEntity('ORDER_SAGA', {
  total: integer().optional(),
  placed: boolean().default(false),
  charged: boolean().default(false),
  timedOut: boolean().default(false),
});

/**
 * What an order does with a message. Messages come twice and out of order: every branch looks at the state, not at what
 * should have come before.
 */
export const handleOrder = async ({ body }: Message<Envelope>, session: Session): Promise<void> => {
  const { type, detail } = body;
  const { orderId } = detail;
  const saga = await session.saga(OrderSaga, orderId);
  const { state } = saga;
  if (saga.completed) {
    // The customer paid for an order that was given up: the money goes back. Anything else comes too late to matter.
    if (type === 'payment.charged' && state.timedOut)
      session.send({ to: 'payments', type: 'refund', detail: { orderId } });
    return;
  }
  const order = { aggregate: `order:${orderId}`, sequence: saga.revision };
  const ship = (): void => session.send({ to: 'shipping', type: 'ship', detail: { orderId } });
  switch (type) {
    case 'order.placed':
      state.placed = true;
      state.total = detail.total;
      session.send({ to: 'clock', type: 'remind', detail: { orderId } });
      if (state.charged) ship();
      break;
    case 'payment.charged':
      state.charged = true;
      if (state.placed) ship();
      break;
    case 'timeout.reached':
      if (state.charged) break;
      state.timedOut = true;
      session.publish({ type: 'order.timed-out', detail: { orderId } }, order);
      saga.complete();
      break;
    case 'parcel.shipped':
      session.publish({ type: 'order.shipped', detail: { orderId } }, order);
      saga.complete();
      break;
  }
};

/** The orders' handler. */
export const orderHandler = (shop: Table) =>
  messageHandler({ table: shop, consumer: 'orders', from: envelopes, handle: handleOrder });
