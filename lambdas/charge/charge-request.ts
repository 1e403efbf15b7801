import { integer, string } from '../../lib/commands/index.js';
import { bodySchema } from '../../lib/http/index.js';
import { currencies } from './currencies.js';

/** The body of a charge. The customer stands in keys, so it holds no separator. */
export const ChargeRequest = bodySchema(
  { customerId: string(), amount: integer(), currency: string() },
  {
    customerId: {
      expected: 'expected 1 to 128 characters, without # and control characters',
      test: (customer) => /^[^#\p{Cc}\p{Cs}\u{10ffff}]{1,128}$/u.test(customer),
    },
    amount: {
      expected: 'expected a whole number of minor units, from 1 to 2^53 - 1',
      test: (amount) => amount > 0,
    },
    currency: {
      expected: 'expected a currency code of ISO 4217, such as CHF',
      test: (code) => currencies.includes(code),
    },
  },
);
