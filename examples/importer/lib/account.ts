import { entity, integer, string, type Item } from 'safewrites';

/** An account. Both the handler and the stack import it; it loads no SDK client. */
export const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), owner: string(), cents: integer() },
});
export type Account = Item<typeof Account>;
