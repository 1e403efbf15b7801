// Valibot: each check is an export of its own, so the bundle holds the seven that are used here, 5 KB, where a library
// of classes brings all it can do.
import * as v from 'valibot';
import { currencies } from './currencies.js';

// Texts of our own: valibot's quote what was received.
const object = 'expected an object with customerId, amount and currency, and nothing else';
const customer = 'expected 1 to 128 characters, without # and control characters';
const amount = 'expected a whole number of minor units, from 1 to 2^53 - 1';

/** The body of a charge. The customer stands in keys, so it holds no separator. */
export const ChargeRequest = v.strictObject(
  {
    customerId: v.pipe(v.string(customer), v.regex(/^[^#\p{Cc}\p{Cs}\u{10ffff}]{1,128}$/u, customer)),
    amount: v.pipe(v.number(amount), v.safeInteger(amount), v.minValue(1, amount)),
    currency: v.picklist(currencies, 'expected a currency code of ISO 4217, such as CHF'),
  },
  object,
);
