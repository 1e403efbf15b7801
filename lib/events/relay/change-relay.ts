import { isFilledText } from '../../commands/attributes/text.js';
import type { AnyEntity } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { pastThrottles } from '../../commands/retry/past-throttles.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkFunction, checkObject } from '../../recipes/arguments.js';
import { Batches, type PublishFailure } from '../../recipes/outbox/batches.js';
import { drainTerms } from '../../recipes/outbox/drain-options.js';
import { sendLeading } from '../../recipes/outbox/send.js';
import type { RelayedEvent } from '../../recipes/index.js';
import { decodeDelivery } from '../decoders/decoder.js';
import { streamChanges, type AnyStreamChange } from '../decoders/stream-changes.js';
import { answerOf } from '../handler/answer.js';
import { writeLine } from '../handler/batch-line.js';
import { settledOptions } from '../handler/options.js';
import { Progress, type Ending } from '../handler/progress.js';
import { poisonReasonOf, setAside } from '../poison/failure-destination.js';
import { PoisonRecordError } from '../poison/poison-record-error.js';
import { Deadline, type BatchContext } from '../run/deadline.js';
import { lanesOf } from '../run/lanes.js';
import { runBounded } from '../run/run-bounded.js';
import type { Delivery } from '../sources/delivery.js';
import type { BatchResponse } from '../sources/item-failures.js';
import { readBatch } from '../sources/read-batch.js';
import type { StreamEvent, StreamEventRecord } from '../sources/stream-event.js';
import { changeEvents } from './change-events.js';
import type { ChangeRelayOptions } from './change-options.js';
import { counting } from './counting-publisher.js';
import { relayLine } from './relay-line.js';
import { metricsOf } from './relay-options.js';

/** Ends a record whose events were not all accepted, and may be the next time. */
class NotPublished extends Error {
  constructor(readonly failure: PublishFailure) {
    super(failure.reason);
  }
}

/**
 * A Lambda handler that makes events of the changes of a table's items: the table's stream is the outbox, and no item is
 * written for an event. Old and new item are typed by the discriminator, as far as the stream's view has them; removals by
 * time to live are told apart by `expired`.
 *
 * At least once, and the events of an item in the order of its changes; each change of a transaction is a record of its own,
 * and they surface in any order. The id of an event is the same whenever its record comes. Against the outbox: there is no
 * order between items, a stream keeps its records for 24 hours, and nothing looks for what was missed then; an event can only
 * tell what the images hold; and where a target refuses an event for good, its record goes to the failure destination, or
 * holds up the shard.
 *
 * Cost: no request to the table; a tenth of a request to the target for each event.
 *
 * @throws InvalidInputError for options out of their bounds, and an entity that does not fit the table
 * @returns a handler that throws BatchFailedError where failures can't be told apart, and InvalidInputError for an event of
 *   another source
 * @example
 * export const handler = changeRelay({
 *   table: shop,
 *   entities: [Order, SignIn],
 *   source: 'shop',
 *   target: publishEach(({ id, type }) => console.log(id, type)),
 *   map: (change) => {
 *     if (change.type === 'SIGN_IN') return change.expired ? { type: 'session.expired', detail: change.key } : undefined;
 *     const isPaid = change.newItem?.status === 'PAID' && change.oldItem?.status !== 'PAID';
 *     return isPaid ? { type: 'order.paid', detail: { total: change.newItem.total } } : undefined;
 *   },
 * });
 */
export const changeRelay = <const L extends readonly [AnyEntity, ...AnyEntity[]]>(
  options: ChangeRelayOptions<L>,
): ((event: StreamEvent, context?: BatchContext) => Promise<BatchResponse>) => {
  const { table, entities, source, target, sends = 3, log = writeLine } = checkObject(options, 'options');
  checkFunction(log, 'log');
  const settled = settledOptions(options);
  const metrics = metricsOf(options.metrics ?? {});
  if (typeof options.map !== 'function') invalid('map', 'expected a function');
  if (typeof target?.publish !== 'function') invalid('target', 'expected a target: an object with publish()');
  if (!isFilledText(source)) invalid('source', 'expected text, not empty');
  drainTerms({ sends });
  const stream = streamChanges(table, entities);
  const { naming_: naming } = bindingOf(table.of(entities[0])).entity_;
  const names = [naming.pk, ...(naming.sk === undefined ? [] : [naming.sk])];
  const terms = { names, source, maximumBytes: target.maximumBytes ?? Infinity };

  const eventsOf = async (delivery: Delivery): Promise<RelayedEvent[]> => {
    const change = (await decodeDelivery(delivery, { stream })) as AnyStreamChange<L> | undefined;
    if (change === undefined) return [];
    return changeEvents(delivery.record as StreamEventRecord, () => options.map(change), terms);
  };

  const publish = async (events: RelayedEvent[], batches: Batches, signal: AbortSignal): Promise<void> => {
    for (let next = 0; next < events.length;) {
      const { accepted, failure } = await sendLeading(batches, events.slice(next), { sends, signal });
      next += accepted;
      if (failure === undefined) continue;
      if (failure.retryable) throw new NotPublished(failure);
      throw new PoisonRecordError('target', `the target refuses an event that it was mapped to (${failure.reason})`);
    }
  };

  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  return async (event, context) => {
    const started = performance.now();
    const batch = readBatch(event);
    if (batch.source !== 'stream' && batch.deliveries.length > 0)
      invalid('event', "expected a batch of the table's stream");
    const deadline = new Deadline(context, settled.deadlineMarginMs);
    const progress = new Progress(batch);
    const past = pastThrottles(deadline.near);
    const publisher = counting(target, false);
    const batches = new Batches(publisher);
    const reasons: Record<string, number> = {};

    const run = async (delivery: Delivery): Promise<Ending> => {
      try {
        await publish(await eventsOf(delivery), batches, deadline.near);
        return { state: 'done' };
      } catch (error) {
        if (error instanceof NotPublished) {
          const { reason, error: cause } = error.failure;
          reasons[reason] = (reasons[reason] ?? 0) + 1;
          return { state: 'failed', error: cause };
        }
        const reason = poisonReasonOf(error);
        if (reason === undefined) return { state: 'failed', error };
        return setAside(delivery, reason, error as Error, settled, deadline.signal, past);
      }
    };
    const tasks = lanesOf(batch).map(
      (lane) => (): Promise<void> =>
        batches.lane(async () => {
          for (const delivery of lane) {
            if (deadline.isNear) return;
            const ending = await run(delivery);
            progress.end(delivery, ending);
            if (ending.state === 'failed') return;
          }
        }),
    );
    await runBounded(tasks, settled.concurrency, deadline);
    deadline.end();
    progress.close();
    const { failed, poison, unfinished } = progress.counts();
    const counts = {
      Published: publisher.accepted,
      PublishFailures: publisher.failures,
      Parked: 0,
      Failed: failed,
      Duration: Math.round(performance.now() - started),
    };
    const errors = progress.errors().filter((error) => error !== undefined);
    const facts = { source: 'stream', records: batch.deliveries.length, unfinished, poison, reasons } as const;
    log(relayLine(counts, facts, errors, metrics));
    return answerOf(batch, progress, settled.partial);
  };
};
