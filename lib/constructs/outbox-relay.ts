import { Duration } from 'aws-cdk-lib/core';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import { AlarmMaker, alarmPeriod, type AlarmOptions, type AlarmThreshold } from './alarms.js';
import { bundledFunctions } from './bundled-code.js';
import { addFunctionAlarms, depthOf, type FunctionAlarmThresholds } from './function-alarms.js';
import { refuse, refuseBoth, refuseOtherRegion, secondsOf, wholeNumber } from './invalid-prop-error.js';
import type { KitFunctionOptions, OwnHandlerOptions } from './kit-function.js';
import { KitFunction } from './kit-function.js';
import { kitMetric, lambdaMetric } from './metrics.js';
import type { SafeWritesTable } from './safe-writes-table.js';
import { deadLetterQueue, describeQueue, lastQueue, secureQueue } from './secure-queue.js';

/** When an {@link OutboxRelay} raises an alarm. */
export interface RelayAlarmThresholds extends FunctionAlarmThresholds {
  /**
   * Seconds that a record of the stream was old when it was read.
   *
   * @default 300: 5 minutes
   */
  readonly iteratorAge?: AlarmThreshold;

  /**
   * Messages in the queue of what was given up.
   *
   * @default 1
   */
  readonly givenUp?: AlarmThreshold;

  /**
   * Events in 5 minutes that were parked.
   *
   * @default 1
   */
  readonly parked?: AlarmThreshold;

  /**
   * Items that a sweep found late.
   *
   * @default 100, for 15 minutes
   */
  readonly backlog?: AlarmThreshold;

  /**
   * Age in seconds of the oldest item that a sweep found late.
   *
   * @default 600: 10 minutes, for 15
   */
  readonly oldestEvent?: AlarmThreshold;
}

/** What the relay's handler measures. */
export type RelayMetric =
  'Published' | 'PublishFailures' | 'Parked' | 'Failed' | 'OutboxBacklog' | 'OutboxOldestAge' | 'Duration';

/** Settings of an {@link OutboxRelay}. Of the targets one is chosen. */
export interface OutboxRelayProps extends KitFunctionOptions, OwnHandlerOptions, AlarmOptions {
  /** Table that holds the outbox. Its stream is read. */
  readonly table: SafeWritesTable;

  /**
   * Sends the events to a bus that is there already.
   *
   * @default - a new bus, where no other target is given
   */
  readonly existingEventBus?: events.IEventBus;

  /**
   * Sends the events to a new bus, with these settings.
   *
   * @default - a bus without further settings
   */
  readonly eventBusProps?: events.EventBusProps;

  /**
   * Sends the events to a topic that is there already.
   *
   * @default - none
   */
  readonly existingTopic?: sns.ITopic;

  /**
   * Sends the events to a new topic, with these settings.
   *
   * @default - none
   */
  readonly topicProps?: sns.TopicProps;

  /**
   * Sends the events to a queue that is there already.
   *
   * @default - none
   */
  readonly existingQueue?: sqs.IQueue;

  /**
   * Sends the events to a new queue, with these settings, and a dead-letter queue after 5 receives. Who reads it sets its
   * visibility timeout by its own.
   *
   * @default - none
   */
  readonly queueProps?: sqs.QueueProps;

  /**
   * Records in a batch of the stream.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long records are gathered.
   *
   * @default - not at all
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * Batches of a shard that are worked on at once, 1 to 10. The order of each aggregate is kept.
   *
   * @default 1
   */
  readonly parallelizationFactor?: number;

  /**
   * Retries of a batch that failed. What is then given up, the schedule sends.
   *
   * @default 5
   */
  readonly retryAttempts?: number;

  /**
   * Age at which a batch is given up.
   *
   * @default Duration.hours(1)
   */
  readonly maxRecordAge?: Duration;

  /**
   * Where the mapping begins when it is made.
   *
   * @default lambda.StartingPosition.TRIM_HORIZON
   */
  readonly startingPosition?: lambda.StartingPosition;

  /**
   * How often the outbox is looked through for events that the stream didn't bring: 1 query of each shard. Whole minutes,
   * up to 12 hours; the alarms of the outbox look as far back as it takes.
   *
   * @default Duration.minutes(1)
   */
  readonly sweepInterval?: Duration;

  /**
   * How old an event must be to be sent by the schedule: longer than the stream takes.
   *
   * @default Duration.minutes(1)
   */
  readonly sweepAfter?: Duration;

