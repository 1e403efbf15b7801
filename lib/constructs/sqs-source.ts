import { Duration, Lazy, Token } from 'aws-cdk-lib/core';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import { alarmPeriod } from './alarms.js';
import { depthOf } from './function-alarms.js';
import type { IngestSource } from './ingest-source.js';
import { inSeconds, refuse, refuseBoth, refuseOtherRegion, secondsOf, wholeNumber } from './invalid-prop-error.js';
import type { OrderedIngest } from './ordered-ingest.js';
import { payloadBytes, recordOverhead } from './payload.js';
import { deadLetterQueue, describeQueue, longestRetention, secureQueue } from './secure-queue.js';

/** Settings of an {@link SqsSource}. */
export interface SqsSourceProps {
  /**
   * Whether the new queue is FIFO, and its dead-letter queue with it.
   *
   * @default false
   */
  readonly fifo?: boolean;

  /**
   * The queue to read, instead of a new one. What the template says of it is checked: its visibility timeout, and that
   * what fails goes to a dead-letter queue. Of an imported queue `visibilityTimeout` and `retention` must say it.
   *
   * @default - a new queue
   */
  readonly existingQueue?: sqs.IQueue;

  /**
   * Further settings of the new queue.
   *
   * @default - encrypted by SQS, TLS only, 4 days' retention
   */
  readonly queueProps?: sqs.QueueProps;

  /**
   * The dead-letter queue of the new queue, instead of a new one; or that of an imported `existingQueue`, to be alarmed of it.
   *
   * @default - a new queue; that of an `existingQueue` of this app
   */
  readonly existingDeadLetterQueue?: sqs.IQueue;

  /**
   * Times that a message is tried before it goes to the dead-letter queue. A call that is throttled counts.
   *
   * @default 5
   */
  readonly maxReceiveCount?: number;

  /**
   * How long a message that was received stays hidden: at least six times the function's timeout, and the batching window.
   *
   * @default - that
   */
  readonly visibilityTimeout?: Duration;

  /**
   * How long an imported `existingQueue` keeps messages. Of others it is known.
   *
   * @default - known of the queue
   */
  readonly retention?: Duration;

  /**
   * Messages in a batch: at most 10 of a FIFO queue, 10,000 of others. A larger one coalesces more.
   *
   * @default 10
   */
  readonly batchSize?: number;

  /**
   * How long messages of a standard queue are gathered; needed for a `batchSize` over 10.
   *
   * @default - none; Duration.seconds(1) with a batchSize over 10
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * The largest message, in bytes. A new queue refuses larger ones. A batch of them must fit in Lambda's payload of 6 MB.
   *
   * @default - 256 KiB, or less with a large batchSize
   */
  readonly maximumMessageBytes?: number;

  /**
   * Calls of the function that the queue may take at once, from 2 on.
   *
   * @default - a fair part of the function's reservedConcurrentExecutions, where it has some
   */
  readonly maxConcurrency?: number;

  /**
   * Pollers that are always there, for a queue whose load rises fast. They cost money at rest.
   *
   * @default - none
   */
  readonly provisionedPollers?: lambda.ProvisionedPollerConfig;
}

/** A provisioned poller of a queue makes so many calls at once. */
const callsOfPoller = 10;

/**
 * A queue that an {@link OrderedIngest} reads; made by its `addSqs`. At rest Lambda polls it, for about 0.6 million
 * requests a month.
 *
 * @example
 * ```ts
 * import { App, Stack, aws_cloudwatch as cloudwatch } from 'aws-cdk-lib';
 * import { OrderedIngest, SafeWritesTable, type SqsSource } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Scores');
 * const ingest = new OrderedIngest(stack, 'Ingest', { table: new SafeWritesTable(stack, 'Table') });
 * const source: SqsSource = ingest.addSqs('Events', { batchSize: 100, maxConcurrency: 10 });
 * new cloudwatch.GraphWidget({ left: [source.queue.metricApproximateNumberOfMessagesVisible()] });
 * ```
 */
export class SqsSource extends Construct implements IngestSource {
  /** The queue. */
  readonly queue: sqs.IQueue;

  /** Where messages go that failed too often; undefined where it is not known. */
  readonly deadLetterQueue: sqs.IQueue | undefined;

  /** What feeds the function. */
  readonly mapping: lambda.EventSourceMapping;

  /** What watches the queue and its dead-letter queue. */
  readonly alarms: { readonly deadLetters?: cloudwatch.Alarm; readonly oldestMessage?: cloudwatch.Alarm };

  /** Whether the queue is FIFO. */
  readonly fifo: boolean;

