import { boolean, entity, string, type Item } from '../../lib/commands/index.js';

/** What the charge knows of a customer; one without an item is in good standing. */
export const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{id}',
  sk: 'STANDING',
  attributes: { id: string(), blocked: boolean() },
});
export type Customer = Item<typeof Customer>;
