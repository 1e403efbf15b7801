import { randomUUID } from 'node:crypto';
import { conditionCheck, type Table } from '../../lib/commands/index.js';
import { commit, idempotent, problem, type IdempotentHandler, type IdempotentOptions } from '../../lib/http/index.js';
import { outbox } from '../../lib/recipes/index.js';
import { ChargeRequest } from './charge-request.js';
import { Charge } from './charge.js';
import { Customer } from './customer.js';

const blocked = problem({
  status: 403,
  type: 'urn:safewrites:problem:customer-blocked',
  title: 'Customer blocked',
  detail: 'This customer can not be charged.',
});

/**
 * `POST /charges` with `{ customerId, amount, currency }`: charges a customer once per `Idempotency-Key`. Charge, answer
 * and event commit in one transaction, on condition that the customer is not blocked: 1 request, 8 write units for small
 * items.
 */
export const chargeHandler = (
  table: Table,
  options: Partial<Pick<IdempotentOptions<never>, 'log' | 'now' | 'readFirst' | 'scope'>> = {},
): IdempotentHandler => {
  const charges = table.of(Charge);
  const customers = table.of(Customer);
  const events = outbox(table, { source: 'safewrites.charges' });
  return idempotent({
    ...options,
    table,
    route: 'POST /charges',
    schema: ChargeRequest,
    describeIssue: ({ message }) => message,
    // All charges of a customer check the same item. The waits between ten runs are 5.5 s at most, well before the
    // function's deadline of 10 s.
    maxAttempts: 10,
    handle({ customerId, amount, currency }, { now: createdAt, traceparent }) {
      const id = randomUUID();
      const body = { chargeId: id, customerId, amount, currency, createdAt };
      const steps = {
        charge: charges.put({ id, customerId, amount, currency, createdAt }),
        customer: conditionCheck(customers, { id: customerId }).if(Customer.attrs.blocked.eq(true).negate()),
        event: events.publish({
          aggregate: `charge:${id}`,
          sequence: 1,
          events: [{ type: 'charge.created', detail: body, time: createdAt }],
          traceparent,
        }),
      };
      const answer = { status: 201, headers: { location: `/charges/${id}` }, body };
      return commit(steps, answer, (failed) => (failed.customer ? blocked : undefined));
    },
  });
};
