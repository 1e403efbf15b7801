/** A payment provider, as its client shows it. */
export interface Payments {
  /** Charges an amount; a second request with the same key charges nothing and is answered as the first. */
  charge(amount: number, options: { readonly idempotencyKey: string; readonly signal: AbortSignal }): Promise<string>;
}

/** A partner that takes no keys: every request books a courier. */
export interface Couriers {
  book(order: string, options: { readonly reference: string; readonly signal: AbortSignal }): Promise<string>;
}

/** How long the payment provider knows its keys. */
export const paymentKeySeconds = 24 * 60 * 60;
