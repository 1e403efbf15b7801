import { bodyPath, fromInvocation } from '../../lib/messaging/index.js';

/** The messages of the shop, by type. Those with a slash are commands to one receiver. */
export interface Details {
  'order.placed': { readonly orderId: string; readonly total: number };
  'order.shipped': { readonly orderId: string };
  'order.timed-out': { readonly orderId: string };
  'payment.charged': { readonly orderId: string };
  'parcel.shipped': { readonly orderId: string };
  'timeout.reached': { readonly orderId: string };
  'clock/remind': { readonly orderId: string };
  'payments/refund': { readonly orderId: string };
  'shipping/ship': { readonly orderId: string };
}

/** A message as it travels: what an outbox holds of an event. */
export type Envelope = {
  readonly [T in keyof Details]: { readonly id: string; readonly type: T; readonly detail: Details[T] };
}[keyof Details];

/** The event's own id recognises it: the relay, the queue and a redrive leave it as it is. */
export const envelopes = fromInvocation<Envelope>({ id: bodyPath('id') });