  /**
   * The queue that is told which batches were given up. One of this app is opened to EventBridge for the sweeps that were
   * not delivered; an imported one, or one with a key, must let `events.amazonaws.com` in itself.
   *
   * @default - a new queue
   */
  readonly existingGivenUpQueue?: sqs.IQueue;

  /**
   * What the function does, shown in the console.
   *
   * @default 'Sends the events of the outbox'
   */
  readonly description?: string;

  /**
   * When there is an alarm.
   *
   * @default - see RelayAlarmThresholds
   */
  readonly alarmThresholds?: RelayAlarmThresholds;
}

/**
 * A function that sends the events of the outbox to a bus, a topic or a queue: woken by the table's stream, and by a
 * schedule for what the stream missed. The one that the package ships, or a handler of yours made with `outboxRelay`.
 *
 * It may query, update and delete items of the table, put parked events in transactions, and send to its target. At rest it
 * costs its alarms, the one metric that a sweep that finds nothing logs, $0.30 a month, and 43,200 sweeps, about as much
 * with their traces.
 *
 * @example
 * ```ts
 * import { App, Stack, aws_events as events, aws_events_targets as targets, aws_sqs as sqs } from 'aws-cdk-lib';
 * import { OutboxRelay, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const table = new SafeWritesTable(stack, 'Table');
 * const relay = new OutboxRelay(stack, 'Relay', { table });
 * new events.Rule(stack, 'Charged', {
 *   eventBus: relay.eventBus!,
 *   eventPattern: { detailType: ['charge.created'] },
 *   targets: [new targets.SqsQueue(new sqs.Queue(stack, 'Mails'))],
 * });
 * ```
 */
export class OutboxRelay extends Construct {
  /** The function. */
  readonly function: lambda.Function;

  /** Its log group. */
  readonly logGroup: logs.ILogGroup;

  /** Its role. */
  readonly role: iam.Role;

  /** The bus that the events are sent to, where it is one. */
  readonly eventBus: events.IEventBus | undefined;

  /** The topic that the events are sent to, where it is one. */
  readonly topic: sns.ITopic | undefined;

  /** The queue that the events are sent to, where it is one. */
  readonly queue: sqs.IQueue | undefined;

  /** What feeds the function from the table's stream. */
  readonly mapping: lambda.EventSourceMapping;

  /** The schedule. */
  readonly rule: events.Rule;

  /** The queue that is told which batches were given up, and which calls of the schedule. */
  readonly givenUpQueue: sqs.IQueue;

  /** What watches it, by the names of the thresholds. */
  readonly alarms: { readonly [K in keyof RelayAlarmThresholds]?: cloudwatch.Alarm };

