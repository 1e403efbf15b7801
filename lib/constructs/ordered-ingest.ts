import { Duration } from 'aws-cdk-lib/core';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { AlarmMaker, type AlarmOptions, type AlarmThreshold } from './alarms.js';
import { bundledFunctions } from './bundled-code.js';
import { addFunctionAlarms, depthOf, type FunctionAlarmThresholds } from './function-alarms.js';
import type { IngestSource } from './ingest-source.js';
import { refuse, refuseBoth, refuseOtherRegion, secondsOf } from './invalid-prop-error.js';
import type { KitFunctionOptions, OwnHandlerOptions } from './kit-function.js';
import { KitFunction } from './kit-function.js';
import { KafkaSource, type MskSourceProps, type SelfManagedKafkaSourceProps } from './kafka-source.js';
import { kitMetric, lambdaMetric } from './metrics.js';
import type { SafeWritesTable } from './safe-writes-table.js';
import { lastQueue } from './secure-queue.js';
import { SqsSource, type SqsSourceProps } from './sqs-source.js';

/** When an {@link OrderedIngest} raises an alarm. */
export interface IngestAlarmThresholds extends FunctionAlarmThresholds {
  /**
   * Records in the failure queue.
   *
   * @default 1
   */
  readonly poison?: AlarmThreshold;

  /**
   * Messages in a dead-letter queue, or batches in the queue of what was given up. One alarm for each source.
   *
   * @default 1
   */
  readonly deadLetters?: AlarmThreshold;

  /**
   * Seconds that the oldest message of a queue has waited. One alarm for each queue.
   *
   * @default 900: 15 minutes
   */
  readonly oldestMessage?: AlarmThreshold;

  /**
   * Records of a Kafka topic that are not read yet. One alarm for the function, which has one metric for all its topics.
   *
   * @default 10,000, for 15 minutes
   */
  readonly offsetLag?: AlarmThreshold;
}

/** Settings of an {@link OrderedIngest}. */
export interface OrderedIngestProps extends KitFunctionOptions, OwnHandlerOptions, AlarmOptions {
  /** Table that holds the state. */
  readonly table: SafeWritesTable;

  /**
   * How late an event may arrive and still find what it must be compared with: the deletion of its item, or the inbox
   * record of its message. Longer than each source keeps an event, together with the queue of its failures.
   *
   * @default Duration.days(30)
   */
  readonly lateness?: Duration;

  /**
   * Where records go that can't be handled however often they come, with the reason.
   *
   * @default - a new queue
   */
  readonly existingFailureQueue?: sqs.IQueue;

  /**
   * Further settings of the new failure queue.
   *
   * @default - encrypted by SQS, TLS only, 14 days' retention
   */
  readonly failureQueueProps?: sqs.QueueProps;

  /**
   * What the function does, shown in the console.
   *
   * @default 'Keeps the newest state, from events in any order'
   */
  readonly description?: string;

  /**
   * When there is an alarm.
   *
   * @default - see IngestAlarmThresholds
   */
  readonly alarmThresholds?: IngestAlarmThresholds;
}

/** What the ingest's handler measures: see docs/events.md. */
export type IngestMetric =
  | 'Records'
  | 'Applied'
  | 'AlreadyStored'
  | 'Superseded'
  | 'Conflict'
  | 'Ignored'
  | 'Poison'
  | 'Failed'
  | 'Unfinished'
  | 'Writes'
  | 'Duration';

/**
 * A function that keeps the newest state of items, from events that come late, twice and out of order: the sample of live
 * matches that the package ships, or a handler of yours made with `orderedIngest`, `batchHandler` or `messageHandler`.
 *
 * Its sources are added to it; the failures of each are kept: SQS by a dead-letter queue, Kafka by a queue of what was
 * given up, and records that no retry would help in `failureQueue`. It may update items of the table, and nothing else.
 * At rest it costs its alarms; SQS is polled for about 0.6 million requests a queue and month.
 *
 * @example
 * ```ts
 * import { App, Duration, Stack } from 'aws-cdk-lib';
 * import { OrderedIngest, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Scores');
 * const ingest = new OrderedIngest(stack, 'Ingest', {
 *   table: new SafeWritesTable(stack, 'Table'),
 *   timeout: Duration.seconds(20),
 * });
 * const { queue } = ingest.addSqs('Events');
 * ingest.addSqs('EventsInOrder', { fifo: true });
 * ```
 */
