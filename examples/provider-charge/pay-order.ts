import { entity, integer, string, type Table } from '../../lib/commands/index.js';
import { commit } from '../../lib/recipes/idempotency/effect.js';
import { fingerprintOf } from '../../lib/recipes/idempotency/fingerprint.js';
import { idempotentLease, type LeaseOutcome } from '../../lib/recipes/idempotency/idempotent-lease.js';
import { outbox } from '../../lib/recipes/outbox/outbox.js';
import { paymentKeySeconds, type Couriers, type Payments } from './payments.js';

export const PaidOrder = entity('PAID_ORDER', {
  pk: 'ORDER#{id}',
  sk: 'PAYMENT',
  attributes: { id: string(), amount: integer(), charge: string(), parcel: string() },
});

/** A request to pay, with the key that its client chose. */
export interface PayRequest {
  readonly key: string;
  readonly customer: string;
  readonly order: string;
  readonly amount: number;
}

/** What identifies the call of a request, also for a decision about it. */
export const callOf = ({ key, customer }: Pick<PayRequest, 'key' | 'customer'>) => ({
  scope: customer,
  route: 'pay order',
  key,
});

/**
 * Charges an order and books its courier, once per key, and stores both with the answer and an event. A crash after the
 * charge goes on with the courier; one around the courier, who takes no key, is `unknown` until somebody has asked.
 */
export const payOrder = (
  shop: Table,
  payments: Payments,
  couriers: Couriers,
  request: PayRequest,
  clock: () => number = Date.now,
): Promise<LeaseOutcome> => {
  const { order, amount } = request;
  return idempotentLease(shop, {
    ...callOf(request),
    fingerprint: fingerprintOf(1, [order, String(amount)]),
    horizonSeconds: 7 * 86_400,
    leaseSeconds: 60,
    now: clock,
    async run(lease) {
      const charge = await lease.effect(
        'charge',
        { keySeconds: paymentKeySeconds },
        ({ providerKey: idempotencyKey, signal }) => payments.charge(amount, { idempotencyKey, signal }),
      );
      const parcel = await lease.effect('courier', { keySeconds: 0 }, ({ providerKey: reference, signal }) =>
        couriers.book(order, { reference, signal }),
      );
      const steps = {
        order: shop.of(PaidOrder).put({ id: order, amount, charge, parcel }),
        event: outbox(shop, { source: 'shop.orders' }).publish({
          events: [{ type: 'order.paid', detail: { order, amount } }],
        }),
      };
      return commit(steps, { status: 201, body: JSON.stringify({ charge, parcel }) });
    },
  });
};
