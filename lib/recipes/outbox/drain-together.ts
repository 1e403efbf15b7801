import { DrainLane, type AggregateDrain } from './drain-lane.js';
import type { Drain } from './drain.js';
import { SharedReads } from './shared-reads.js';
import { aggregatesOf } from './waiting-items.js';
import type { WakeUp } from './wake-up.js';

/** Drains what wake-ups name. @returns one answer for each aggregate, in the order in which they were first named */
export const drainTogether = async (drain: Drain, wakeUps: readonly WakeUp[]): Promise<AggregateDrain[]> => {
  const aggregates = aggregatesOf(drain, wakeUps);
  const reads = new SharedReads(drain, aggregates);
  const drained = new Map<string, AggregateDrain>();
  await Promise.all(
    reads.inOrder.map(async (of) => drained.set(of.aggregate, await new DrainLane(drain, of, reads).run())),
  );
  return aggregates.map(({ aggregate }) => drained.get(aggregate) as AggregateDrain);
};