  readonly partialResponses = true;
  readonly longestStaySeconds: number;
  readonly maxConcurrency: number | undefined;

  /** Whether it has pollers of its own, which `maxConcurrency` doesn't limit. */
  readonly provisioned: boolean;

  readonly pollerCalls: number;
  readonly reads: IngestSource['reads'];

  constructor(ingest: OrderedIngest, id: string, props: SqsSourceProps = {}) {
    super(ingest, id);
    const { existingQueue, queueProps, provisionedPollers } = props;
    refuseBoth(this, { existingQueue, queueProps });
    refuseBoth(this, { maxConcurrency: props.maxConcurrency, provisionedPollers });
    const found = existingQueue === undefined ? undefined : describeQueue(this, 'existingQueue', existingQueue);
    this.fifo = existingQueue === undefined ? this.isFifo(props) : (found?.fifo ?? this.isImportedFifo(existingQueue));
    if (existingQueue !== undefined && props.fifo !== undefined && props.fifo !== this.fifo) {
      refuse(this, 'fifo', `existingQueue is ${this.fifo ? '' : 'not '}FIFO: leave it out`);
    }

    const batchSize = this.checkBatch(props);
    const window = this.window(props, batchSize);
    const bytes = this.checkPayload(props, batchSize);
    const least = 6 * ingest.timeoutSeconds + (window ?? 0);
    this.checkConcurrency(ingest, props);
    this.maxConcurrency = props.maxConcurrency;
    this.provisioned = provisionedPollers !== undefined;
    this.pollerCalls =
      provisionedPollers === undefined ? 0 : (provisionedPollers.maximumPollers ?? 200) * callsOfPoller;

    let retentionSeconds: number;
    if (existingQueue === undefined) {
      this.deadLetterQueue = this.deadLetters(props);
      const { retentionPeriod = Duration.days(4) } = queueProps ?? {};
      retentionSeconds = secondsOf(this, 'queueProps', retentionPeriod);
      refuseBoth(this, {
        visibilityTimeout: props.visibilityTimeout,
        'queueProps.visibilityTimeout': queueProps?.visibilityTimeout,
      });
      const visibility = this.visibility(props.visibilityTimeout ?? queueProps?.visibilityTimeout, least);
      if (queueProps?.deadLetterQueue !== undefined)
        refuse(this, 'queueProps', 'deadLetterQueue: give it as existingDeadLetterQueue, with maxReceiveCount');
      this.queue = secureQueue(this, 'Queue', {
        ...(bytes === undefined ? {} : { maxMessageSizeBytes: bytes }),
        retentionPeriod,
        ...queueProps,
        ...(this.fifo ? { fifo: true } : {}),
        visibilityTimeout: Duration.seconds(visibility),
        deadLetterQueue: {
          queue: this.deadLetterQueue,
          maxReceiveCount: wholeNumber(this, 'maxReceiveCount', props.maxReceiveCount ?? 5, 1, 1000),
        },
      });
    } else {
      if (props.maxReceiveCount !== undefined)
        refuse(this, 'maxReceiveCount', 'is about a new queue: set it in the redrive policy of existingQueue');
      refuseOtherRegion(this, 'existingQueue', existingQueue);
      this.queue = existingQueue;
      this.deadLetterQueue = this.deadLettersOf(existingQueue, props);
      retentionSeconds = this.checkExisting(props, found, least);
    }
    const deadLetterRetention = this.deadLetterRetention();
    if (deadLetterRetention < retentionSeconds) {
      refuse(
        this,
        existingQueue === undefined ? 'existingDeadLetterQueue' : 'existingQueue',
        `${existingQueue === undefined ? '' : 'its dead-letter queue '}keeps messages for ${inSeconds(deadLetterRetention)}, less than the queue (${inSeconds(retentionSeconds)}), and their age counts on: it would lose them at once`,
      );
    }
    this.longestStaySeconds = retentionSeconds + deadLetterRetention;
    this.reads = { name: this.queue.queueArn, prop: 'existingQueue' };
    if (ingest.failureQueue.queueArn === this.queue.queueArn)
      refuse(
        ingest,
        'existingFailureQueue',
        `is what ${id} reads, so that poison would come again for ever: take another`,
      );
    ingest.admit(this);
    this.node.addValidation({ validate: () => this.readerProblems() });

    this.queue.grant(ingest.role, 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage');
    this.queue.encryptionMasterKey?.grantDecrypt(ingest.role);
    this.mapping = new lambda.EventSourceMapping(this, 'Mapping', {
      target: ingest.function,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      reportBatchItemFailures: true,
      ...(window === undefined ? {} : { maxBatchingWindow: Duration.seconds(window) }),
      ...(this.provisioned ? { provisionedPollerConfig: provisionedPollers! } : {}),
      ...(props.maxConcurrency === undefined && (this.provisioned || ingest.reservedConcurrentExecutions === undefined)
        ? {}
        : { maxConcurrency: Lazy.number({ produce: () => ingest.concurrencyOf(this) }) }),
    });
    const alarms = ingest.alarmsOf(this);
    this.alarms = alarms.made;
    if (this.deadLetterQueue !== undefined) {
      alarms.add('deadLetters', {
        metric: depthOf(this.deadLetterQueue),
        threshold: 1,
        description: 'Messages failed too often. Runbook: Dead letters.',
      });
    }
    alarms.add('oldestMessage', {
      metric: this.queue.metricApproximateAgeOfOldestMessage({
        statistic: cloudwatch.Stats.MAXIMUM,
        period: alarmPeriod,
      }),
      threshold: 900,
      description: 'Messages wait too long to be handled. Runbook: Oldest message.',
    });
    acknowledge(this.mapping, {
      'Serverless-LambdaEventSourceMappingDestination': 'What fails goes to the dead-letter queue of the queue.',
    });
  }

  /** A message goes to one of a queue's readers, and the others never learn of it. */
  private readerProblems(): string[] {
    const readers = this.node.root.node
      .findAll()
      .filter((found) => found instanceof lambda.CfnEventSourceMapping)
      .filter(({ eventSourceArn }) => eventSourceArn === this.queue.queueArn);
    if (readers.length < 2) return [];
    const paths = readers.map(({ node }) => node.path).join(', ');
    return [
      `existingQueue: is read ${readers.length} times, and a message reaches one reader only: give each a queue of its own (${paths})`,
    ];
  }

  private isFifo({ fifo, queueProps }: SqsSourceProps): boolean {
    if (fifo !== undefined && queueProps?.fifo !== undefined)
      refuseBoth(this, { fifo, 'queueProps.fifo': queueProps.fifo });
    return fifo ?? queueProps?.fifo ?? false;
  }

  private isImportedFifo(queue: sqs.IQueue): boolean {
    return queue.fifo || (!Token.isUnresolved(queue.queueName) && queue.queueName.endsWith('.fifo'));
  }

  private checkBatch({ batchSize = 10 }: SqsSourceProps): number {
    return wholeNumber(this, 'batchSize', batchSize, 1, this.fifo ? 10 : 10_000);
  }

  private window({ maxBatchingWindow }: SqsSourceProps, batchSize: number): number | undefined {
    if (maxBatchingWindow === undefined) return batchSize > 10 ? 1 : undefined;
    if (this.fifo) refuse(this, 'maxBatchingWindow', 'a FIFO queue has none: leave it out');
    const seconds = secondsOf(this, 'maxBatchingWindow', maxBatchingWindow);
    if (seconds > 300) refuse(this, 'maxBatchingWindow', 'must be 300 s at most');
    if (batchSize > 10 && seconds < 1) refuse(this, 'maxBatchingWindow', 'must be 1 s or more for a batchSize over 10');
    return seconds;
  }

  /** The size of messages that a new queue takes. */
  private checkPayload(
    { maximumMessageBytes, queueProps, existingQueue }: SqsSourceProps,
    batchSize: number,
  ): number | undefined {
    refuseBoth(this, { maximumMessageBytes, 'queueProps.maxMessageSizeBytes': queueProps?.maxMessageSizeBytes });
    const fitting = Math.floor(payloadBytes / batchSize) - recordOverhead;
    const given = maximumMessageBytes ?? queueProps?.maxMessageSizeBytes;
    if (given === undefined) {
      if (existingQueue !== undefined) return undefined;
      if (fitting < 1024) {
        return refuse(
          this,
          'batchSize',
          `${batchSize} messages of no more than 1 KiB are more than the 6 MB that Lambda takes: make it ${Math.floor(payloadBytes / 2048)} or less`,
        );
      }
      return Math.min(262_144, fitting);
    }
    const bytes = wholeNumber(this, 'maximumMessageBytes', given, 1024, 1_048_576);
    if (bytes > fitting) {
      refuse(
        this,
        'batchSize',
        `${batchSize} messages of ${bytes} bytes are more than the 6 MB that Lambda takes, so it would never be reached: ` +
          `make it ${Math.floor(payloadBytes / (bytes + recordOverhead))} or less, or maximumMessageBytes ${Math.max(fitting, 1024)} or less`,
      );
    }
    return bytes;
  }

  private checkConcurrency(ingest: OrderedIngest, { maxConcurrency, provisionedPollers }: SqsSourceProps): void {
    if (maxConcurrency !== undefined) wholeNumber(this, 'maxConcurrency', maxConcurrency, 2, 1000);
    const { minimumPollers = 2, maximumPollers = 200 } = provisionedPollers ?? {};
    if (provisionedPollers === undefined) return;
    wholeNumber(this, 'provisionedPollers.minimumPollers', minimumPollers, 2, 200);
    wholeNumber(this, 'provisionedPollers.maximumPollers', maximumPollers, minimumPollers, 2000);
    const reserved = ingest.reservedConcurrentExecutions;
    if (reserved !== undefined && reserved < maximumPollers * callsOfPoller) {
      refuse(
        this,
        'provisionedPollers',
        `${maximumPollers} pollers make up to ${maximumPollers * callsOfPoller} calls at once, but the function's reservedConcurrentExecutions are ${reserved}: ` +
          'messages would be throttled into the dead-letter queue; lower maximumPollers, or reserve more',
      );
    }
  }

  private visibility(given: Duration | undefined, least: number): number {
    if (given === undefined) return Math.ceil(least);
    const seconds = secondsOf(this, 'visibilityTimeout', given);
    if (seconds < least) {
      refuse(
        this,
        'visibilityTimeout',
        `is ${inSeconds(seconds)}, but must be ${inSeconds(least)} or more: six times the function's timeout, and the batching window`,
      );
    }
    return seconds;
  }

  private deadLetters({ existingDeadLetterQueue }: SqsSourceProps): sqs.IQueue {
    if (existingDeadLetterQueue === undefined) {
      return deadLetterQueue(this, 'DeadLetters', this.fifo ? { fifo: true } : {});
    }
    const found = describeQueue(this, 'existingDeadLetterQueue', existingDeadLetterQueue);
    const isFifo = found?.fifo ?? this.isImportedFifo(existingDeadLetterQueue);
    if (isFifo !== this.fifo) {
      refuse(
        this,
        'existingDeadLetterQueue',
        this.fifo
          ? 'must be FIFO, as the queue is: SQS takes no other'
          : 'must not be FIFO, as the queue is not: SQS takes no other',
      );
    }
    return existingDeadLetterQueue;
  }

  /** The dead-letter queue of a queue that was handed in, where the app tells it, or the props do. */
  private deadLettersOf(queue: sqs.IQueue, { existingDeadLetterQueue: named }: SqsSourceProps): sqs.IQueue | undefined {
    const known = (queue as sqs.Queue).deadLetterQueue?.queue;
    if (known === undefined || named === undefined) return named ?? known;
    const isComparable = Token.isUnresolved(known.queueArn) === Token.isUnresolved(named.queueArn);
    if (isComparable && known.queueArn !== named.queueArn)
      refuse(this, 'existingDeadLetterQueue', 'is not where existingQueue sends what fails: leave it out');
    return named;
  }

  private deadLetterRetention(): number {
    if (this.deadLetterQueue === undefined) return longestRetention.toSeconds();
    return (
      describeQueue(this, 'existingDeadLetterQueue', this.deadLetterQueue)?.retentionSeconds ??
      longestRetention.toSeconds()
    );
  }

  /** Checks what is known of a queue that was handed in, and gives how long it keeps messages. */
  private checkExisting(
    { visibilityTimeout, retention }: SqsSourceProps,
    found: ReturnType<typeof describeQueue>,
    least: number,
  ): number {
    if (found === undefined) {
      if (visibilityTimeout === undefined || retention === undefined) {
        return refuse(
          this,
          visibilityTimeout === undefined ? 'visibilityTimeout' : 'retention',
          'nothing tells it of the imported existingQueue: say what it is set to there',
        );
      }
      this.visibility(visibilityTimeout, least);
      return secondsOf(this, 'retention', retention);
    }
    refuseBoth(this, { existingQueue: true, visibilityTimeout });
    refuseBoth(this, { existingQueue: true, retention });
    if (found.visibilitySeconds < least) {
      refuse(
        this,
        'existingQueue',
        `its visibility timeout is ${inSeconds(found.visibilitySeconds)}, but must be ${inSeconds(least)} or more: six times the function's timeout, and the batching window`,
      );
    }
    if (!found.redrives) {
      refuse(
        this,
        'existingQueue',
        'has no dead-letter queue: what always fails would come again until it is lost; give it one with a maxReceiveCount of 5',
      );
    }
    return found.retentionSeconds;
  }
}