export class OrderedIngest extends Construct {
  /** The function. */
  readonly function: lambda.Function;

  /** Its log group. */
  readonly logGroup: logs.ILogGroup;

  /** Its role. */
  readonly role: iam.Role;

  /** Where records go that no retry would help. */
  readonly failureQueue: sqs.IQueue;

  /** What it reads, in the order of adding. */
  readonly sources: readonly (SqsSource | KafkaSource)[] = [];

  /** The function's timeout, in seconds. */
  readonly timeoutSeconds: number;

  /** Calls of the function that may run at once, where some are reserved. */
  readonly reservedConcurrentExecutions: number | undefined;

  /** What watches the function and its failure queue, by the names of the thresholds; the rest is with each source. */
  readonly alarms: { readonly [K in keyof IngestAlarmThresholds]?: cloudwatch.Alarm };

  private readonly alarmMaker: AlarmMaker<keyof IngestAlarmThresholds>;
  private readonly alarmProps: Pick<OrderedIngestProps, keyof AlarmOptions | 'alarmThresholds'>;
  private readonly admitted: IngestSource[] = [];
  private readonly latenessSeconds: number;

  constructor(scope: Construct, id: string, props: OrderedIngestProps) {
    super(scope, id);
    const { lateness = Duration.days(30), existingFailureQueue, failureQueueProps } = props;
    this.latenessSeconds = secondsOf(this, 'lateness', lateness);
    if (this.latenessSeconds % 86_400 !== 0 || this.latenessSeconds === 0)
      refuse(this, 'lateness', 'must be whole days, for example Duration.days(30)');
    refuseBoth(this, { existingFailureQueue, failureQueueProps });
    if (existingFailureQueue !== undefined) refuseOtherRegion(this, 'existingFailureQueue', existingFailureQueue);
    this.failureQueue = existingFailureQueue ?? lastQueue(this, 'Failures', failureQueueProps);

    const handler = new KitFunction(this, 'Handler', {
      ...props,
      bundled: bundledFunctions.ingest,
      description: props.description ?? 'Keeps the newest state, from events in any order',
      derivedEnvironment: {
        SAFEWRITES_FAILURE_QUEUE_URL: this.failureQueue.queueUrl,
        SAFEWRITES_LATENESS_DAYS: String(this.latenessSeconds / 86_400),
        SAFEWRITES_PARTIAL_RESPONSES: 'false',
      },
      defaultTimeout: Duration.seconds(30),
      defaultActions: { actions: ['UpdateItem'] },
      kitKeys: [],
    });
    this.function = handler.function;
    this.logGroup = handler.logGroup;
    this.role = handler.role;
    this.timeoutSeconds = handler.timeoutSeconds;
    this.reservedConcurrentExecutions = props.reservedConcurrentExecutions;
    this.failureQueue.grant(this.role, 'sqs:SendMessage');
    this.failureQueue.encryptionMasterKey?.grant(this.role, 'kms:Decrypt', 'kms:GenerateDataKey');

    this.alarmProps = props;
    this.alarmMaker = new AlarmMaker<keyof IngestAlarmThresholds>(this, props, props.alarmThresholds ?? {});
    this.alarms = this.alarmMaker.made;
    addFunctionAlarms(this.alarmMaker, this.function, 'the ingest');
    this.alarmMaker.add('poison', {
      metric: depthOf(this.failureQueue),
      threshold: 1,
      description: 'Records that can not be handled were set aside. Runbook: Poison.',
    });

    this.node.addValidation({
      validate: () => (this.sources.length === 0 ? ['has no source: add one, for example with addSqs()'] : []),
    });
    this.node.addValidation({ validate: () => this.sharingProblems() });
  }

  /** Adds a queue. */
  addSqs(id: string, props: SqsSourceProps = {}): SqsSource {
    return this.keep(new SqsSource(this, id, props));
  }

  /** Adds a topic of Amazon MSK. */
  addMsk(id: string, props: MskSourceProps): KafkaSource {
    return this.keepTopic(KafkaSource.msk(this, id, props));
  }

