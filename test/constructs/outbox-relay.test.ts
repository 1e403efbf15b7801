import { App, Duration, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { OutboxRelayProps, SafeWritesTableProps } from '../../lib/constructs/index.js';
import { OutboxRelay, SafeWritesTable } from '../../lib/constructs/index.js';
import { allowedIn, anyCode, inTransactionsOnly, ownLogsAndTraces, templateOf } from './synth.js';

const relay = (
  props: Partial<OutboxRelayProps> = {},
  tableProps: (stack: Stack) => SafeWritesTableProps = () => ({}),
) =>
  templateOf(
    (stack) =>
      new OutboxRelay(stack, 'Relay', {
        table: new SafeWritesTable(stack, 'Table', tableProps(stack)),
        code: anyCode(),
        ...props,
      }),
  );

const mapping = 'AWS::Lambda::EventSourceMapping';

/** What a relay to this target may do. */
const allowed = (target: string) =>
  [
    'dynamodb:DeleteItem,dynamodb:Query,dynamodb:UpdateItem on Table.Arn',
    'dynamodb:DescribeStream,dynamodb:GetRecords,dynamodb:GetShardIterator,dynamodb:ListStreams on Table.StreamArn',
    `dynamodb:PutItem on Table.Arn ${inTransactionsOnly}`,
    ...ownLogsAndTraces('RelayHandler'),
    ...(target.startsWith('sqs') ? [] : ['sqs:SendMessage on RelayGivenUp.Arn']),
    target,
  ].sort();

describe('OutboxRelay', () => {
  it('is woken by inserts of outbox items, reports failures, and gives up at last', () => {
    const template = relay();
    template.resourceCountIs(mapping, 1);
    template.hasResourceProperties(mapping, {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^Table'), 'StreamArn'] },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 100,
      ParallelizationFactor: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 5,
      MaximumRecordAgeInSeconds: 3600,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^RelayGivenUp'), 'Arn'] } },
      },
      FilterCriteria: {
        Filters: [
          { Pattern: JSON.stringify({ eventName: ['INSERT'], dynamodb: { NewImage: { _type: { S: ['OUTBOX'] } } } }) },
        ],
      },
    });
  });

  it('filters by the type attribute of the table', () => {
    const [found] = Object.values(relay({}, () => ({ typeAttribute: 'kind' })).findResources(mapping));
    expect(JSON.stringify(found)).toContain('\\"kind\\":{\\"S\\":[\\"OUTBOX\\"]}');
  });

  it('filters by key where the stream shows no images', () => {
    const template = relay({}, (stack) => ({
      existingTable: new dynamodb.TableV2(stack, 'Mine', {
        partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
        sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
        timeToLiveAttribute: 'ttl',
        dynamoStream: dynamodb.StreamViewType.KEYS_ONLY,
      }) as dynamodb.ITable,
    }));
    const [found] = Object.values(template.findResources(mapping));
    expect(JSON.stringify(found)).toContain('\\"Keys\\":{\\"pk\\":{\\"S\\":[{\\"prefix\\":\\"OUTBOX#\\"}]}}');
  });

  it('is called each minute for what the stream missed, without retries', () => {
    const template = relay();
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [
        Match.objectLike({
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^RelayGivenUp'), 'Arn'] } },
        }),
      ],
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', { MaximumRetryAttempts: 0 });
    template.hasResourceProperties('AWS::Lambda::Permission', { Principal: 'events.amazonaws.com' });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Timeout: 60,
      Environment: { Variables: { SAFEWRITES_PARTIAL_RESPONSES: 'true', SAFEWRITES_SWEEP_AFTER_SECONDS: '60' } },
    });
  });

  it('sends to a bus of its own', () => {
    const template = relay();
    template.resourceCountIs('AWS::Events::EventBus', 1);
    expect(allowedIn(template)).toEqual(allowed('events:PutEvents on RelayEventBus.Arn'));
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          SAFEWRITES_EVENT_BUS_NAME: { Ref: Match.stringLikeRegexp('^RelayEventBus') },
          SAFEWRITES_TOPIC_ARN: Match.absent(),
          SAFEWRITES_QUEUE_URL: Match.absent(),
        },
      },
    });
  });

  it('sends to a new topic, reached by TLS only', () => {
    const template = relay({ topicProps: { fifo: true } });
    template.hasResourceProperties('AWS::SNS::Topic', { FifoTopic: true });
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })],
      },
    });
    expect(allowedIn(template)).toEqual(allowed('sns:Publish on {"Ref":"RelayTopic03BD6692"}'));
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          SAFEWRITES_TOPIC_ARN: { Ref: Match.stringLikeRegexp('^RelayTopic') },
          SAFEWRITES_EVENT_BUS_NAME: Match.absent(),
        },
      },
    });
    template.resourceCountIs('AWS::Events::EventBus', 0);
  });

  it('sends to a new queue', () => {
    const template = relay({ queueProps: { fifo: true } });
    template.hasResourceProperties('AWS::SQS::Queue', { FifoQueue: true, SqsManagedSseEnabled: true });
    expect(allowedIn(template)).toEqual(allowed('sqs:SendMessage on RelayGivenUp.Arn,RelayQueue.Arn'));
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { SAFEWRITES_QUEUE_URL: { Ref: Match.stringLikeRegexp('^RelayQueue') } } },
    });
  });

  it.each<[string, (stack: Stack) => Partial<OutboxRelayProps>, string]>([
    [
      'bus',
      (stack) => ({ existingEventBus: events.EventBus.fromEventBusName(stack, 'B', 'main') }),
      'events:PutEvents on ',
    ],
    ['topic', (stack) => ({ existingTopic: new sns.Topic(stack, 'T') }), 'sns:Publish on {"Ref":"T'],
    ['queue', (stack) => ({ existingQueue: new sqs.Queue(stack, 'Q') }), 'sqs:SendMessage on Q'],
  ])('sends to a %s that is there already', (_, target, grant) => {
    const template = templateOf(
      (stack) =>
        new OutboxRelay(stack, 'Relay', {
          table: new SafeWritesTable(stack, 'Table'),
          code: anyCode(),
          ...target(stack),
        }),
    );
    expect(allowedIn(template).join('\n')).toContain(grant);
  });

  it('takes other settings', () => {
    const template = relay({
      batchSize: 10,
      parallelizationFactor: 4,
      retryAttempts: 0,
      maxRecordAge: Duration.minutes(5),
      maxBatchingWindow: Duration.seconds(2),
      startingPosition: lambda.StartingPosition.LATEST,
      sweepInterval: Duration.minutes(5),
      sweepAfter: Duration.minutes(2),
    });
    template.hasResourceProperties(mapping, {
      BatchSize: 10,
      ParallelizationFactor: 4,
      MaximumRetryAttempts: 0,
      MaximumRecordAgeInSeconds: 300,
      MaximumBatchingWindowInSeconds: 2,
      StartingPosition: 'LATEST',
    });
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { SAFEWRITES_SWEEP_AFTER_SECONDS: '120' } },
    });
  });

  const queue = () => new sqs.Queue(new Stack(new App(), 'Other'), 'Q', { fifo: true });

  it.each<[string, Partial<OutboxRelayProps>, string]>([
    ['two targets', { topicProps: {}, queueProps: {} }, 'topicProps: is given together with queueProps: leave one'],
    [
      'a bus twice',
      { existingEventBus: {} as never, eventBusProps: {} },
      'existingEventBus: is given together with eventBusProps',
    ],
    ['retries without end', { retryAttempts: -1 }, 'retryAttempts: is infinite'],
    [
      'an age over what the stream keeps',
      { maxRecordAge: Duration.days(2) },
      'maxRecordAge: must be a whole number from 60 to 86400',
    ],
    ['a schedule of seconds', { sweepInterval: Duration.seconds(30) }, 'sweepInterval: must be whole minutes'],
    [
      'a FIFO queue for what was given up',
      { existingGivenUpQueue: queue() },
      'existingGivenUpQueue: must be a standard queue',
    ],
    ['eleven batches at once', { parallelizationFactor: 11 }, 'parallelizationFactor: must be'],
    [
      'a second target by environment',
      { environment: { SAFEWRITES_EVENT_BUS_NAME: 'x' } },
      'environment: SAFEWRITES_EVENT_BUS_NAME is set',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => relay(props)).toThrow(message);
  });

  const arn = (service: string, region: string, name: string) => `arn:aws:${service}:${region}:111122223333:${name}`;

  it.each<[string, (stack: Stack) => Partial<OutboxRelayProps>]>([
    ['by object', (stack) => ({ existingQueue: new sqs.Queue(stack, 'Q') })],
    ['by ARN', (stack) => ({ existingQueue: sqs.Queue.fromQueueArn(stack, 'Q', arn('sqs', 'eu-west-1', 'q')) })],
  ])('refuses to tell the queue of its events what was given up, known %s', (_, props) => {
    const made = (stack: Stack, again: (first: sqs.IQueue) => sqs.IQueue) => {
      const given = props(stack);
      return new OutboxRelay(stack, 'Relay', {
        ...{ table: new SafeWritesTable(stack, 'Table'), code: anyCode(), ...given },
        existingGivenUpQueue: again(given.existingQueue!),
      });
    };
    expect(() => templateOf((stack) => made(stack, (first) => first))).toThrow(
      'Relay: existingGivenUpQueue: is the queue that the events are sent to',
    );
    expect(() =>
      templateOf((stack) => made(stack, ({ queueArn }) => sqs.Queue.fromQueueArn(stack, 'Again', queueArn))),
    ).toThrow('existingGivenUpQueue: is the queue that the events are sent to');
  });

  it.each<[string, (stack: Stack) => Partial<OutboxRelayProps>]>([
    [
      'existingEventBus',
      (stack) => ({
        existingEventBus: events.EventBus.fromEventBusArn(stack, 'B', arn('events', 'us-east-1', 'event-bus/b')),
      }),
    ],
    ['existingTopic', (stack) => ({ existingTopic: sns.Topic.fromTopicArn(stack, 'T', arn('sns', 'us-east-1', 't')) })],
    ['existingQueue', (stack) => ({ existingQueue: sqs.Queue.fromQueueArn(stack, 'Q', arn('sqs', 'us-east-1', 'q')) })],
    [
      'existingGivenUpQueue',
      (stack) => ({ existingGivenUpQueue: sqs.Queue.fromQueueArn(stack, 'Q', arn('sqs', 'us-east-1', 'q')) }),
    ],
  ])('refuses a target of another Region: %s', (prop, props) => {
    const fill = (stack: Stack) =>
      new OutboxRelay(stack, 'Relay', {
        table: new SafeWritesTable(stack, 'Table'),
        code: anyCode(),
        ...props(stack),
      });
    expect(() => templateOf(fill, { env: { region: 'eu-west-1', account: '111122223333' } })).toThrow(
      `Relay: ${prop}: is in us-east-1, but its function is in eu-west-1`,
    );
    // A stack of any Region does not know.
    expect(() => templateOf(fill)).not.toThrow();
  });

  it('refuses a table without stream, and one whose stream shows no new items', () => {
    const over = (dynamoStream?: dynamodb.StreamViewType) =>
      relay({}, (stack) => ({
        existingTable: new dynamodb.TableV2(stack, 'Mine', {
          partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
          sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
          timeToLiveAttribute: 'ttl',
          ...(dynamoStream === undefined ? {} : { dynamoStream }),
        }) as dynamodb.ITable,
      }));
    expect(() => over()).toThrow('Table: existingTable: has no stream');
    expect(() => over(dynamodb.StreamViewType.OLD_IMAGE)).toThrow('existingTable: its stream shows old images only');
  });

  it('refuses a third reader of a stream, whoever adds it', () => {
    const readers = (count: number) =>
      templateOf((stack) => {
        const table = new SafeWritesTable(stack, 'Table');
        for (let i = 0; i < count; i++) new OutboxRelay(stack, `Relay${i}`, { table, code: anyCode() });
      });
    readers(2).resourceCountIs(mapping, 2);
    expect(() => readers(3)).toThrow('3 functions and pipes read the stream of one table');
    const withPipe = () =>
      templateOf((stack) => {
        const table = new SafeWritesTable(stack, 'Table');
        for (let i = 0; i < 2; i++) new OutboxRelay(stack, `Relay${i}`, { table, code: anyCode() });
        new CfnPipe(stack, 'Pipe', { source: table.streamArn(), target: 'arn', roleArn: 'arn' });
      });
    expect(withPipe).toThrow('3 functions and pipes read the stream of one table');
  });

  it('watches the outbox over periods that hold a sweep, however rare they are', () => {
    const alarm = (metric: string, sweepInterval?: Duration) =>
      Object.values(
        relay(sweepInterval === undefined ? {} : { sweepInterval }).findResources('AWS::CloudWatch::Alarm', {
          Properties: { MetricName: metric },
        }),
      ).map(({ Properties }) => (Properties as { Period: number }).Period);
    for (const metric of ['OutboxBacklog', 'OutboxOldestAge']) {
      expect(alarm(metric)).toEqual([300]);
      expect(alarm(metric, Duration.hours(1))).toEqual([7200]);
    }
  });

  it('says that sweeps have stopped to whom it tells of alarms', () => {
    const template = templateOf((stack) => {
      const alarmTopic = new sns.Topic(stack, 'Alarms');
      new OutboxRelay(stack, 'Relay', { table: new SafeWritesTable(stack, 'Table'), code: anyCode(), alarmTopic });
    });
    const told = template.findResources('AWS::CloudWatch::Alarm', {
      Properties: { InsufficientDataActions: Match.anyValue() },
    });
    expect(Object.values(told).map(({ Properties }) => (Properties as { MetricName: string }).MetricName)).toEqual([
      'OutboxBacklog',
    ]);
  });

  it('encrypts a new queue with a key of yours', () => {
    const template = templateOf((stack) => {
      const encryptionMasterKey = new kms.Key(stack, 'Key');
      const table = new SafeWritesTable(stack, 'Table');
      new OutboxRelay(stack, 'Relay', { table, code: anyCode(), queueProps: { encryptionMasterKey } });
    });
    template.hasResourceProperties('AWS::SQS::Queue', {
      KmsMasterKeyId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^Key'), 'Arn'] },
      SqsManagedSseEnabled: Match.absent(),
    });
  });

  it.each<[string, Partial<OutboxRelayProps>, string]>([
    [
      'fewer calls than the stream and the sweep take',
      { reservedConcurrentExecutions: 4, parallelizationFactor: 4 },
      'reservedConcurrentExecutions: is 4, but the stream takes 4 a shard (parallelizationFactor) and the sweep one',
    ],
    [
      'a position that a stream has not',
      { startingPosition: lambda.StartingPosition.AT_TIMESTAMP },
      "startingPosition: a table's stream knows TRIM_HORIZON and LATEST only",
    ],
    ['a sweep a day', { sweepInterval: Duration.days(1) }, 'sweepInterval: must be 12 hours at most'],
    ['no table', { table: undefined as never }, 'table: is missing'],
  ])('refuses %s, naming the prop', (_, props, message) => {
    expect(() => relay(props)).toThrow(message);
  });

  it('takes one call more than the pollers of a shard', () => {
    relay({ reservedConcurrentExecutions: 5, parallelizationFactor: 4 }).hasResourceProperties(
      'AWS::Lambda::Function',
      {
        ReservedConcurrentExecutions: 5,
      },
    );
  });
});
