import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SafeWritesStackProps } from '../../lib/constructs/index.js';
import { SafeWritesStack } from '../../lib/constructs/index.js';
import { buildLambdas } from '../../scripts/build-lambdas.mjs';
import './synth.js';

const stack = (props?: SafeWritesStackProps) => new SafeWritesStack(new App(), 'SafeWrites-test', props);

describe('SafeWritesStack', () => {
  beforeAll(() => buildLambdas());

  it('holds one table, the charge and its API, the ingest and its two queues, and the relay to a bus', () => {
    const template = Template.fromStack(stack());
    const counts = {
      'AWS::DynamoDB::GlobalTable': 1,
      'AWS::Lambda::Function': 3,
      'AWS::Lambda::EventSourceMapping': 3,
      'AWS::ApiGatewayV2::Api': 1,
      'AWS::ApiGatewayV2::Route': 2,
      'AWS::SQS::Queue': 6,
      'AWS::SQS::QueuePolicy': 6,
      'AWS::Events::EventBus': 1,
      'AWS::Events::Rule': 1,
      'AWS::Logs::LogGroup': 4,
      'AWS::IAM::Role': 3,
    };
    for (const [type, count] of Object.entries(counts)) template.resourceCountIs(type, count);
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey: 'POST /charges' });
    for (const name of ['TableName', 'ChargesUrl', 'EventsQueueUrl', 'EventsInOrderQueueUrl', 'EventBusName']) {
      template.hasOutput(name, {});
    }
  });

  it('uploads the bundles that the package ships', () => {
    const app = new App();
    new SafeWritesStack(app, 'SafeWrites-test');
    const { directory } = app.synth();
    const uploaded = readdirSync(directory).filter((name) => name.startsWith('asset.'));
    const text = (folder: string) => readFileSync(join(folder, 'index.mjs'), 'utf8');
    expect(new Set(uploaded.map((name) => text(join(directory, name))))).toEqual(
      new Set(['charge', 'ingest', 'relay'].map((name) => text(join('dist/lambdas', name)))),
    );
  });

  it('sends the events elsewhere when told', () => {
    const template = Template.fromStack(stack({ relayProps: { queueProps: {} } }));
    template.resourceCountIs('AWS::Events::EventBus', 0);
    template.hasOutput('QueueUrl', {});
    Template.fromStack(stack({ relayProps: { topicProps: {} } })).hasOutput('TopicArn', {});
  });

  it('keeps table and logs by default, and lets both go when told', () => {
    const policies = (template: Template) =>
      ['AWS::DynamoDB::GlobalTable', 'AWS::Logs::LogGroup'].map(
        (type) => (Object.values(template.findResources(type))[0] as { DeletionPolicy: string }).DeletionPolicy,
      );
    expect(policies(Template.fromStack(stack()))).toEqual(['Retain', 'Retain']);
    expect(policies(Template.fromStack(stack({ removalPolicy: RemovalPolicy.DESTROY })))).toEqual(['Delete', 'Delete']);
  });

  it('passes settings on to the table and the functions', () => {
    const template = Template.fromStack(
      stack({
        tableProps: { tableName: 'shop' },
        functionProps: { memorySize: 2048 },
        chargeProps: { timeout: Duration.seconds(7) },
        ingestProps: { timeout: Duration.seconds(8) },
        relayProps: { timeout: Duration.seconds(9) },
      }),
    );
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', { TableName: 'shop' });
    for (const Timeout of [7, 8, 9]) {
      template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: 2048, Timeout });
    }
  });

  it('shows what becomes of calls and events on one dashboard, with the alarms of all parts', () => {
    const template = Template.fromStack(stack());
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    const body = JSON.stringify(template.findResources('AWS::CloudWatch::Dashboard'));
    const metrics = [
      ...['Committed', 'Replayed', 'Refused', 'Mismatch', 'Conflict', 'Invalid', 'Unavailable', 'Failed'],
      ...['Applied', 'AlreadyStored', 'Superseded', 'Ignored', 'Poison', 'Unfinished'],
      ...['Published', 'PublishFailures', 'Parked', 'OutboxBacklog', 'OutboxOldestAge', 'IteratorAge'],
    ];
    expect(metrics.filter((name) => !body.includes(`\\"${name}\\"`))).toEqual([]);
    const alarms = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms).toHaveLength(17);
    expect(alarms.filter((id) => !body.includes(id))).toEqual([]);
  });

  it('goes without alarms and dashboard when told', () => {
    const template = Template.fromStack(stack({ alarms: false, dashboard: false }));
    template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
  });

  it('tells an address of its alarms', () => {
    const template = Template.fromStack(stack({ alarmEmail: 'team@shop.test' }));
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'team@shop.test' });
    template.allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [{ Ref: Match.stringLikeRegexp('^Alarms') }],
    });
    expect(() => stack({ alarmEmail: 'me' })).toThrow('alarmEmail: must be an address');
    expect(() => stack({ alarmEmail: 'a@b', alarmTopic: {} as never })).toThrow(
      'alarmTopic: is given together with alarmEmail',
    );
  });

  it('has every part as a member', () => {
    const { table, charge, ingest, relay, events, eventsInOrder } = stack();
    const parts = [
      ...[table.table, table.newTable],
      ...[charge.function, charge.api, charge.route, charge.fallback, charge.stage, charge.logGroup, charge.role],
      ...[ingest.function, ingest.failureQueue, ingest.logGroup, ingest.role],
      ...[events, eventsInOrder].flatMap((source) => [source.queue, source.deadLetterQueue, source.mapping]),
      ...[relay.function, relay.eventBus, relay.mapping, relay.rule, relay.givenUpQueue, relay.logGroup, relay.role],
    ];
    expect(parts).not.toContain(undefined);
    expect(ingest.sources).toEqual([events, eventsInOrder]);
  });

  it('lets a part go without alarms, or log to a group that is there, beside what is said of all', () => {
    const app = new App();
    const existingLogGroup = logs.LogGroup.fromLogGroupName(new Stack(app, 'Other'), 'Logs', 'charges');
    const template = Template.fromStack(
      new SafeWritesStack(app, 'SafeWrites-test', {
        alarmEmail: 'team@shop.test',
        removalPolicy: RemovalPolicy.DESTROY,
        chargeProps: { alarms: false, existingLogGroup },
      }),
    );
    template.resourceCountIs('AWS::CloudWatch::Alarm', 14);
    template.resourceCountIs('AWS::Logs::LogGroup', 3);
    expect(() => stack({ alarms: false, alarmEmail: 'team@shop.test' })).toThrow(
      'SafeWrites-test: alarmEmail: is about alarms, which are off',
    );
    expect(() => stack({ alarmEmail: Token.asString({ Ref: 'Mail' }) })).not.toThrow();
  });
});