  /** Adds a topic of a Kafka cluster that somebody else runs. */
  addSelfManagedKafka(id: string, props: SelfManagedKafkaSourceProps): KafkaSource {
    return this.keepTopic(KafkaSource.selfManaged(this, id, props));
  }

  /**
   * Takes a source in, whose settings must agree with those of the others. Called by the sources.
   *
   * @throws InvalidPropError where they don't
   */
  admit(source: IngestSource & Construct): void {
    const [first] = this.admitted;
    const same = this.admitted.find(({ reads }) => reads.name === source.reads.name);
    if (same !== undefined)
      refuse(
        source,
        source.reads.prop,
        'is a source of this ingest already, and would be handled twice: leave one of the two',
      );
    if (first !== undefined && first.partialResponses !== source.partialResponses) {
      refuse(
        source,
        'provisionedPollers',
        'Kafka without them reports no failures per record, other sources do, and the function can be told one thing only: ' +
          'give the Kafka source provisionedPollers, or an OrderedIngest of its own',
      );
    }
    if (source.longestStaySeconds > this.latenessSeconds) {
      const days = Math.ceil(source.longestStaySeconds / 86_400);
      refuse(
        this,
        'lateness',
        `is ${this.latenessSeconds / 86_400} days, but ${source.node.id} and the queue of its failures keep an event for up to ${days}: ` +
          `make it Duration.days(${days}) or more`,
      );
    }
    this.admitted.push(source);
    this.function.addEnvironment('SAFEWRITES_PARTIAL_RESPONSES', String(source.partialResponses));
  }

  /** The calls that a queue may take at once: what it says, else its part of what is reserved. */
  concurrencyOf(source: SqsSource): number | undefined {
    if (source.maxConcurrency !== undefined || this.reservedConcurrentExecutions === undefined)
      return source.maxConcurrency;
    const { left, sharing } = this.shares();
    return Math.max(2, Math.min(1000, Math.floor(left / sharing.length)));
  }

  private shares() {
    const queues = this.sources
      .filter((source) => source instanceof SqsSource)
      .filter(({ provisioned }) => !provisioned);
    const said =
      queues.reduce((sum, { maxConcurrency = 0 }) => sum + maxConcurrency, 0) +
      this.sources.reduce((sum, { pollerCalls }) => sum + pollerCalls, 0);
    return {
      said,
      left: (this.reservedConcurrentExecutions ?? Number.POSITIVE_INFINITY) - said,
      sharing: queues.filter(({ maxConcurrency }) => maxConcurrency === undefined),
    };
  }

  private sharingProblems(): string[] {
    const { said, left, sharing } = this.shares();
    if (left >= 2 * sharing.length) return [];
    return [
      `reservedConcurrentExecutions: ${this.reservedConcurrentExecutions} are too few for its sources, which take up to ` +
        `${said + 2 * sharing.length} calls at once, so that some would be throttled, and messages of queues become dead letters: ` +
        'reserve more, or lower maxConcurrency and maximumPollers',
    ];
  }

  /** The alarms of a source, with the thresholds of the ingest. Called by the sources. */
  alarmsOf(source: Construct): AlarmMaker<'deadLetters' | 'oldestMessage'> {
    return new AlarmMaker(source, this.alarmProps, this.alarmProps.alarmThresholds ?? {});
  }

  /** A count of the last 5 minutes, or with `Duration` how long a batch took, in milliseconds. */
  metric(name: IngestMetric, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return kitMetric(this.function, name, options);
  }

  private keepTopic(source: KafkaSource): KafkaSource {
    if (this.alarms.offsetLag === undefined) {
      this.alarmMaker.add('offsetLag', {
        metric: lambdaMetric(this.function, 'OffsetLag', { statistic: cloudwatch.Stats.MAXIMUM }),
        threshold: 10_000,
        evaluationPeriods: 3,
        description: 'Records of a topic are read more slowly than they come. Runbook: Offset lag.',
      });
    }
    return this.keep(source);
  }

  private keep<S extends SqsSource | KafkaSource>(source: S): S {
    (this.sources as S[]).push(source);
    return source;
  }
}
