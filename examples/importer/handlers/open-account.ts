import { randomUUID } from 'node:crypto';
import { table } from 'safewrites';
import { commit, dynamoDBClient, idempotent } from 'safewrites/http';
import { outbox } from 'safewrites/recipes';
import { Account } from '../lib/account.js';

const bank = table({ name: process.env['TABLE_NAME'] ?? '', client: dynamoDBClient() });
const accounts = bank.of(Account);
const events = outbox(bank, { source: 'bank.accounts' });

/** `POST /accounts`: opens an account once per Idempotency-Key, and tells of it. */
export const handler = idempotent({
  table: bank,
  handle: (_body, { traceparent }) => {
    const account = { id: randomUUID(), owner: 'nobody yet', cents: 0 };
    const event = events.publish({
      aggregate: `account:${account.id}`,
      sequence: 1,
      events: [{ type: 'account.opened', detail: account }],
      traceparent,
    });
    return commit({ account: accounts.put(account).ifNotExists(), event }, { status: 201, body: account });
  },
});
