import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { IdempotentEndpointProps } from '../../lib/constructs/index.js';
import { IdempotentEndpoint, SafeWritesTable } from '../../lib/constructs/index.js';
import { anyCode, statementsOf, templateOf } from './synth.js';

const endpoint = (props: Partial<IdempotentEndpointProps> = {}) =>
  templateOf(
    (stack) =>
      new IdempotentEndpoint(stack, 'Charge', {
        table: new SafeWritesTable(stack, 'Table'),
        code: anyCode(),
        path: '/charges',
        ...props,
      }),
  );

const tableRef = { Ref: Match.stringLikeRegexp('^Table') };

describe('IdempotentEndpoint', () => {
  it('is a Node 24 function on ARM with source maps, JSON logs and a timeout below that of the API', () => {
    endpoint().hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: 1024,
      Timeout: 10,
      Environment: {
        Variables: {
          TABLE_NAME: tableRef,
          SAFEWRITES_ROUTE: 'POST /charges',
          NODE_OPTIONS: '--enable-source-maps',
        },
      },
      LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: Match.stringLikeRegexp('Logs') } },
      TracingConfig: Match.absent(),
    });
  });

  it('keeps its logs for a month in a group of its own', () => {
    const template = endpoint();
    template.resourceCountIs('AWS::Logs::LogGroup', 1);
    template.hasResource('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 30 }, DeletionPolicy: 'Retain' });
  });

  it('takes other settings, and environment variables beside its own', () => {
    const template = endpoint({
      description: 'A charge',
      environment: { REGION_CODE: 'eu' },
      memorySize: 512,
      timeout: Duration.seconds(5),
      tracing: lambda.Tracing.ACTIVE,
      logRetention: logs.RetentionDays.ONE_WEEK,
      logRemovalPolicy: RemovalPolicy.DESTROY,
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'A charge',
      MemorySize: 512,
      Timeout: 5,
      Environment: { Variables: { TABLE_NAME: tableRef, REGION_CODE: 'eu' } },
      TracingConfig: { Mode: 'Active' },
    });
    template.hasResource('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 7 }, DeletionPolicy: 'Delete' });
  });

  it('is reached under IAM authorization, by POST and by whatever it has to refuse', () => {
    const template = endpoint();
    template.resourceCountIs('AWS::ApiGatewayV2::Route', 2);
    for (const RouteKey of ['POST /charges', '$default']) {
      template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey, AuthorizationType: 'AWS_IAM' });
    }
    template.resourceCountIs('AWS::ApiGatewayV2::Integration', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', { PayloadFormatVersion: '2.0' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { ProtocolType: 'HTTP', Name: 'Test-Charge' });
  });

  it('may write to its log group, and get, put and check items of its table', () => {
    const template = endpoint();
    const allowed = statementsOf(template).map(({ Action, Resource }) => [Action, JSON.stringify(Resource)]);
    expect(allowed).toEqual([
      [['logs:CreateLogStream', 'logs:PutLogEvents'], expect.stringMatching(/Logs\w+","Arn"/)],
      [['dynamodb:ConditionCheckItem', 'dynamodb:PutItem'], expect.stringMatching(/"Table\w+","Arn"/)],
      ['dynamodb:GetItem', expect.stringMatching(/"Table\w+","Arn"/)],
    ]);
    template.hasResourceProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });
});
