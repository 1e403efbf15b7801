import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackProps } from 'aws-cdk-lib';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';

// Validation loads a rule engine for three seconds and has nothing to say about these templates.
process.env['CDK_VALIDATION'] = 'false';

/** The template of a stack that `fill` puts constructs into. */
export function templateOf(fill: (stack: Stack) => void, props: StackProps = {}): Template {
  // What `cdk init` writes into cdk.json, as far as it shows in these templates.
  const context = {
    '@aws-cdk/aws-iam:minimizePolicies': true,
    '@aws-cdk/core:enablePartitionLiterals': true,
    'aws:cdk:bundling-stacks': [],
  };
  const stack = new Stack(new App({ context }), 'Test', props);
  fill(stack);
  return Template.fromStack(stack);
}

/** Code that stands for a bundle. */
export function anyCode(): lambda.Code {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-code-'));
  writeFileSync(join(folder, 'index.mjs'), 'export const handler = async () => ({ statusCode: 204 });\n');
  return lambda.Code.fromAsset(folder);
}

/** One statement of a policy. */
export interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** What the policies of a template allow. */
export function statementsOf(template: Template): Statement[] {
  return Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
    (policy) => (policy['Properties'] as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument.Statement,
  );
}

/** The same in short: `action,action on resource`, with its condition where there is one; sorted. */
export function allowedIn(template: Template): string[] {
  return statementsOf(template)
    .map(({ Action, Resource, Condition }) => {
      const condition = Condition === undefined ? '' : ` if ${JSON.stringify(Condition)}`;
      return `${[Action].flat().join(',')} on ${[Resource].flat().map(resourceText).join(',')}${condition}`;
    })
    .sort();
}

function resourceText(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const { 'Fn::GetAtt': attribute, 'Fn::Join': join } = resource as {
    'Fn::GetAtt'?: [string, string];
    'Fn::Join'?: [string, unknown[]];
  };
  if (attribute !== undefined) return `${attribute[0].replace(/[0-9A-F]{8}$/, '')}.${attribute[1]}`;
  if (join !== undefined) return join[1].map(resourceText).join(join[0]);
  return JSON.stringify(resource);
}

/** What every function may do for itself. */
export const ownLogsAndTraces = (handler: string): string[] => [
  `logs:CreateLogStream,logs:PutLogEvents on ${handler}Logs.Arn`,
  'xray:PutTelemetryRecords,xray:PutTraceSegments on *',
];

/** The condition by which an action is allowed in transactions only. */
export const inTransactionsOnly =
  'if {"ForAnyValue:StringEquals":{"dynamodb:EnclosingOperation":["TransactWriteItems"]}}';
