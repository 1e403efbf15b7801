import { invalid } from '../../commands/errors/errors.js';
import { writeLine } from '../handler/batch-line.js';
import { readBatch } from '../sources/read-batch.js';
import { settledRelay, type OutboxRelayOptions, type RelayHandler, type ScheduledEvent } from './relay-options.js';
import { sweep } from './sweep.js';
import { wake } from './wake.js';

const isScheduled = (event: unknown): event is ScheduledEvent =>
  (event as Partial<ScheduledEvent> | null | undefined)?.['detail-type'] === 'Scheduled Event';

/**
 * A Lambda handler that brings the events of a table's outbox to their target: woken by the table's stream, and by a
 * schedule for what the stream's wake-ups missed (records that aged out, a function that was broken). Both drain an
 * aggregate as `drainAggregate` does: every committed event arrives at least once, first arrivals of an aggregate in the
 * order of its commits, none that was not committed.
 *
 * Of the stream it takes inserts of outbox items, which name an aggregate and a committed sequence: filter the mapping by
 * them, since other records are passed over, and paid for. Any view of the stream will do. Several of one aggregate are one
 * drain, and batches are filled over all aggregates. A record is acknowledged when its events are published or parked, or
 * held back by a parked one, after which the schedule brings them. What failed, and what was left near the deadline, is
 * reported by the lowest sequence number.
 *
 * Cost: a query for up to 25 aggregates of a shard, 1 read unit per 4 KB; for each outbox item a delete, 1 write unit per KB;
 * a tenth of a request to the target for each event. An aggregate alone in its shard, or among much that is not of the batch,
 * takes a query of its own. A sweep of an empty outbox takes a query a shard and one more, half a read unit each.
 *
 * @throws InvalidInputError for options out of their bounds
 * @returns a handler that throws BatchFailedError where failures can't be told apart, SweepFailedError where the outbox can't
 *   be read, and InvalidInputError for an event of another source
 * @example
 * const target = publishEach(async ({ id, type, detail }) => {
 *   await fetch('https://hooks.example/events', { method: 'POST', headers: { 'event-id': id, type }, body: detail });
 * });
 * export const handler = outboxRelay({ table: shop, target });
 */
export const outboxRelay = (options: OutboxRelayOptions): RelayHandler => {
  const settled = settledRelay(options);
  const { log = writeLine } = options;
  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  return async (event, context) => {
    if (isScheduled(event)) {
      await sweep(settled, context, log);
      return { batchItemFailures: [] };
    }
    const batch = readBatch(event);
    if (batch.source !== 'stream' && batch.deliveries.length > 0)
      invalid('event', "expected a batch of the table's stream or a scheduled event");
    return wake(batch, settled, context, log);
  };
};
