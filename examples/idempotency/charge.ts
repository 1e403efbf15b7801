import { entity, integer, string, type Table } from '../../lib/commands/index.js';
import { commit } from '../../lib/recipes/idempotency/effect.js';
import { fingerprintOf } from '../../lib/recipes/idempotency/fingerprint.js';
import { idempotentTransaction, type IdempotentOutcome } from '../../lib/recipes/idempotency/idempotent-transaction.js';

/** What a customer can still spend, in cents. */
export const Credit = entity('CREDIT', {
  pk: 'CUSTOMER#{customer}',
  sk: 'CREDIT',
  attributes: { customer: string(), cents: integer() },
});

/** A charge has a key of its own: all in one partition would share its limit. */
export const Charge = entity('CHARGE', {
  pk: 'CHARGE#{id}',
  sk: 'CHARGE',
  attributes: { id: string(), customer: string(), cents: integer() },
});

export interface ChargeRequest {
  /** Chosen by the client, and the same in each of its retries. */
  readonly idempotencyKey: string;
  readonly customer: string;
  readonly chargeId: string;
  readonly cents: number;
}

/**
 * Charges a customer once per key, from any handler: of an HTTP request, a message or a job. The credit, the charge and
 * the answer are written together or not at all; a repeat gets the first answer, a refusal too.
 */
export const charge = (shop: Table, request: ChargeRequest): Promise<IdempotentOutcome> => {
  const { idempotencyKey, customer, chargeId, cents } = request;
  return idempotentTransaction(shop, {
    scope: customer,
    route: 'charge',
    key: idempotencyKey,
    fingerprint: fingerprintOf(1, [chargeId, String(cents)]),
    horizonSeconds: 86_400,
    // Payday: many charges of one customer at once are in each other's way.
    maxAttempts: 20,
    run: () =>
      commit(
        {
          credit: shop.of(Credit).update({ customer }).add(Credit.attrs.cents, -cents).if(Credit.attrs.cents.ge(cents)),
          charge: shop.of(Charge).unique({ id: chargeId, customer, cents }),
        },
        { status: 201, body: JSON.stringify({ charge: chargeId }) },
        ({ credit, charge }) =>
          charge ? { status: 409, body: 'charged before' } : credit && { status: 402, body: 'not enough credit' },
      ),
  });
};
