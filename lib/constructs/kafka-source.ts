import { Duration, Fn, Names, Stack, Token } from 'aws-cdk-lib/core';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { depthOf } from './function-alarms.js';
import type { IngestSource } from './ingest-source.js';
import { inSeconds, literalText, refuse, refuseOtherRegion, secondsOf, wholeNumber } from './invalid-prop-error.js';
import type { OrderedIngest } from './ordered-ingest.js';
import { payloadBytes, recordOverhead } from './payload.js';
import { describeQueue, lastQueue, longestRetention } from './secure-queue.js';

/** How a function reads a topic, whoever runs the cluster. */
export interface KafkaSourceProps {
  /** The topic. */
  readonly topic: string;

  /**
   * How long the topic keeps records. The function's `lateness` must be longer, together with the 14 days of the queue of
   * what was given up.
   *
   * @default Duration.days(7)
   */
  readonly retention?: Duration;

  /**
   * The consumer group, which keeps the offsets: with another one, reading begins at `startingPosition` again.
   *
   * @default - made of the construct's path
   */
  readonly consumerGroupId?: string;

  /**
   * Where a new consumer group begins.
   *
   * @default lambda.StartingPosition.TRIM_HORIZON
   */
  readonly startingPosition?: lambda.StartingPosition;

  /**
   * The epoch second to begin at, with `AT_TIMESTAMP`.
   *
   * @default - none
   */
  readonly startingPositionTimestamp?: number;

  /**
   * Records in a batch, at most 10,000. A larger one coalesces more.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long records are gathered.
   *
   * @default - 500 ms, to which Lambda can not be set back once it was another
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * The largest record, in bytes. A batch of them must fit in Lambda's payload of 6 MB, where they stand in base64.
   *
   * @default - not checked: Lambda ends a batch at 6 MB
   */
  readonly maximumRecordBytes?: number;

  /**
   * Pollers of your own. Only with them failures are reported per record, and retries, age and bisection can be set.
   * They cost money at rest.
   *
   * @default - none: a batch with a failure comes again as a whole
   */
  readonly provisionedPollers?: lambda.ProvisionedPollerConfig;

  /**
   * Retries of what failed, before it is given up and told to the failure destination. Only with `provisionedPollers`.
   *
   * @default 10, with provisionedPollers
   */
  readonly retryAttempts?: number;

  /**
   * Age at which what failed is given up. Only with `provisionedPollers`.
   *
   * @default Duration.days(1), with provisionedPollers
   */
  readonly maxRecordAge?: Duration;

  /**
   * Whether a batch that failed is tried in halves. Only with `provisionedPollers`.
   *
   * @default true, with provisionedPollers
   */
  readonly bisectBatchOnError?: boolean;

  /**
   * The queue that is told what was given up: topic, partition and offsets, not the records.
   *
   * @default - a new queue
   */
  readonly existingGivenUpQueue?: sqs.IQueue;
}

/** Settings of a {@link KafkaSource} of Amazon MSK. */
export interface MskSourceProps extends KafkaSourceProps {
  /** The cluster's ARN. */
  readonly clusterArn: string;

  /**
   * The secret with a user name and a password for SASL/SCRAM.
   *
   * @default - IAM authentication
   */
  readonly scramSecret?: secretsmanager.ISecret;
}

/** Settings of a {@link KafkaSource} of a cluster that somebody else runs. */
export interface SelfManagedKafkaSourceProps extends KafkaSourceProps {
  /** Brokers to begin with, as `host:port`. */
  readonly bootstrapServers: string[];

  /**
   * The secret that the function's poller signs in with.
   *
   * @default - none, which only brokers in your own network can do without
   */
  readonly secret?: secretsmanager.ISecret;

  /**
   * What the secret is for.
   *
   * @default SASL_SCRAM_512_AUTH, where there is a secret
   */
  readonly authentication?: lambda.SourceAccessConfigurationType;

  /**
   * The certificate authority of brokers whose certificates are of a private one.
   *
   * @default - none
   */
  readonly rootCaCertificate?: secretsmanager.ISecret;

  /**
   * The subnets to reach the brokers from.
   *
   * @default - the brokers are reached over the internet
   */
  readonly subnets?: ec2.ISubnet[];

  /**
   * The security group to reach the brokers with. Needed with `subnets`.
   *
   * @default - none
   */
  readonly securityGroup?: ec2.ISecurityGroup;
}

/** What is particular to a cluster. */
interface Cluster {
  readonly name: string;
  readonly mapping: Partial<lambda.EventSourceMappingOptions>;
  readonly access: lambda.SourceAccessConfiguration[];
  readonly statements: (groupId: string) => iam.PolicyStatement[];
  readonly secrets: readonly secretsmanager.ISecret[];
}

