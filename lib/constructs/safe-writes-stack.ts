import type { RemovalPolicy, StackProps } from 'aws-cdk-lib/core';
import { CfnOutput, Stack, Token } from 'aws-cdk-lib/core';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import type { AlarmOptions } from './alarms.js';
import type { IdempotentEndpointProps } from './idempotent-endpoint.js';
import { IdempotentEndpoint } from './idempotent-endpoint.js';
import { refuse, refuseBoth } from './invalid-prop-error.js';
import type { KitFunctionOptions } from './kit-function.js';
import type { OrderedIngestProps } from './ordered-ingest.js';
import { OrderedIngest } from './ordered-ingest.js';
import type { OutboxRelayProps } from './outbox-relay.js';
import { OutboxRelay } from './outbox-relay.js';
import { SafeWritesDashboard } from './safe-writes-dashboard.js';
import type { SafeWritesTableProps } from './safe-writes-table.js';
import { SafeWritesTable } from './safe-writes-table.js';
import type { SqsSource } from './sqs-source.js';

/** Settings of a {@link SafeWritesStack}. */
export interface SafeWritesStackProps extends StackProps, AlarmOptions {
  /**
   * What happens to the table and the logs when they leave the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Further settings of the table.
   *
   * @default - those of SafeWritesTable
   */
  readonly tableProps?: SafeWritesTableProps;

  /**
   * Settings of all functions.
   *
   * @default - those of each function
   */
  readonly functionProps?: KitFunctionOptions;

  /**
   * Further settings of the charge.
   *
   * @default - those of IdempotentEndpoint
   */
  readonly chargeProps?: Partial<Omit<IdempotentEndpointProps, 'table'>>;

  /**
   * Further settings of the ingest.
   *
   * @default - those of OrderedIngest
   */
  readonly ingestProps?: Partial<Omit<OrderedIngestProps, 'table'>>;

  /**
   * Further settings of the relay, its target among them.
   *
   * @default - those of OutboxRelay: a bus of its own
   */
  readonly relayProps?: Partial<Omit<OutboxRelayProps, 'table'>>;

  /**
   * Whether there is a dashboard.
   *
   * @default true
   */
  readonly dashboard?: boolean;

  /**
   * Who is told of alarms by mail, through a new topic. The address must confirm it first.
   *
   * @default - nobody
   */
  readonly alarmEmail?: string;
}

/**
 * The deployable app: one table; the sample charge behind `POST /charges`; the sample ingest of live matches behind a
 * standard and a FIFO queue; and the relay, which sends the charge's events to a bus.
 *
 * @example
 * ```ts
 * import { App, RemovalPolicy } from 'aws-cdk-lib';
 * import { SafeWritesStack } from 'safewrites/cdk';
 *
 * new SafeWritesStack(new App(), 'SafeWrites-try', { removalPolicy: RemovalPolicy.DESTROY });
 * ```
 */
export class SafeWritesStack extends Stack {
  /** The table that everything is written to. */
  readonly table: SafeWritesTable;

  /** The charge's endpoint. */
  readonly charge: IdempotentEndpoint;

  /** The ingest of live matches. */
  readonly ingest: OrderedIngest;

  /** The standard queue that the ingest reads. */
  readonly events: SqsSource;

  /** The FIFO queue that the ingest reads. */
  readonly eventsInOrder: SqsSource;

  /** The relay of the charge's events. */
  readonly relay: OutboxRelay;

  /** The topic that is told of alarms, where there is one. */
  readonly alarmTopic: sns.ITopic | undefined;

  /** The dashboard, unless it is off. */
  readonly dashboard: SafeWritesDashboard | undefined;

  constructor(scope: Construct, id: string, props: SafeWritesStackProps = {}) {
    const { removalPolicy, tableProps, functionProps, chargeProps, ingestProps, relayProps, ...rest } = props;
    const { alarms, alarmTopic, alarmEmail, dashboard = true, ...stackProps } = rest;
    super(scope, id, stackProps);
    refuseBoth(this, { alarmTopic, alarmEmail });
    for (const [name, value] of Object.entries({ alarmTopic, alarmEmail })) {
      if (alarms === false && value !== undefined)
        refuse(this, name, 'is about alarms, which are off (alarms: false): leave one of the two');
    }
    this.alarmTopic = alarmEmail === undefined ? alarmTopic : this.mailTo(alarmEmail);
    this.table = new SafeWritesTable(this, 'Table', {
      ...(removalPolicy === undefined || tableProps?.existingTable !== undefined ? {} : { removalPolicy }),
      ...tableProps,
    });
    // What a part says of itself goes before what is said of all: its group has its own removal policy, its alarms may be off.
    const common = (own: Partial<KitFunctionOptions & AlarmOptions> = {}) => ({
      ...(removalPolicy === undefined || (own.existingLogGroup ?? functionProps?.existingLogGroup) !== undefined
        ? {}
        : { logRemovalPolicy: removalPolicy }),
      ...functionProps,
      ...(alarms === undefined ? {} : { alarms }),
      ...(this.alarmTopic === undefined || own.alarms === false ? {} : { alarmTopic: this.alarmTopic }),
      table: this.table,
    });
    this.charge = new IdempotentEndpoint(this, 'Charge', {
      ...common(chargeProps),
      description: 'Charges a customer once per Idempotency-Key',
      ...chargeProps,
    });
    this.ingest = new OrderedIngest(this, 'Ingest', {
      ...common(ingestProps),
      description: 'Keeps the newest state of live matches',
      ...ingestProps,
    });
    this.events = this.ingest.addSqs('Events');
    this.eventsInOrder = this.ingest.addSqs('EventsInOrder', { fifo: true });
    this.relay = new OutboxRelay(this, 'Relay', { ...common(relayProps), ...relayProps });

    if (dashboard) {
      this.dashboard = new SafeWritesDashboard(this, 'Dashboard', {
        endpoints: [this.charge],
        ingests: [this.ingest],
        relays: [this.relay],
      });
    }

    const output = (name: string, value: string, description: string) =>
      new CfnOutput(this, name, { value, description });
    output('TableName', this.table.table.tableName, 'The DynamoDB table');
    output('ChargesUrl', this.charge.url, 'POST here, by default signed with IAM credentials that may invoke it');
    output('EventsQueueUrl', this.events.queue.queueUrl, 'Send scores and statuses of matches here, in any order');
    output('EventsInOrderQueueUrl', this.eventsInOrder.queue.queueUrl, 'The same as FIFO, by match as message group');
    const { eventBus, topic, queue } = this.relay;
    if (eventBus !== undefined) output('EventBusName', eventBus.eventBusName, 'Events of charges arrive here');
    if (topic !== undefined) output('TopicArn', topic.topicArn, 'Events of charges arrive here');
    if (queue !== undefined) output('QueueUrl', queue.queueUrl, 'Events of charges arrive here');
  }

  private mailTo(alarmEmail: string): sns.ITopic {
    if (!Token.isUnresolved(alarmEmail) && !/^[^\s@]+@[^\s@]+$/.test(alarmEmail))
      refuse(this, 'alarmEmail', 'must be an address such as team@example.com');
    const topic = new sns.Topic(this, 'Alarms', { enforceSSL: true });
    const subscription = topic.addSubscription(new EmailSubscription(alarmEmail));
    acknowledge(subscription, {
      'Serverless-SNSRedrivePolicy': 'A mail that is not delivered leaves the alarm in CloudWatch.',
    });
    return topic;
  }
}
