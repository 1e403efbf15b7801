import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';

// Validation loads a rule engine for three seconds and has nothing to say about these templates.
process.env['CDK_VALIDATION'] = 'false';

/** The template of a stack that `fill` puts constructs into. */
export function templateOf(fill: (stack: Stack) => void): Template {
  const stack = new Stack(new App(), 'Test');
  fill(stack);
  return Template.fromStack(stack);
}

/** Code that stands for a bundle. */
export function anyCode(): lambda.Code {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-code-'));
  writeFileSync(join(folder, 'index.mjs'), 'export const handler = async () => ({ statusCode: 204 });\n');
  return lambda.Code.fromAsset(folder);
}

/** What the policies of a template allow: action texts and resources, by policy. */
export function statementsOf(template: Template): { Action: string | string[]; Resource: unknown }[] {
  return Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
    (policy) =>
      (policy['Properties'] as { PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] } })
        .PolicyDocument.Statement,
  );
}
