import { errorLines, type ErrorLine } from '../handler/error-line.js';

/** What one invocation of a relay counts. */
export interface RelayCounts {
  /** Events that the target accepted, those among them that it had accepted before. */
  readonly Published: number;
  /** Events that the target did not accept, each time that they were sent. */
  readonly PublishFailures: number;
  /** Events that were parked. */
  readonly Parked: number;
  /** Aggregates, or items, that were not done and come again. */
  readonly Failed: number;
  /** In milliseconds. */
  readonly Duration: number;
  /** A sweep: items found that were older than its threshold. */
  readonly OutboxBacklog?: number;
  /** A sweep: the age of the oldest of them, in seconds. */
  readonly OutboxOldestAge?: number;
}

type Unit = 'Count' | 'Milliseconds' | 'Seconds';

/**
 * What is told of each invocation: one line that is also CloudWatch's embedded metric format
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 * It holds nothing of keys, values and payloads.
 */
export interface RelayLine extends RelayCounts {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: Unit }[];
    }[];
  };
  readonly timestamp: string;
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly message: 'relay';
  readonly source: 'stream' | 'schedule';
  /** Records of the stream; none of a schedule. */
  readonly records: number;
  /** Aggregates that a parked event holds back. */
  readonly blocked: number;
  /** What was left when the deadline was near. */
  readonly unfinished: number;
  /** Records that went to the failure destination. */
  readonly poison: number;
  /** Items of another number of shards than the relay was given. */
  readonly otherShards: number;
  /** Why it failed, and how often: codes of the target's, and names of errors. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The first error of each name. */
  readonly errors: readonly ErrorLine[];
}

const units: Readonly<Record<string, Unit>> = { Duration: 'Milliseconds', OutboxOldestAge: 'Seconds' };

/** What a line is made of, beside its counts. */
export type RelayFacts = Pick<RelayLine, 'source' | 'records'> &
  Partial<Pick<RelayLine, 'blocked' | 'unfinished' | 'poison' | 'otherShards' | 'reasons'>>;

/** The line of an invocation. */
export const relayLine = (
  counts: RelayCounts,
  facts: RelayFacts,
  errors: readonly unknown[],
  { namespace, dimensions }: { readonly namespace: string; readonly dimensions: Readonly<Record<string, string>> },
): RelayLine => {
  const now = new Date();
  const told = { blocked: 0, unfinished: 0, poison: 0, otherShards: 0, reasons: {}, ...facts };
  const isWarning =
    counts.Parked + counts.PublishFailures + told.blocked + told.unfinished + told.poison + told.otherShards > 0;
  // A metric that is told all month costs $0.30. Of a sweep that found nothing one is enough, by which it is known to live.
  const { Duration: _, ...found } = counts;
  const isIdle = counts.OutboxBacklog === 0 && Object.values(found).every((count) => count === 0);
  const Metrics = (isIdle ? ['OutboxBacklog'] : Object.keys(counts)).map((Name) => ({
    Name,
    Unit: units[Name] ?? ('Count' as const),
  }));
  return {
    ...dimensions,
    _aws: {
      Timestamp: now.getTime(),
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [Object.keys(dimensions)], Metrics }],
    },
    timestamp: now.toISOString(),
    level: counts.Failed > 0 ? 'ERROR' : isWarning ? 'WARN' : 'INFO',
    message: 'relay',
    ...told,
    ...counts,
    errors: errorLines(errors),
  };
};
