import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SafeWritesStack } from '../../lib/constructs/index.js';
import { anyCode } from './synth.js';

/** A template without what changes with each build: the names of uploads. */
const stable = (template: Template): unknown =>
  JSON.parse(JSON.stringify(template.toJSON()).replace(/[0-9a-f]{64}\.zip/g, 'code.zip'));

describe('the template of the app', () => {
  it('is as it was: a change is shown in review', () => {
    const own = { code: anyCode() };
    const stack = new SafeWritesStack(new App(), 'SafeWrites', { chargeProps: own, ingestProps: own, relayProps: own });
    expect(stable(Template.fromStack(stack))).toMatchSnapshot();
  });
});
