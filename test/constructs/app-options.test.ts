import { RemovalPolicy } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { appOptions } from '../../bin/app-options.js';

const options = (context: Record<string, unknown>) => appOptions((name) => context[name]);

describe('the context of the app', () => {
  it('may be empty', () => {
    expect(options({})).toEqual({ stage: 'dev', removalPolicy: RemovalPolicy.RETAIN });
  });

  it('names a stage and lets the data go', () => {
    expect(options({ stage: 'pr-12', removalPolicy: 'destroy' })).toEqual({
      stage: 'pr-12',
      removalPolicy: RemovalPolicy.DESTROY,
    });
  });

  it.each([{ stage: '' }, { stage: '1st' }, { stage: 'a b' }, { stage: 7 }])('refuses the stage in %j', (context) => {
    expect(() => options(context)).toThrow('Context "stage" must be');
  });

  it.each([{ removalPolicy: 'keep' }, { removalPolicy: true }])('refuses the policy in %j', (context) => {
    expect(() => options(context)).toThrow('Context "removalPolicy" must be');
  });
});
