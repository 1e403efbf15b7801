import { entity, integer, string, transactWrite, version, type Table } from '../../lib/commands/index.js';
import type { Outbox } from '../../lib/recipes/outbox/outbox.js';
import { pollOutbox } from '../../lib/recipes/outbox/poll-outbox.js';
import { publishEach } from '../../lib/recipes/outbox/publish-each.js';

export const Payment = entity('PAYMENT', {
  pk: 'PAYMENT#{id}',
  sk: 'STATE',
  attributes: { id: string(), cents: integer(), revision: version() },
});

/** Stores a payment and the event that tells of it: neither without the other. */
export const pay = async (shop: Table, events: Outbox, id: string, cents: number): Promise<void> => {
  await transactWrite(shop, {
    payment: shop.of(Payment).put({ id, cents }),
    event: events.publish({
      aggregate: `payment:${id}`,
      sequence: 1,
      events: [{ type: 'payment.made', detail: { cents } }],
    }),
  });
};

/** Reads the outbox, tells of each event and deletes it, until the signal aborts. */
export const relayPayments = async (
  events: Outbox,
  tell: (line: string) => void,
  signal: AbortSignal,
  intervalMs = 1_000,
): Promise<void> => {
  const publisher = publishEach(({ aggregate, id }) => tell(`Paid: ${aggregate}, event ${id}`));
  await pollOutbox(events, publisher, { signal, intervalMs });
};