  constructor(scope: Construct, id: string, props: OutboxRelayProps) {
    super(scope, id);
    const { table, existingEventBus, eventBusProps, existingTopic, topicProps, existingQueue, queueProps } = props;
    refuseBoth(this, { existingEventBus, eventBusProps, existingTopic, topicProps, existingQueue, queueProps });
    if ((table as SafeWritesTable | undefined) === undefined)
      refuse(this, 'table', 'is missing: give it a SafeWritesTable');
    const streamArn = table.streamArn();
    const sweepInterval = this.checkInterval(props.sweepInterval ?? Duration.minutes(1));
    const sweepAfter = wholeNumber(
      this,
      'sweepAfter',
      secondsOf(this, 'sweepAfter', props.sweepAfter ?? Duration.minutes(1)),
      1,
      86_400,
    );

    if (existingTopic !== undefined || topicProps !== undefined) {
      this.topic = existingTopic ?? new sns.Topic(this, 'Topic', { enforceSSL: true, ...topicProps });
    } else if (existingQueue !== undefined || queueProps !== undefined) {
      this.queue = existingQueue ?? this.createQueue(queueProps!);
    } else {
      this.eventBus = existingEventBus ?? (new events.EventBus(this, 'EventBus', eventBusProps) as events.IEventBus);
    }

    for (const [prop, target] of Object.entries({ existingEventBus, existingTopic, existingQueue }))
      if (target !== undefined) refuseOtherRegion(this, prop, target);

    const handler = new KitFunction(this, 'Handler', {
      ...props,
      bundled: bundledFunctions.relay,
      description: props.description ?? 'Sends the events of the outbox',
      derivedEnvironment: {
        SAFEWRITES_PARTIAL_RESPONSES: 'true',
        SAFEWRITES_SWEEP_AFTER_SECONDS: String(sweepAfter),
        ...(this.eventBus === undefined ? {} : { SAFEWRITES_EVENT_BUS_NAME: this.eventBus.eventBusName }),
        ...(this.topic === undefined ? {} : { SAFEWRITES_TOPIC_ARN: this.topic.topicArn }),
        ...(this.queue === undefined ? {} : { SAFEWRITES_QUEUE_URL: this.queue.queueUrl }),
      },
      defaultTimeout: Duration.seconds(60),
      // A parked event is put with the transaction that marks its item.
      defaultActions: { actions: ['DeleteItem', 'Query', 'UpdateItem'], transactWrite: ['PutItem'] },
      kitKeys: bundledFunctions.relay.leadingKeys,
    });
    this.function = handler.function;
    this.logGroup = handler.logGroup;
    this.role = handler.role;
    this.grantTarget();

    this.givenUpQueue = this.givenUp(props);
    table.grantStreamRead(this.role);
    this.givenUpQueue.grant(this.role, 'sqs:SendMessage');
    this.givenUpQueue.encryptionMasterKey?.grant(this.role, 'kms:Decrypt', 'kms:GenerateDataKey');
    const { startingPosition = lambda.StartingPosition.TRIM_HORIZON } = props;
    if (startingPosition === lambda.StartingPosition.AT_TIMESTAMP)
      refuse(this, 'startingPosition', "a table's stream knows TRIM_HORIZON and LATEST only");
    const parallelizationFactor = wholeNumber(this, 'parallelizationFactor', props.parallelizationFactor ?? 1, 1, 10);
    this.checkConcurrency(props, parallelizationFactor);
    this.mapping = new lambda.EventSourceMapping(this, 'Mapping', {
      target: this.function,
      eventSourceArn: streamArn,
      startingPosition,
      batchSize: wholeNumber(this, 'batchSize', props.batchSize ?? 100, 1, 10_000),
      parallelizationFactor,
      ...(props.maxBatchingWindow === undefined ? {} : { maxBatchingWindow: props.maxBatchingWindow }),
      filters: [this.filter(table)],
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: this.retries(props.retryAttempts ?? 5),
      maxRecordAge: Duration.seconds(
        wholeNumber(
          this,
          'maxRecordAge',
          secondsOf(this, 'maxRecordAge', props.maxRecordAge ?? Duration.hours(1)),
          60,
          86_400,
        ),
      ),
      onFailure: { bind: () => ({ destination: this.givenUpQueue.queueArn }) },
    });

    this.rule = new events.Rule(this, 'Sweep', {
      description: 'Sends events of the outbox that the stream did not bring',
      schedule: events.Schedule.rate(sweepInterval),
      targets: [
        new targets.LambdaFunction(this.function, {
          // The next one does it.
          retryAttempts: 0,
          maxEventAge: Duration.minutes(1),
          deadLetterQueue: this.givenUpQueue,
        }),
      ],
    });
    const calls = new lambda.EventInvokeConfig(this, 'Calls', {
      function: this.function,
      retryAttempts: 0,
      maxEventAge: Duration.minutes(1),
    });
    const reason = 'The schedule alone calls it asynchronously, and its next call does what one did not.';
    this.alarms = this.addAlarms(props, sweepInterval);
    acknowledge(calls, { 'Serverless-LambdaAsyncFailureDestination': reason });
  }

  /** A count of the last 5 minutes, or with `Duration` how long a call took, in milliseconds. */
  metric(name: RelayMetric, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return kitMetric(this.function, name, options);
  }