/** The network interfaces of a poller in a network of yours. */
const networkActions = [
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSecurityGroups',
  'ec2:DescribeSubnets',
  'ec2:DescribeVpcs',
];

const networkStatement = () => new iam.PolicyStatement({ actions: networkActions, resources: ['*'] });

/**
 * A topic that an {@link OrderedIngest} reads; made by its `addMsk` and `addSelfManagedKafka`. It costs nothing at rest
 * without `provisionedPollers`.
 *
 * @example
 * ```ts
 * import { App, Stack } from 'aws-cdk-lib';
 * import { OrderedIngest, SafeWritesTable, type KafkaSource } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Scores');
 * const ingest = new OrderedIngest(stack, 'Ingest', { table: new SafeWritesTable(stack, 'Table') });
 * const source: KafkaSource = ingest.addMsk('Scores', {
 *   clusterArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/5a0f-7',
 *   topic: 'scores',
 *   provisionedPollers: { minimumPollers: 1, maximumPollers: 4 },
 * });
 * ```
 */
export class KafkaSource extends Construct implements IngestSource {
  /** Used by `OrderedIngest.addMsk`. */
  static msk(ingest: OrderedIngest, id: string, props: MskSourceProps): KafkaSource {
    return new KafkaSource(ingest, id, props, (scope) => mskCluster(scope, props));
  }

  /** Used by `OrderedIngest.addSelfManagedKafka`. */
  static selfManaged(ingest: OrderedIngest, id: string, props: SelfManagedKafkaSourceProps): KafkaSource {
    return new KafkaSource(ingest, id, props, (scope) => selfManagedCluster(scope, props));
  }

  /** What feeds the function. */
  readonly mapping: lambda.EventSourceMapping;

  /** The queue that is told what was given up. */
  readonly givenUpQueue: sqs.IQueue;

  /** What watches the queue of what was given up. */
  readonly alarms: { readonly deadLetters?: cloudwatch.Alarm };

  /** The topic. */
  readonly topic: string;

  /** The consumer group. */
  readonly consumerGroupId: string;

  readonly partialResponses: boolean;
  readonly longestStaySeconds: number;
  readonly pollerCalls: number;
  readonly reads: IngestSource['reads'];

