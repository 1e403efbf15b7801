import type { EventOutcome } from '../../recipes/index.js';
import { batchLine, type BatchLine } from '../handler/batch-line.js';
import type { Progress } from '../handler/progress.js';
import type { Batch } from '../sources/delivery.js';

/** What a batch counts: events by outcome, and what it took. */
export interface IngestCounts {
  readonly Records: number;
  readonly Applied: number;
  readonly AlreadyStored: number;
  readonly Superseded: number;
  /** Another event of the same version is stored. */
  readonly Conflict: number;
  /** They mean nothing to the state. */
  readonly Ignored: number;
  readonly Poison: number;
  readonly Failed: number;
  /** Not done when the deadline was near. */
  readonly Unfinished: number;
  /** Writes that were sent, failed conditions among them; retries, and the second request of a deletion, are not counted. */
  readonly Writes: number;
  readonly Duration: number;
}

/**
 * What is told of each batch: one line that is also CloudWatch's embedded metric format
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 */
export interface IngestLine extends IngestCounts, Pick<BatchLine, 'timestamp' | 'level' | 'poisonReasons' | 'errors'> {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: 'Count' | 'Milliseconds' }[];
    }[];
  };
  readonly message: 'ingest';
  readonly entity: string;
  readonly source: string;
}

/** Where the metrics go. */
export interface MetricsTarget {
  readonly entity: string;
  readonly namespace: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The line of a batch. */
export const ingestLine = (
  batch: Batch,
  progress: Progress,
  started: number,
  outcomes: Readonly<Record<EventOutcome, number>>,
  writes: number,
  { entity, namespace, dimensions }: MetricsTarget,
): IngestLine => {
  const line = batchLine(batch, progress, started);
  const { timestamp, level, source, records, done, poison, failed, unfinished, poisonReasons, durationMs, errors } =
    line;
  const { Applied, AlreadyStored, Superseded, Conflict } = outcomes;
  const counts: IngestCounts = {
    ...{ Records: records, Applied, AlreadyStored, Superseded, Conflict },
    Ignored: done - Applied - AlreadyStored - Superseded - Conflict,
    ...{ Poison: poison, Failed: failed, Unfinished: unfinished, Writes: writes, Duration: durationMs },
  };
  const Metrics = Object.keys(counts).map((Name) => ({
    Name,
    Unit: Name === 'Duration' ? ('Milliseconds' as const) : ('Count' as const),
  }));
  return {
    ...dimensions,
    _aws: {
      Timestamp: Date.parse(timestamp),
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [Object.keys(dimensions)], Metrics }],
    },
    timestamp,
    level: level === 'INFO' && Conflict > 0 ? 'WARN' : level,
    message: 'ingest',
    entity,
    source,
    ...counts,
    poisonReasons,
    errors,
  };
};
