import { drainAll, type DrainedAll } from '../../recipes/index.js';
import type { BatchContext } from '../run/deadline.js';
import { Deadline } from '../run/deadline.js';
import { counting } from './counting-publisher.js';
import { relayLine, type RelayLine } from './relay-line.js';
import type { SettledRelay } from './relay-options.js';
import { SweepFailedError } from './sweep-failed-error.js';

/** Publishes what the stream's wake-ups missed. */
export const sweep = async (
  { place, target, draining, sweepAfterMs, keepTrying, batch, metrics }: SettledRelay,
  context: BatchContext | undefined,
  log: (line: RelayLine) => void,
): Promise<void> => {
  const started = performance.now();
  const deadline = new Deadline(context, batch.deadlineMarginMs);
  const publisher = counting(target, keepTrying);
  const drain = drainAll(place, publisher, { ...draining, olderThanMs: sweepAfterMs, signal: deadline.near });
  // Where a target hangs, it is known what was sent, and no more.
  const drained: DrainedAll | void = await Promise.race([drain, deadline.over]);
  deadline.end();
  const { parked = 0, failed = 0, unread = 0, waiting, oldestMs = 0 } = drained ?? {};
  const counts = {
    Published: publisher.accepted,
    PublishFailures: publisher.failures,
    Parked: parked,
    Failed: failed + unread,
    Duration: Math.round(performance.now() - started),
    ...(waiting !== undefined && { OutboxBacklog: waiting, OutboxOldestAge: Math.floor(oldestMs / 1000) }),
  };
  const { blocked = 0, otherShards = 0, reasons = {}, stopped = true } = drained ?? {};
  const facts = { source: 'schedule', records: 0, blocked, otherShards, reasons, unfinished: Number(stopped) } as const;
  log(relayLine(counts, facts, [], metrics));
  if (unread > 0) throw new SweepFailedError(unread);
};
