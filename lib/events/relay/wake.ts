import { drainAggregates, OutboxItem, wakeUpOf, type AggregateDrain, type WakeUp } from '../../recipes/index.js';
import { pastThrottles } from '../../commands/retry/past-throttles.js';
import { bindingOf } from '../../commands/table/table.js';
import { answerOf } from '../handler/answer.js';
import { Progress } from '../handler/progress.js';
import { setAside } from '../poison/failure-destination.js';
import { PoisonRecordError } from '../poison/poison-record-error.js';
import { Deadline, type BatchContext } from '../run/deadline.js';
import type { Batch, Delivery } from '../sources/delivery.js';
import type { BatchResponse } from '../sources/item-failures.js';
import type { StreamEventRecord } from '../sources/stream-event.js';
import { counting } from './counting-publisher.js';
import { relayLine, type RelayLine } from './relay-line.js';
import type { SettledRelay } from './relay-options.js';

/** Publishes what a batch of the table's stream tells of. */
export const wake = async (
  batch: Batch,
  { place, target, draining, keepTrying, batch: terms, metrics }: SettledRelay,
  context: BatchContext | undefined,
  log: (line: RelayLine) => void,
): Promise<BatchResponse> => {
  const started = performance.now();
  const deadline = new Deadline(context, terms.deadlineMarginMs);
  const progress = new Progress(batch);
  const past = pastThrottles(deadline.near);
  const publisher = counting(target, keepTrying);
  const { naming_: naming } = bindingOf(place.table.of(OutboxItem)).entity_;
  const totals = { parked: 0, blocked: 0, failed: 0 };
  const reasons: Record<string, number> = {};
  const errors: unknown[] = [];
  const woken = new Map<string, Delivery[]>();
  const wakeUps: WakeUp[] = [];

  const add = (drained: AggregateDrain): void => {
    const { outcome, parked, reason = 'Unknown', error } = drained;
    totals.parked += parked;
    // Without an ending its records count as unfinished.
    if (outcome === 'stopped') return;
    if (outcome !== 'drained') totals[outcome]++;
    if (outcome === 'failed') {
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      if (error !== undefined) errors.push(error);
    }
    // Held back by one that is parked: it stays in the outbox until that one is retried or skipped.
    const isDone = outcome === 'drained' || outcome === 'blocked';
    for (const delivery of woken.get(drained.aggregate) ?? [])
      progress.end(delivery, isDone ? { state: 'done' } : { state: 'failed', error });
  };

  const read = async (delivery: Delivery): Promise<void> => {
    const { eventName, dynamodb } = delivery.record as StreamEventRecord;
    const [pk, sk] = [naming.pk, naming.sk ?? ''].map((name) => dynamodb?.Keys?.[name]?.S);
    if (dynamodb?.Keys === undefined) {
      const error = new PoisonRecordError('body', 'it has no keys');
      const ending = await setAside(delivery, error.reason, error, terms, deadline.signal, past);
      if (ending.state === 'failed') {
        totals.failed++;
        errors.push(ending.error);
      }
      return progress.end(delivery, ending);
    }
    const wakeUp = eventName === 'INSERT' ? wakeUpOf(pk ?? '', sk ?? '') : undefined;
    if (wakeUp === undefined) return progress.end(delivery, { state: 'done' });
    wakeUps.push(wakeUp);
    const same = woken.get(wakeUp.aggregate);
    if (same === undefined) woken.set(wakeUp.aggregate, [delivery]);
    else same.push(delivery);
  };

  const work = async (): Promise<void> => {
    await Promise.all(batch.deliveries.map(read));
    const drained = await drainAggregates(place, wakeUps, publisher, { ...draining, signal: deadline.near });
    drained.forEach(add);
  };
  // Where a target hangs, its whole batch comes again; what was published of it is found removed.
  await Promise.race([work(), deadline.over]);
  deadline.end();
  progress.close();
  const { poison, unfinished } = progress.counts();
  const counts = {
    Published: publisher.accepted,
    PublishFailures: publisher.failures,
    Parked: totals.parked,
    Failed: totals.failed,
    Duration: Math.round(performance.now() - started),
  };
  const { blocked } = totals;
  const facts = { source: 'stream', records: batch.deliveries.length, blocked, unfinished, poison, reasons } as const;
  log(relayLine(counts, facts, errors, metrics));
  return answerOf(batch, progress, terms.partial);
};
