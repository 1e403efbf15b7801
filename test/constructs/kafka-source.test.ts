import type { Environment } from 'aws-cdk-lib';
import { App, Duration, Stack, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { MskSourceProps, OrderedIngestProps, SelfManagedKafkaSourceProps } from '../../lib/constructs/index.js';
import { OrderedIngest, SafeWritesTable } from '../../lib/constructs/index.js';
import { allowedIn, anyCode, templateOf } from './synth.js';

const clusterArn = 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/5a0f-7';
const mapping = 'AWS::Lambda::EventSourceMapping';
const provisionedPollers = { minimumPollers: 1, maximumPollers: 4 };

const ingestIn = (stack: Stack, props: Partial<OrderedIngestProps> = {}) =>
  new OrderedIngest(stack, 'Ingest', { table: new SafeWritesTable(stack, 'Table'), code: anyCode(), ...props });

const msk = (source: Partial<MskSourceProps> = {}, props: Partial<OrderedIngestProps> = {}) =>
  templateOf((stack) => ingestIn(stack, props).addMsk('Scores', { clusterArn, topic: 'scores', ...source }));

const selfManaged = (source: (stack: Stack) => Partial<SelfManagedKafkaSourceProps>) =>
  templateOf((stack) =>
    ingestIn(stack).addSelfManagedKafka('Scores', {
      bootstrapServers: ['b1.test:9096'],
      topic: 'scores',
      ...source(stack),
    }),
  );

const mskIn = (env: Environment, source: (stack: Stack) => Partial<MskSourceProps> = () => ({})) =>
  templateOf((stack) => ingestIn(stack).addMsk('Scores', { clusterArn, topic: 'scores', ...source(stack) }), { env });

const secretIn = (stack: Stack, id = 'Secret') => new secretsmanager.Secret(stack, id) as secretsmanager.ISecret;

describe('OrderedIngest of Kafka', () => {
  it('refuses a cluster of another Region or account, where it is known', () => {
    const [, , , region, account] = clusterArn.split(':') as [string, string, string, string, string];
    expect(() => mskIn({ region: 'us-east-1', account })).toThrow(
      `clusterArn: is in the Region ${region}, but its function is in us-east-1: put the stack where the cluster is`,
    );
    expect(() => mskIn({ region, account: '999999999999' })).toThrow('clusterArn: is in the account');
    expect(() => mskIn({ region, account })).not.toThrow();
    expect(() => mskIn({ region })).not.toThrow();
    expect(() => mskIn({ region: 'us-east-1' }, () => ({ clusterArn: Token.asString({ Ref: 'P' }) }))).not.toThrow();
  });

  it('refuses secrets and a queue of another Region', () => {
    const [, , , region, account] = clusterArn.split(':') as [string, string, string, string, string];
    const far = (service: string, name: string) => `arn:aws:${service}:us-east-1:${account}:${name}`;
    const secret = (stack: Stack) =>
      secretsmanager.Secret.fromSecretCompleteArn(stack, 'Far', far('secretsmanager', 'secret:AmazonMSK_s-abcdef'));
    const env = { region, account };
    expect(() => mskIn(env, (stack) => ({ scramSecret: secret(stack) }))).toThrow('scramSecret: is in us-east-1');
    expect(() =>
      mskIn(env, (stack) => ({ existingGivenUpQueue: sqs.Queue.fromQueueArn(stack, 'Q', far('sqs', 'q')) })),
    ).toThrow('existingGivenUpQueue: is in us-east-1');
    expect(() =>
      templateOf(
        (stack) =>
          ingestIn(stack).addSelfManagedKafka('Scores', {
            ...{ bootstrapServers: ['b1.test:9096'], topic: 'scores', secret: secret(stack) },
          }),
        { env },
      ),
    ).toThrow('secret: is in us-east-1');
  });

  it('reads a topic of MSK with a consumer group of its own, and tells a queue what was given up', () => {
    const template = msk();
    template.hasResourceProperties(mapping, {
      EventSourceArn: clusterArn,
      Topics: ['scores'],
      AmazonManagedKafkaEventSourceConfig: { ConsumerGroupId: Match.stringLikeRegexp('Scores') },
      BatchSize: 100,
      StartingPosition: 'TRIM_HORIZON',
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^IngestScoresGivenUp'), 'Arn'] } },
      },
    });
  });

  it('reports no failures per record without pollers of its own, and the function knows it', () => {
    const template = msk();
    template.hasResourceProperties(mapping, {
      FunctionResponseTypes: Match.absent(),
      MaximumRetryAttempts: Match.absent(),
      BisectBatchOnFunctionError: Match.absent(),
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { SAFEWRITES_PARTIAL_RESPONSES: 'false' } },
    });
  });

  it('reports them with pollers, and gives up after finite retries and a day', () => {
    const template = msk({ provisionedPollers });
    template.hasResourceProperties(mapping, {
      ProvisionedPollerConfig: { MinimumPollers: 1, MaximumPollers: 4 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 86_400,
      BisectBatchOnFunctionError: true,
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { SAFEWRITES_PARTIAL_RESPONSES: 'true' } },
    });
  });

  it('may read the topic as its group by IAM, whether or not the cluster is known by now', () => {
    const common = (cluster: string, topic: string, group: string) => [
      `kafka-cluster:Connect,kafka-cluster:DescribeClusterDynamicConfiguration,kafka:DescribeCluster,kafka:DescribeClusterV2,kafka:GetBootstrapBrokers on ${cluster}`,
      `kafka-cluster:AlterGroup,kafka-cluster:DescribeGroup on ${group}`,
      `kafka-cluster:DescribeTopic,kafka-cluster:ReadData on ${topic}`,
    ];
    const base = 'arn:aws:kafka:eu-west-1:111122223333';
    const allowed = allowedIn(msk({ consumerGroupId: 'live' }));
    expect(allowed).toEqual(
      expect.arrayContaining(
        common(`${base}:cluster/main/5a0f-7`, `${base}:topic/main/5a0f-7/scores`, `${base}:group/main/5a0f-7/live`),
      ),
    );
    expect(allowed.filter((line) => line.endsWith('on *'))).toEqual([
      expect.stringMatching(/^ec2:CreateNetworkInterface,.*,xray:PutTelemetryRecords,xray:PutTraceSegments on \*$/),
    ]);
    const late = JSON.stringify(
      msk({ clusterArn: Token.asString({ Ref: 'Cluster' }), consumerGroupId: 'live' }).findResources(
        'AWS::IAM::Policy',
      ),
    );
    expect(late).toContain('"Fn::Split":[":cluster/",{"Ref":"Cluster"}]');
  });

  it('signs in with a secret instead', () => {
    const template = templateOf((stack) =>
      ingestIn(stack).addMsk('Scores', { clusterArn, topic: 'scores', scramSecret: secretIn(stack) }),
    );
    template.hasResourceProperties(mapping, {
      SourceAccessConfigurations: [{ Type: 'SASL_SCRAM_512_AUTH', URI: { Ref: Match.stringLikeRegexp('^Secret') } }],
    });
    const allowed = allowedIn(template).join('\n');
    expect(allowed).toContain('secretsmanager:DescribeSecret,secretsmanager:GetSecretValue on {"Ref":"Secret');
    expect(allowed).not.toContain('kafka-cluster');
  });

  it('reads a cluster of somebody else over the internet, with a secret', () => {
    const template = selfManaged((stack) => ({ secret: secretIn(stack), rootCaCertificate: secretIn(stack, 'Ca') }));
    template.hasResourceProperties(mapping, {
      SelfManagedEventSource: { Endpoints: { KafkaBootstrapServers: ['b1.test:9096'] } },
      Topics: ['scores'],
      SourceAccessConfigurations: [
        { Type: 'SASL_SCRAM_512_AUTH', URI: { Ref: Match.stringLikeRegexp('^Secret') } },
        { Type: 'SERVER_ROOT_CA_CERTIFICATE', URI: { Ref: Match.stringLikeRegexp('^Ca') } },
      ],
      SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: Match.anyValue() },
    });
    expect(allowedIn(template).filter((line) => line.endsWith('on *'))).toEqual([
      'xray:PutTelemetryRecords,xray:PutTraceSegments on *',
    ]);
  });

  it('reads a cluster in a network of yours', () => {
    const template = selfManaged((stack) => ({
      subnets: [ec2.Subnet.fromSubnetId(stack, 'Subnet', 'subnet-1')],
      securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-1'),
    }));
    template.hasResourceProperties(mapping, {
      SourceAccessConfigurations: [
        { Type: 'VPC_SUBNET', URI: 'subnet-1' },
        { Type: 'VPC_SECURITY_GROUP', URI: 'sg-1' },
      ],
    });
    expect(allowedIn(template).join()).toContain('ec2:CreateNetworkInterface');
  });

  it('reads Kafka and SQS in one function where both report failures per record, and refuses it where one does not', () => {
    const both = (pollers: object) =>
      templateOf((stack) => {
        const ingest = ingestIn(stack);
        ingest.addSqs('Queue');
        ingest.addMsk('Topic', { clusterArn, topic: 'scores', ...pollers });
      });
    both({ provisionedPollers }).resourceCountIs(mapping, 2);
    expect(() => both({})).toThrow('Topic: provisionedPollers: Kafka without them reports no failures per record');
  });

  const elsewhere = () => new Stack(new App(), 'Other');

  it.each<[string, Partial<MskSourceProps>, string]>([
    [
      'what is no cluster',
      { clusterArn: 'arn:aws:kafka:eu-west-1:1:topic/x' },
      'clusterArn: is no ARN of an MSK cluster',
    ],
    ['what is no topic', { topic: 'a b' }, 'topic: must be 1 to 249'],
    ['a topic that is not known', { topic: Token.asString({ Ref: 'P' }) }, 'topic: is known only at deploy'],
    ['what is no group', { consumerGroupId: 'a b' }, 'consumerGroupId: must be'],
    ['retries without pollers', { retryAttempts: 3 }, 'retryAttempts: Lambda takes it with provisionedPollers only'],
    [
      'an age without pollers',
      { maxRecordAge: Duration.hours(1) },
      'maxRecordAge: Lambda takes it with provisionedPollers only',
    ],
    ['halves without pollers', { bisectBatchOnError: true }, 'bisectBatchOnError: Lambda takes it'],
    ['retries without end', { provisionedPollers, retryAttempts: -1 }, 'retryAttempts: is infinite'],
    [
      'an age of 30 seconds',
      { provisionedPollers, maxRecordAge: Duration.seconds(30) },
      'maxRecordAge: must be a whole number from 60',
    ],
    [
      'a start at no time',
      { startingPosition: lambda.StartingPosition.AT_TIMESTAMP },
      'startingPositionTimestamp: goes with',
    ],
    ['a time without start', { startingPositionTimestamp: 1 }, 'startingPositionTimestamp: goes with'],
    [
      'batches that can not fit',
      { maximumRecordBytes: 1_000_000 },
      'batchSize: 100 records of 1000000 bytes are more than the 6 MB that Lambda takes, so it would never be reached: make it 4',
    ],
    ['records that can not fit', { maximumRecordBytes: 5_000_000 }, 'maximumRecordBytes: is 5000000, but base64'],
    [
      'a FIFO queue for what was given up',
      { existingGivenUpQueue: new sqs.Queue(elsewhere(), 'Q', { fifo: true }) },
      'existingGivenUpQueue: must be a standard queue',
    ],
    [
      'a topic that keeps records too long',
      { retention: Duration.days(17) },
      'lateness: is 30 days, but Scores and the queue of its failures keep an event for up to 31',
    ],
  ])('refuses %s', (_, source, message) => {
    expect(() => msk(source)).toThrow(message);
  });

  it.each<[string, Partial<OrderedIngestProps>, string]>([
    [
      'a timeout of 15 minutes',
      { timeout: Duration.minutes(15) },
      'timeout: is 900 s, but for Kafka must be 840 s at most',
    ],
    ['more pollers than calls', { reservedConcurrentExecutions: 3 }, 'provisionedPollers: 4 pollers are more than'],
  ])('refuses %s', (_, props, message) => {
    expect(() => msk({ provisionedPollers }, props)).toThrow(message);
  });

  it.each<[string, (stack: Stack) => Partial<SelfManagedKafkaSourceProps>, string]>([
    ['no brokers', () => ({ bootstrapServers: [] }), 'bootstrapServers: must be brokers'],
    ['a broker without port', () => ({ bootstrapServers: ['b1'] }), 'bootstrapServers: must be brokers'],
    ['brokers that let everyone in', () => ({}), 'secret: is needed'],
    [
      'authentication with nothing',
      () => ({ authentication: lambda.SourceAccessConfigurationType.BASIC_AUTH, subnets: [] }),
      'secret: is needed',
    ],
    [
      'subnets without security group',
      (stack) => ({ subnets: [ec2.Subnet.fromSubnetId(stack, 'Subnet', 's')] }),
      'securityGroup: goes with subnets',
    ],
  ])('refuses %s', (_, source, message) => {
    expect(() => selfManaged(source)).toThrow(message);
  });

  it('counts the pollers of all topics against what is reserved', () => {
    const two = (reservedConcurrentExecutions: number) =>
      templateOf((stack) => {
        const ingest = ingestIn(stack, { reservedConcurrentExecutions });
        for (const topic of ['scores', 'goals']) ingest.addMsk(topic, { clusterArn, topic, provisionedPollers });
        ingest.addSqs('Queue');
      });
    expect(() => two(9)).toThrow('reservedConcurrentExecutions: 9 are too few for its sources, which take up to 10');
    two(12).hasResourceProperties(mapping, { ScalingConfig: { MaximumConcurrency: 4 } });
  });

  it('refuses a topic that it reads already, unless another consumer group is to read it again', () => {
    const twice = (again: Partial<MskSourceProps>) =>
      templateOf((stack) => {
        const ingest = ingestIn(stack);
        ingest.addMsk('Scores', { clusterArn, topic: 'scores' });
        ingest.addMsk('Again', { clusterArn, topic: 'scores', ...again });
      });
    expect(() => twice({})).toThrow('Again: topic: is a source of this ingest already');
    twice({ consumerGroupId: 'again' }).resourceCountIs(mapping, 2);
  });
});