  private addAlarms(props: OutboxRelayProps, sweepInterval: Duration) {
    const alarms = new AlarmMaker<keyof RelayAlarmThresholds>(this, props, props.alarmThresholds ?? {});
    const { MAXIMUM } = cloudwatch.Stats;
    // Long enough for each to hold a sweep.
    const period = Duration.seconds(Math.max(alarmPeriod.toSeconds(), 2 * sweepInterval.toSeconds()));
    addFunctionAlarms(alarms, this.function, 'the relay');
    alarms.add('iteratorAge', {
      metric: lambdaMetric(this.function, 'IteratorAge', { statistic: MAXIMUM }),
      // Lambda tells milliseconds.
      scale: 1000,
      threshold: 300,
      description: 'The relay reads the stream late; after 24 hours records are lost to it. Runbook: Iterator age.',
    });
    alarms.add('givenUp', {
      metric: depthOf(this.givenUpQueue),
      threshold: 1,
      description: 'Batches of the stream, or calls of the schedule, were given up. Runbook: Given up.',
    });
    alarms.add('parked', {
      metric: this.metric('Parked'),
      threshold: 1,
      description: 'Events can not be sent, and were parked. Runbook: Parked events.',
    });
    alarms.add('backlog', {
      metric: this.metric('OutboxBacklog', { statistic: MAXIMUM, period }),
      threshold: 100,
      description: 'Many events wait in the outbox, or sweeps have stopped. Runbook: Outbox backlog.',
      evaluationPeriods: 3,
      // Each sweep tells it, 0 too, so that it is missing where they have stopped.
      treatMissingData: cloudwatch.TreatMissingData.MISSING,
    });
    alarms.add('oldestEvent', {
      metric: this.metric('OutboxOldestAge', { statistic: MAXIMUM, period }),
      threshold: 600,
      description: 'An event waits in the outbox for long. Runbook: A stuck aggregate.',
      evaluationPeriods: 3,
    });
    return alarms.made;
  }

  private checkInterval(interval: Duration): Duration {
    const seconds = secondsOf(this, 'sweepInterval', interval);
    if (seconds < 60 || seconds % 60 !== 0)
      refuse(this, 'sweepInterval', 'must be whole minutes: EventBridge has no shorter schedule');
    if (seconds > 43_200)
      refuse(
        this,
        'sweepInterval',
        'must be 12 hours at most: its alarms look at a day at once, which must hold a sweep',
      );
    return interval;
  }

  /** A call for each poller of a shard, and the sweep, which nothing repeats. */
  private checkConcurrency({ reservedConcurrentExecutions: reserved }: OutboxRelayProps, pollers: number): void {
    if (reserved === undefined || reserved > pollers) return;
    refuse(
      this,
      'reservedConcurrentExecutions',
      `is ${reserved}, but the stream takes ${pollers} a shard (parallelizationFactor) and the sweep one, or they are throttled: make it ${pollers + 1} or more`,
    );
  }

  /** Inserts of outbox items. Removals have no new image, and are none of its business. */
  private filter({ streamShowsTypes, typeAttribute, keys }: SafeWritesTable): Record<string, unknown> {
    const dynamodb = streamShowsTypes
      ? { NewImage: { [typeAttribute]: { S: ['OUTBOX'] } } }
      : { Keys: { [keys.partitionKey]: { S: [{ prefix: 'OUTBOX#' }] } } };
    return lambda.FilterCriteria.filter({ eventName: ['INSERT'], dynamodb });
  }

  private retries(attempts: number): number {
    if (attempts === -1)
      refuse(
        this,
        'retryAttempts',
        'is infinite, so nothing would ever reach the failure destination: make it 0 to 10,000',
      );
    return wholeNumber(this, 'retryAttempts', attempts, 0, 10_000);
  }

  private givenUp({ existingGivenUpQueue: queue }: OutboxRelayProps): sqs.IQueue {
    if (queue === undefined) return lastQueue(this, 'GivenUp');
    if (queue.fifo || describeQueue(this, 'existingGivenUpQueue', queue)?.fifo === true) {
      refuse(this, 'existingGivenUpQueue', 'must be a standard queue: Lambda tells no FIFO queue');
    }
    refuseOtherRegion(this, 'existingGivenUpQueue', queue);
    if (queue.queueArn === this.queue?.queueArn) {
      refuse(
        this,
        'existingGivenUpQueue',
        'is the queue that the events are sent to, so that its consumer would take what was given up for events: take another',
      );
    }
    return queue;
  }

  private createQueue(props: sqs.QueueProps): sqs.Queue {
    const deadLetters = () => deadLetterQueue(this, 'DeadLetters', props.fifo === true ? { fifo: true } : {});
    return secureQueue(this, 'Queue', {
      ...props,
      deadLetterQueue: props.deadLetterQueue ?? { queue: deadLetters(), maxReceiveCount: 5 },
    });
  }

  private grantTarget(): void {
    this.eventBus?.grantPutEventsTo(this.role);
    if (this.topic !== undefined) this.topic.grantPublish(this.role);
    this.queue?.grant(this.role, 'sqs:SendMessage');
    this.queue?.encryptionMasterKey?.grant(this.role, 'kms:Decrypt', 'kms:GenerateDataKey');
  }
}
