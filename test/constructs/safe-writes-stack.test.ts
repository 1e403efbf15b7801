import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { App, RemovalPolicy } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SafeWritesStackProps } from '../../lib/constructs/index.js';
import { SafeWritesStack } from '../../lib/constructs/index.js';
import { buildLambdas } from '../../scripts/build-lambdas.mjs';
import './synth.js';

const stack = (props?: SafeWritesStackProps) => new SafeWritesStack(new App(), 'SafeWrites-test', props);

describe('SafeWritesStack', () => {
  beforeAll(() => buildLambdas());

  it('holds one table, the charge and its API', () => {
    const template = Template.fromStack(stack());
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 1);
    template.resourceCountIs('AWS::Lambda::Function', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey: 'POST /charges' });
    template.hasOutput('TableName', {});
    template.hasOutput('ChargesUrl', {});
  });

  it('uploads the bundle that the package ships', () => {
    const app = new App();
    new SafeWritesStack(app, 'SafeWrites-test');
    const { directory } = app.synth();
    const [asset] = readdirSync(directory).filter((name) => name.startsWith('asset.'));
    expect(readdirSync(join(directory, asset!))).toEqual(readdirSync('dist/lambdas/charge'));
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
      stack({ tableProps: { tableName: 'shop' }, functionProps: { memorySize: 2048 } }),
    );
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', { TableName: 'shop' });
    template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: 2048 });
  });

  it('has every part as a member', () => {
    const { table, charge } = stack();
    expect([table.table, charge.function, charge.api, charge.route, charge.logGroup, charge.role]).not.toContain(
      undefined,
    );
  });
});
