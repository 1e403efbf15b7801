import { describe, expect, it } from 'vitest';
import type { Resource } from '../../lib/local/start/cloudformation.js';
import { stackResources } from '../../lib/local/start/stack-resources.js';

const read = (resources: Record<string, Resource>) =>
  stackResources('Shop', resources, {
    assetFolder: (key) => `/assets/${key}`,
    queueUrl: (name) => `http://127.0.0.1:1/0/${name}`,
  });

const fn: Resource = {
  Type: 'AWS::Lambda::Function',
  Properties: {
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    Code: { S3Key: 'a.zip' },
    Environment: {
      Variables: {
        URL: { Ref: 'Orders12345678' },
        NAME: { 'Fn::GetAtt': ['Orders12345678', 'QueueName'] },
        BUS: { Ref: 'Bus' },
        BUS_ARN: { 'Fn::GetAtt': ['Bus', 'Arn'] },
      },
    },
  },
};
const bus: Resource = { Type: 'AWS::Events::EventBus', Properties: { Name: 'shop' } };
const orders: Resource = {
  Type: 'AWS::SQS::Queue',
  Properties: {
    VisibilityTimeout: 180,
    RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead0A0B0C0D', 'Arn'] }, maxReceiveCount: 5 },
    Tags: [{ Key: 'a', Value: 'b' }],
  },
};
const dead: Resource = { Type: 'AWS::SQS::Queue' };
const inOrder: Resource = { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true, ContentBasedDeduplication: true } };
const table: Resource = { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [], AttributeDefinitions: [] } };
const mapping = (Properties: Resource['Properties']): Resource => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { FunctionName: { Ref: 'Fn' }, ...Properties },
});

describe('a stack’s template', () => {
  it('gives queues, with their attributes and names that can be typed', () => {
    const { queues } = read({ Orders12345678: orders, Dead0A0B0C0D: dead, InOrderAAAAAAAA: inOrder });
    expect(queues).toEqual([
      {
        name: 'Orders',
        attributes: {
          VisibilityTimeout: '180',
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:Dead',
            maxReceiveCount: 5,
          }),
        },
      },
      { name: 'Dead', attributes: {} },
      { name: 'InOrder.fifo', attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' } },
    ]);
  });

  it('tells functions where queues and buses are', () => {
    const { functions, buses } = read({ Fn: fn, Orders12345678: orders, Dead0A0B0C0D: dead, Bus: bus });
    expect(functions[0]!.environment).toEqual({
      URL: 'http://127.0.0.1:1/0/Orders',
      NAME: 'Orders',
      BUS: 'shop',
      BUS_ARN: 'arn:aws:events:us-east-1:000000000000:event-bus/shop',
    });
    expect(buses).toEqual(['shop']);
  });

  it('gives mappings of queues, streams and Kafka, but none that is disabled', () => {
    const { mappings } = read({
      Fn: fn,
      Bus: bus,
      Orders12345678: orders,
      Dead0A0B0C0D: dead,
      Table: table,
      A: mapping({
        EventSourceArn: { 'Fn::GetAtt': ['Orders12345678', 'Arn'] },
        BatchSize: 5,
        ScalingConfig: { MaximumConcurrency: 7 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      }),
      B: mapping({
        EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
        StartingPosition: 'LATEST',
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 3,
        FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
        DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['Dead0A0B0C0D', 'Arn'] } } },
      }),
      C: mapping({
        Topics: ['live'],
        SelfManagedEventSource: { Endpoints: { KafkaBootstrapServers: ['b:9092'] } },
        SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: 'group' },
      }),
      D: mapping({ EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:x', Enabled: false }),
    });
    expect(mappings).toEqual([
      {
        function: 'Shop-Fn',
        sourceArn: 'arn:aws:sqs:us-east-1:000000000000:Orders',
        topic: undefined,
        consumerGroupId: undefined,
        filters: [],
        onFailureArn: undefined,
        numbers: { BatchSize: 5, MaximumConcurrency: 7 },
        startingPosition: undefined,
        bisectBatchOnFunctionError: false,
        reportBatchItemFailures: true,
      },
      expect.objectContaining({
        sourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/Shop-Table/stream/local',
        filters: [{ eventName: ['INSERT'] }],
        onFailureArn: 'arn:aws:sqs:us-east-1:000000000000:Dead',
        numbers: { MaximumRetryAttempts: 3 },
        startingPosition: 'LATEST',
        bisectBatchOnFunctionError: true,
      }),
      expect.objectContaining({ sourceArn: undefined, topic: 'live', consumerGroupId: 'group' }),
    ]);
  });

  it('gives rules by schedule and by pattern', () => {
    const { rules } = read({
      Fn: fn,
      Bus: bus,
      Orders12345678: orders,
      Dead0A0B0C0D: dead,
      Sweep: {
        Type: 'AWS::Events::Rule',
        Properties: {
          ScheduleExpression: 'rate(1 minute)',
          State: 'ENABLED',
          Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Fn', 'Arn'] }, Input: '{"a":1}' }],
        },
      },
      Routed: {
        Type: 'AWS::Events::Rule',
        Properties: {
          EventBusName: { Ref: 'Bus' },
          EventPattern: { source: ['shop'] },
          Targets: [
            { Id: 'T', Arn: { 'Fn::GetAtt': ['Orders12345678', 'Arn'] }, SqsParameters: { MessageGroupId: 'g' } },
          ],
        },
      },
      Off: { Type: 'AWS::Events::Rule', Properties: { State: 'DISABLED', ScheduleExpression: 'rate(1 day)' } },
    });
    expect(rules).toEqual([
      {
        arn: 'arn:aws:events:us-east-1:000000000000:rule/Shop-Sweep',
        bus: 'default',
        scheduleExpression: 'rate(1 minute)',
        pattern: undefined,
        targets: [
          { arn: 'arn:aws:lambda:us-east-1:000000000000:function:Shop-Fn', input: { a: 1 }, groupId: undefined },
        ],
      },
      {
        arn: 'arn:aws:events:us-east-1:000000000000:rule/Shop-Routed',
        bus: 'shop',
        scheduleExpression: undefined,
        pattern: { source: ['shop'] },
        targets: [{ arn: 'arn:aws:sqs:us-east-1:000000000000:Orders', input: undefined, groupId: 'g' }],
      },
    ]);
  });
});