  private constructor(
    ingest: OrderedIngest,
    id: string,
    props: KafkaSourceProps,
    clusterOf: (scope: Construct) => Cluster,
  ) {
    super(ingest, id);
    const { provisionedPollers, existingGivenUpQueue, startingPosition = lambda.StartingPosition.TRIM_HORIZON } = props;
    this.topic = literalText(this, 'topic', props.topic);
    if (!/^[\w.-]{1,249}$/.test(this.topic))
      refuse(this, 'topic', 'must be 1 to 249 letters, digits, dots, underscores and hyphens');
    if (ingest.timeoutSeconds > 840)
      refuse(ingest, 'timeout', `is ${inSeconds(ingest.timeoutSeconds)}, but for Kafka must be 840 s at most`);
    this.partialResponses = provisionedPollers !== undefined;
    this.consumerGroupId = props.consumerGroupId ?? Names.uniqueResourceName(this, { maxLength: 200, separator: '-' });
    if (!Token.isUnresolved(this.consumerGroupId) && !/^[\w/*:+=.@-]{1,200}$/.test(this.consumerGroupId)) {
      refuse(this, 'consumerGroupId', 'must be 1 to 200 letters, digits and characters of -/*:_+=.@');
    }
    if (
      (startingPosition === lambda.StartingPosition.AT_TIMESTAMP) !==
      (props.startingPositionTimestamp !== undefined)
    ) {
      refuse(this, 'startingPositionTimestamp', 'goes with startingPosition AT_TIMESTAMP, and only with it');
    }
    const batchSize = wholeNumber(this, 'batchSize', props.batchSize ?? 100, 1, 10_000);
    this.checkPayload(props, batchSize);
    this.checkPollers(ingest, props);
    const retries = this.retries(props);
    const cluster = clusterOf(this);

    this.givenUpQueue = existingGivenUpQueue ?? lastQueue(this, 'GivenUp');
    const found = existingGivenUpQueue && describeQueue(this, 'existingGivenUpQueue', existingGivenUpQueue);
    if (found?.fifo === true || existingGivenUpQueue?.fifo === true)
      refuse(this, 'existingGivenUpQueue', 'must be a standard queue: Lambda tells no FIFO queue');
    if (existingGivenUpQueue !== undefined) refuseOtherRegion(this, 'existingGivenUpQueue', existingGivenUpQueue);
    this.longestStaySeconds =
      secondsOf(this, 'retention', props.retention ?? Duration.days(7)) +
      (found?.retentionSeconds ?? longestRetention.toSeconds());
    this.pollerCalls = provisionedPollers === undefined ? 0 : (provisionedPollers.maximumPollers ?? 200);
    this.reads = { name: [cluster.name, this.topic, props.consumerGroupId].join(' '), prop: 'topic' };
    ingest.admit(this);

    for (const secret of cluster.secrets) {
      secret.grantRead(ingest.role);
    }
    for (const statement of cluster.statements(this.consumerGroupId)) ingest.role.addToPolicy(statement);
    this.givenUpQueue.grant(ingest.role, 'sqs:SendMessage');
    this.givenUpQueue.encryptionMasterKey?.grant(ingest.role, 'kms:Decrypt', 'kms:GenerateDataKey');
    this.mapping = new lambda.EventSourceMapping(this, 'Mapping', {
      target: ingest.function,
      ...cluster.mapping,
      ...(cluster.access.length === 0 ? {} : { sourceAccessConfigurations: cluster.access }),
      kafkaTopic: this.topic,
      kafkaConsumerGroupId: this.consumerGroupId,
      startingPosition,
      ...(props.startingPositionTimestamp === undefined
        ? {}
        : { startingPositionTimestamp: props.startingPositionTimestamp }),
      batchSize,
      ...(props.maxBatchingWindow === undefined ? {} : { maxBatchingWindow: props.maxBatchingWindow }),
      onFailure: { bind: () => ({ destination: this.givenUpQueue.queueArn }) },
      ...(provisionedPollers === undefined
        ? {}
        : { provisionedPollerConfig: provisionedPollers, reportBatchItemFailures: true, ...retries }),
    });
    const alarms = ingest.alarmsOf(this);
    this.alarms = alarms.made;
    alarms.add('deadLetters', {
      metric: depthOf(this.givenUpQueue),
      threshold: 1,
      description: 'Records of a topic were given up. Runbook: Given up.',
    });
  }

  private checkPayload({ maximumRecordBytes }: KafkaSourceProps, batchSize: number): void {
    if (maximumRecordBytes === undefined) return;
    const encoded =
      (wholeNumber(this, 'maximumRecordBytes', maximumRecordBytes, 1, payloadBytes) * 4) / 3 + recordOverhead;
    const most = Math.floor(payloadBytes / encoded);
    if (most < 1)
      refuse(
        this,
        'maximumRecordBytes',
        `is ${maximumRecordBytes}, but base64 makes that more than the 6 MB that Lambda takes: such a record could never be read`,
      );
    if (batchSize <= most) return;
    refuse(
      this,
      'batchSize',
      `${batchSize} records of ${maximumRecordBytes} bytes are more than the 6 MB that Lambda takes, so it would never be reached: make it ${most} or less`,
    );
  }

  private checkPollers(
    { reservedConcurrentExecutions: reserved }: OrderedIngest,
    { provisionedPollers }: KafkaSourceProps,
  ): void {
    if (provisionedPollers === undefined) return;
    const { minimumPollers = 1, maximumPollers = 200 } = provisionedPollers;
    wholeNumber(this, 'provisionedPollers.minimumPollers', minimumPollers, 1, 200);
    wholeNumber(this, 'provisionedPollers.maximumPollers', maximumPollers, minimumPollers, 2000);
    if (reserved !== undefined && reserved < maximumPollers) {
      refuse(
        this,
        'provisionedPollers',
        `${maximumPollers} pollers are more than the function's reservedConcurrentExecutions of ${reserved}, so they would be throttled: lower maximumPollers, or reserve more`,
      );
    }
  }

  /** Both must end: what is given up late, or never, holds up its partition. */
  private retries(props: KafkaSourceProps): Partial<lambda.EventSourceMappingOptions> {
    const { provisionedPollers, retryAttempts, maxRecordAge, bisectBatchOnError } = props;
    if (provisionedPollers === undefined) {
      for (const [name, value] of Object.entries({ retryAttempts, maxRecordAge, bisectBatchOnError })) {
        if (value !== undefined)
          refuse(this, name, 'Lambda takes it with provisionedPollers only: add those, or leave it out');
      }
      return {};
    }
    if (retryAttempts === -1)
      refuse(
        this,
        'retryAttempts',
        'is infinite, so nothing would ever reach the failure destination: make it 0 to 10,000',
      );
    return {
      retryAttempts: wholeNumber(this, 'retryAttempts', retryAttempts ?? 10, 0, 10_000),
      maxRecordAge: Duration.seconds(
        wholeNumber(
          this,
          'maxRecordAge',
          secondsOf(this, 'maxRecordAge', maxRecordAge ?? Duration.days(1)),
          60,
          604_800,
        ),
      ),
      bisectBatchOnError: bisectBatchOnError ?? true,
    };
  }
}

function mskCluster(scope: Construct, { clusterArn, topic, scramSecret }: MskSourceProps): Cluster {
  if (!Token.isUnresolved(clusterArn) && !/^arn:[\w-]+:kafka:[\w-]+:\d{12}:cluster\/.+\/.+$/.test(clusterArn)) {
    refuse(scope, 'clusterArn', 'is no ARN of an MSK cluster');
  }
  checkPlace(scope, clusterArn);
  if (scramSecret !== undefined) refuseOtherRegion(scope, 'scramSecret', scramSecret);
  // arn:…:cluster/{name}/{id} becomes arn:…:topic/{name}/{id}/{topic}
  const beside = (kind: string) =>
    Token.isUnresolved(clusterArn)
      ? Fn.join(`:${kind}/`, Fn.split(':cluster/', clusterArn))
      : clusterArn.replace(':cluster/', `:${kind}/`);
  const onCluster = (...actions: string[]) => new iam.PolicyStatement({ actions, resources: [clusterArn] });
  return {
    name: clusterArn,
    mapping: { eventSourceArn: clusterArn },
    access:
      scramSecret === undefined
        ? []
        : [{ type: lambda.SourceAccessConfigurationType.SASL_SCRAM_512_AUTH, uri: scramSecret.secretArn }],
    secrets: scramSecret === undefined ? [] : [scramSecret],
    statements: (groupId) => [
      onCluster('kafka:DescribeCluster', 'kafka:DescribeClusterV2', 'kafka:GetBootstrapBrokers'),
      networkStatement(),
      ...(scramSecret === undefined
        ? [
            onCluster('kafka-cluster:Connect', 'kafka-cluster:DescribeClusterDynamicConfiguration'),
            new iam.PolicyStatement({
              actions: ['kafka-cluster:DescribeTopic', 'kafka-cluster:ReadData'],
              resources: [`${beside('topic')}/${topic}`],
            }),
            new iam.PolicyStatement({
              actions: ['kafka-cluster:AlterGroup', 'kafka-cluster:DescribeGroup'],
              resources: [`${beside('group')}/${groupId}`],
            }),
          ]
        : []),
    ],
  };
}

/** A function reads a cluster of its own Region and account only, as far as they are known. */
function checkPlace(scope: Construct, clusterArn: string): void {
  if (Token.isUnresolved(clusterArn)) return;
  const [, , , region, account] = clusterArn.split(':');
  const own = Stack.of(scope);
  for (const [what, of, ofOwn] of [
    ['Region', region, own.region],
    ['account', account, own.account],
  ] as const) {
    if (Token.isUnresolved(ofOwn) || of === ofOwn) continue;
    refuse(
      scope,
      'clusterArn',
      `is in the ${what} ${of}, but its function is in ${ofOwn}: put the stack where the cluster is`,
    );
  }
}

function selfManagedCluster(scope: Construct, props: SelfManagedKafkaSourceProps): Cluster {
  const { bootstrapServers, secret, authentication, rootCaCertificate, subnets = [], securityGroup } = props;
  if (
    bootstrapServers.length === 0 ||
    bootstrapServers.some((server) => !Token.isUnresolved(server) && !/^[^\s:]+:\d+$/.test(server))
  ) {
    refuse(scope, 'bootstrapServers', 'must be brokers as host:port, at least one');
  }
  if (secret === undefined && subnets.length === 0) {
    refuse(
      scope,
      'secret',
      'is needed for brokers that are reached over the internet; or name the subnets that they are reached from',
    );
  }
  if (authentication !== undefined && secret === undefined)
    refuse(scope, 'authentication', 'says what the secret is for, and there is none');
  if ((securityGroup === undefined) !== (subnets.length === 0))
    refuse(scope, 'securityGroup', 'goes with subnets, and only with them');
  for (const [prop, given] of Object.entries({ secret, rootCaCertificate }))
    if (given !== undefined) refuseOtherRegion(scope, prop, given);
  const { SASL_SCRAM_512_AUTH, SERVER_ROOT_CA_CERTIFICATE, VPC_SECURITY_GROUP, VPC_SUBNET } =
    lambda.SourceAccessConfigurationType;
  return {
    name: bootstrapServers.toSorted().join(),
    mapping: { kafkaBootstrapServers: bootstrapServers },
    access: [
      ...(secret === undefined ? [] : [{ type: authentication ?? SASL_SCRAM_512_AUTH, uri: secret.secretArn }]),
      ...(rootCaCertificate === undefined
        ? []
        : [{ type: SERVER_ROOT_CA_CERTIFICATE, uri: rootCaCertificate.secretArn }]),
      ...subnets.map(({ subnetId }) => ({ type: VPC_SUBNET, uri: subnetId })),
      ...(securityGroup === undefined ? [] : [{ type: VPC_SECURITY_GROUP, uri: securityGroup.securityGroupId }]),
    ],
    secrets: [secret, rootCaCertificate].filter((found) => found !== undefined),
    statements: () => (subnets.length === 0 ? [] : [networkStatement()]),
  };
}
