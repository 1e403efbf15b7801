import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { alarmPeriod } from './alarms.js';
import { depthOf } from './function-alarms.js';
import type { EndpointMetric, IdempotentEndpoint } from './idempotent-endpoint.js';
import { refuse } from './invalid-prop-error.js';
import { lambdaMetric } from './metrics.js';
import type { IngestMetric, OrderedIngest } from './ordered-ingest.js';
import type { OutboxRelay, RelayMetric } from './outbox-relay.js';
import { SqsSource } from './sqs-source.js';

/** Settings of a {@link SafeWritesDashboard}. */
export interface SafeWritesDashboardProps {
  /**
   * Endpoints to show.
   *
   * @default - none
   */
  readonly endpoints?: IdempotentEndpoint[];

  /**
   * Ingests to show.
   *
   * @default - none
   */
  readonly ingests?: OrderedIngest[];

  /**
   * Relays to show.
   *
   * @default - none
   */
  readonly relays?: OutboxRelay[];

  /**
   * Name of the dashboard, unique in the account.
   *
   * @default - made of the construct's path
   */
  readonly dashboardName?: string;
}

const outcomes: EndpointMetric[] = [
  ...(['Committed', 'Replayed', 'Refused', 'Mismatch', 'Conflict', 'Invalid', 'Unavailable', 'Failed'] as const),
];
const ingested: IngestMetric[] = [
  ...(['Applied', 'AlreadyStored', 'Superseded', 'Conflict', 'Ignored', 'Poison', 'Failed', 'Unfinished'] as const),
];
const relayed: RelayMetric[] = ['Published', 'PublishFailures', 'Parked', 'Failed'];

/**
 * A dashboard of what became of calls, events and the outbox, beside what keeps the functions from it, and the state of
 * their alarms. An account has three dashboards free of charge; another costs $3 a month.
 *
 * @example
 * ```ts
 * import { App, Stack } from 'aws-cdk-lib';
 * import { IdempotentEndpoint, SafeWritesDashboard, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const charges = new IdempotentEndpoint(stack, 'Charges', { table: new SafeWritesTable(stack, 'Table') });
 * const { dashboard } = new SafeWritesDashboard(stack, 'Dashboard', { endpoints: [charges] });
 * ```
 */
export class SafeWritesDashboard extends Construct {
  /** The dashboard, to add widgets of yours to. */
  readonly dashboard: cloudwatch.Dashboard;

  constructor(scope: Construct, id: string, props: SafeWritesDashboardProps) {
    super(scope, id);
    const { endpoints = [], ingests = [], relays = [] } = props;
    const shown = [...endpoints, ...ingests, ...relays];
    if (shown.length === 0) refuse(this, 'endpoints', 'name what to show: endpoints, ingests or relays');
    const sources = ingests.flatMap((ingest) => ingest.sources);
    const alarms = [...shown, ...sources].flatMap((part) => Object.values(part.alarms));
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      ...(props.dashboardName === undefined ? {} : { dashboardName: props.dashboardName }),
      widgets: [
        ...(alarms.length === 0
          ? []
          : [[new cloudwatch.AlarmStatusWidget({ title: 'Alarms', width: 24, height: 3, alarms })]]),
        ...endpoints.map((endpoint) => this.endpointRow(endpoint)),
        ...ingests.map((ingest) => this.ingestRow(ingest)),
        ...relays.map((relay) => this.relayRow(relay)),
      ],
    });
  }

  private endpointRow(endpoint: IdempotentEndpoint): cloudwatch.IWidget[] {
    const { id } = endpoint.node;
    const duration = (statistic: string) => endpoint.metric('Duration', { statistic, label: statistic });
    return [
      counts(
        `${id}: outcomes of calls`,
        outcomes.map((name) => endpoint.metric(name)),
      ),
      graph(`${id}: duration, ms`, [duration('p50'), duration('p99')]),
      trouble(`${id}: errors and throttles`, endpoint.function),
    ];
  }

  private ingestRow(ingest: OrderedIngest): cloudwatch.IWidget[] {
    const { id } = ingest.node;
    const queues = ingest.sources.flatMap((source) => (source instanceof SqsSource ? [source] : []));
    const age = ({ queue, node }: SqsSource) =>
      queue.metricApproximateAgeOfOldestMessage({
        label: node.id,
        period: alarmPeriod,
        statistic: cloudwatch.Stats.MAXIMUM,
      });
    const aside: [string, sqs.IQueue | undefined][] = [
      [ingest.failureQueue.node.id, ingest.failureQueue],
      ...ingest.sources.map((source): [string, sqs.IQueue | undefined] =>
        source instanceof SqsSource
          ? [`${source.node.id}: dead letters`, source.deadLetterQueue]
          : [`${source.node.id}: given up`, source.givenUpQueue],
      ),
    ];
    const lag = lambdaMetric(ingest.function, 'OffsetLag', { statistic: cloudwatch.Stats.MAXIMUM });
    return [
      counts(
        `${id}: outcomes of events`,
        ingested.map((name) => ingest.metric(name)),
      ),
      graph(`${id}: oldest message, s`, [...queues.map(age), ...(queues.length < ingest.sources.length ? [lag] : [])]),
      graph(
        `${id}: set aside`,
        aside.flatMap(([label, queue]) => (queue === undefined ? [] : [depthOf(queue).with({ label })])),
      ),
      trouble(`${id}: errors and throttles`, ingest.function),
    ];
  }

  private relayRow(relay: OutboxRelay): cloudwatch.IWidget[] {
    const { id } = relay.node;
    const { MAXIMUM } = cloudwatch.Stats;
    return [
      counts(
        `${id}: events of the outbox`,
        relayed.map((name) => relay.metric(name)),
      ),
      graph(`${id}: waiting`, [
        relay.metric('OutboxBacklog', { statistic: MAXIMUM }),
        relay.metric('OutboxOldestAge', { statistic: MAXIMUM, label: 'OutboxOldestAge, s' }),
      ]),
      graph(`${id}: age of the stream, ms`, [lambdaMetric(relay.function, 'IteratorAge', { statistic: MAXIMUM })]),
      trouble(`${id}: errors and throttles`, relay.function),
    ];
  }
}

const counts = (title: string, left: cloudwatch.IMetric[]) =>
  new cloudwatch.GraphWidget({ title, left, stacked: true, width: 8, leftYAxis: { min: 0 } });

const graph = (title: string, left: cloudwatch.IMetric[]) =>
  new cloudwatch.GraphWidget({ title, left, width: 5, leftYAxis: { min: 0 } });

const trouble = (title: string, fn: lambda.IFunction) =>
  graph(title, [lambdaMetric(fn, 'Errors'), lambdaMetric(fn, 'Throttles')]);
