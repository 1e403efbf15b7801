import type { Stack } from 'aws-cdk-lib';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  IdempotentEndpoint,
  OrderedIngest,
  OutboxRelay,
  SafeWritesTable,
  type AlarmOptions,
  type EndpointAlarmThresholds,
} from '../../lib/constructs/index.js';
import { anyCode, templateOf } from './synth.js';

interface Alarm {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Threshold: number;
  readonly Statistic: string;
  readonly Period: number;
  readonly EvaluationPeriods: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: unknown[];
  readonly OKActions?: unknown[];
  readonly Dimensions: { readonly Name: string; readonly Value: unknown }[];
}

const alarmsIn = (template: Template): Record<string, Alarm> =>
  Object.fromEntries(
    Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      Properties as Alarm,
    ]),
  );

/** `{ alarm: 'Namespace MetricName Statistic >= threshold, periods' }` */
const inShort = (template: Template) =>
  Object.fromEntries(
    Object.entries(alarmsIn(template)).map(
      ([id, { Namespace, MetricName, Statistic, Threshold, EvaluationPeriods, ComparisonOperator }]) => {
        expect(ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
        return [id, `${Namespace} ${MetricName} ${Statistic} >= ${Threshold}, ${EvaluationPeriods} x`];
      },
    ),
  );

const common = (stack: Stack) => ({ table: new SafeWritesTable(stack, 'Table'), code: anyCode() });
const endpoint = (props: AlarmOptions & { alarmThresholds?: EndpointAlarmThresholds; functionUrl?: boolean } = {}) =>
  templateOf((stack) => new IdempotentEndpoint(stack, 'Charge', { ...common(stack), ...props }));

describe('alarms', () => {
  it('watch an endpoint', () => {
    const template = endpoint();
    expect(inShort(template)).toEqual({
      ChargeErrorsAlarm: 'AWS/Lambda Errors Sum >= 1, 1 x',
      ChargeThrottlesAlarm: 'AWS/Lambda Throttles Sum >= 1, 1 x',
      ChargeServerErrorsAlarm: 'AWS/ApiGateway 5xx Sum >= 1, 1 x',
    });
    const { ChargeErrorsAlarm, ChargeServerErrorsAlarm } = alarmsIn(template);
    expect(ChargeErrorsAlarm).toMatchObject({
      Period: 300,
      TreatMissingData: 'notBreaching',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: expect.stringMatching(/^ChargeHandlerFunction/) as string } }],
    });
    expect(ChargeServerErrorsAlarm?.Dimensions.map(({ Name }) => Name)).toEqual(['ApiId']);
    expect(inShort(endpoint({ functionUrl: true }))['ChargeServerErrorsAlarm']).toBe(
      'AWS/Lambda Url5xxCount Sum >= 1, 1 x',
    );
  });

  it('watch an ingest and each of its sources', () => {
    const template = templateOf((stack) => {
      const ingest = new OrderedIngest(stack, 'Ingest', common(stack));
      ingest.addSqs('Scores');
      const kafka = { topic: 'scores', provisionedPollers: {} };
      ingest.addMsk('Topic', { clusterArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/5a0f-7', ...kafka });
      ingest.addMsk('Other', { clusterArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/77-7', ...kafka });
    });
    const depth = 'AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x';
    expect(inShort(template)).toEqual({
      IngestErrorsAlarm: 'AWS/Lambda Errors Sum >= 1, 1 x',
      IngestThrottlesAlarm: 'AWS/Lambda Throttles Sum >= 1, 1 x',
      IngestPoisonAlarm: depth,
      IngestOffsetLagAlarm: 'AWS/Lambda OffsetLag Maximum >= 10000, 3 x',
      IngestScoresDeadLettersAlarm: depth,
      IngestScoresOldestMessageAlarm: 'AWS/SQS ApproximateAgeOfOldestMessage Maximum >= 900, 1 x',
      IngestTopicDeadLettersAlarm: depth,
      IngestOtherDeadLettersAlarm: depth,
    });
  });

  it('watch a relay, by what its sweeps say of the outbox too', () => {
    const template = templateOf((stack) => new OutboxRelay(stack, 'Relay', common(stack)));
    expect(inShort(template)).toEqual({
      RelayErrorsAlarm: 'AWS/Lambda Errors Sum >= 1, 1 x',
      RelayThrottlesAlarm: 'AWS/Lambda Throttles Sum >= 1, 1 x',
      RelayIteratorAgeAlarm: 'AWS/Lambda IteratorAge Maximum >= 300000, 1 x',
      RelayGivenUpAlarm: 'AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x',
      RelayParkedAlarm: 'SafeWrites Parked Sum >= 1, 1 x',
      RelayBacklogAlarm: 'SafeWrites OutboxBacklog Maximum >= 100, 3 x',
      RelayOldestEventAlarm: 'SafeWrites OutboxOldestAge Maximum >= 600, 3 x',
    });
    expect(alarmsIn(template)['RelayBacklogAlarm']).toMatchObject({
      TreatMissingData: 'missing',
      Dimensions: [{ Name: 'function', Value: { Ref: expect.stringMatching(/^RelayHandlerFunction/) as string } }],
    });
  });

  it('name a chapter of the runbook', () => {
    const template = templateOf((stack) => new OutboxRelay(stack, 'Relay', common(stack)));
    for (const { AlarmDescription } of Object.values(alarmsIn(template)))
      expect(AlarmDescription).toMatch(/Runbook: .+\.$/);
  });

  it('take other thresholds, and are off one by one or all', () => {
    const other = endpoint({ alarmThresholds: { errors: 5, throttles: false } });
    expect(inShort(other)).toEqual({
      ChargeErrorsAlarm: 'AWS/Lambda Errors Sum >= 5, 1 x',
      ChargeServerErrorsAlarm: 'AWS/ApiGateway 5xx Sum >= 1, 1 x',
    });
    expect(inShort(endpoint({ alarms: false }))).toEqual({});
    const relay = templateOf(
      (stack) => new OutboxRelay(stack, 'Relay', { ...common(stack), alarmThresholds: { iteratorAge: 60 } }),
    );
    expect(inShort(relay)['RelayIteratorAgeAlarm']).toContain('>= 60000,');
  });

  it('tell a topic when they begin and end', () => {
    const template = templateOf((stack) => {
      const alarmTopic = new sns.Topic(stack, 'Alarms');
      new IdempotentEndpoint(stack, 'Charge', { ...common(stack), alarmTopic });
    });
    const topic = [{ Ref: expect.stringMatching(/^Alarms/) as string }];
    for (const alarm of Object.values(alarmsIn(template)))
      expect(alarm).toMatchObject({ AlarmActions: topic, OKActions: topic });
  });

  it.each<[string, AlarmOptions & { alarmThresholds?: EndpointAlarmThresholds }, string]>([
    [
      'a threshold of nothing',
      { alarmThresholds: { errors: 0 } },
      'alarmThresholds.errors: must be a literal number over 0',
    ],
    [
      'thresholds of alarms that are off',
      { alarms: false, alarmThresholds: { errors: 2 } },
      'alarmThresholds: is about alarms, which are off',
    ],
    [
      'a topic of alarms that are off',
      { alarms: false, alarmTopic: {} as never },
      'alarmTopic: is about alarms, which are off',
    ],
  ])('refuse %s', (_, props, message) => {
    expect(() => endpoint(props)).toThrow(message);
  });
});
