import { invalid } from '../../commands/errors/errors.js';
import type { Table } from '../../commands/index.js';
import { checkFunction, checkObject, checkTable } from '../../recipes/arguments.js';
import type { DrainOptions, Publisher } from '../../recipes/index.js';
import { checkMs, drainTerms } from '../../recipes/outbox/drain-options.js';
import { checkShards } from '../../recipes/outbox/shard.js';
import { settledOptions, type BatchOptions } from '../handler/options.js';
import type { BatchContext } from '../run/deadline.js';
import type { BatchResponse } from '../sources/item-failures.js';
import type { StreamEvent } from '../sources/stream-event.js';
import type { RelayLine } from './relay-line.js';

/** What an EventBridge rule on a schedule sends. */
export interface ScheduledEvent {
  readonly 'detail-type': 'Scheduled Event';
}

/** A Lambda handler of a table's stream and of a schedule. */
export type RelayHandler = (event: StreamEvent | ScheduledEvent, context?: BatchContext) => Promise<BatchResponse>;

/** The metrics' namespace and dimensions. */
export interface RelayMetrics {
  /** @default SafeWrites */
  readonly namespace?: string | undefined;
  /** @default `function`: the function's name, as Lambda gives it in AWS_LAMBDA_FUNCTION_NAME */
  readonly dimensions?: Readonly<Record<string, string>> | undefined;
}

/** What {@link outboxRelay} takes. */
export interface OutboxRelayOptions
  extends
    Pick<BatchOptions, 'partialResponses' | 'deadlineMarginMs' | 'failureDestination'>,
    Omit<DrainOptions, 'signal'> {
  /** The table of the outbox. */
  readonly table: Table;
  /** Where events go: `eventBridgeTarget`, `snsTarget`, `sqsTarget`, or a publisher of your own. */
  readonly target: Publisher;
  /** The outbox's number of shards: the same as that of the publishers. @default 8 */
  readonly shards?: number | undefined;
  /** On a schedule, events are left alone that are younger than this: the stream is at them. @default 60,000 */
  readonly sweepAfterMs?: number | undefined;
  /**
   * What becomes of an event that the target refuses for good, such as one that it finds malformed: parked at once, or tried
   * as often as `parkAfter` says, like one whose failure may pass. @default 'park'
   */
  readonly whenRefused?: 'park' | 'retry' | undefined;
  readonly metrics?: RelayMetrics | undefined;
  /** Takes the line of each invocation. @default writes it to standard output as JSON, for CloudWatch to take metrics from */
  readonly log?: ((line: RelayLine) => void) | undefined;
}

/** The options as they apply; refuses what is out of bounds. */
export const settledRelay = (options: OutboxRelayOptions) => {
  const {
    table,
    target,
    shards = 8,
    sweepAfterMs = 60_000,
    whenRefused = 'park',
    metrics = {},
  } = checkObject(options, 'options');
  const { previousShards, whenParked, parkAfter, sends, concurrency, clock } = options;
  const { partialResponses, deadlineMarginMs, failureDestination } = options;
  checkTable(table);
  if (options.log !== undefined) checkFunction(options.log, 'log');
  if (typeof target?.publish !== 'function') invalid('target', 'expected a target: an object with publish()');
  if (whenRefused !== 'park' && whenRefused !== 'retry') invalid('whenRefused', "expected 'park' or 'retry'");
  if (checkMs(sweepAfterMs, 'sweepAfterMs') < 1) invalid('sweepAfterMs', 'expected milliseconds from 1 on');
  const draining: DrainOptions = Object.fromEntries(
    Object.entries({ previousShards, whenParked, parkAfter, sends, concurrency, clock }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  drainTerms(draining);
  return {
    place: { table, shards: checkShards(shards, 'shards') },
    target,
    draining,
    sweepAfterMs,
    keepTrying: whenRefused === 'retry',
    batch: settledOptions({ partialResponses, deadlineMarginMs, failureDestination }),
    metrics: metricsOf(metrics),
  };
};

/** See {@link settledRelay}. */
export type SettledRelay = ReturnType<typeof settledRelay>;

/** The metrics' namespace and dimensions, with their defaults. */
export const metricsOf = ({ namespace = 'SafeWrites', dimensions }: RelayMetrics) => ({
  namespace,
  dimensions: dimensions ?? { function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'relay' },
});
