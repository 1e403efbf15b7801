import { entity, instant, integer, string, version, type Item } from '../../lib/commands/index.js';

/** A charge. Each has a key of its own: one partition for all would be limited to one partition's writes. */
export const Charge = entity('CHARGE', {
  pk: 'CHARGE#{id}',
  sk: 'CHARGE',
  attributes: {
    id: string(),
    customerId: string(),
    /** In the currency's minor unit. */
    amount: integer(),
    currency: string(),
    createdAt: instant(),
    revision: version(),
  },
});
export type Charge = Item<typeof Charge>;
