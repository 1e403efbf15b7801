import { RemovalPolicy } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { appOptions } from '../../bin/app-options.js';

const options = (context: Record<string, unknown>) => appOptions((name) => context[name]);

const byDefault = {
  stage: 'dev',
  removalPolicy: RemovalPolicy.RETAIN,
  alarms: true,
  alarmEmail: undefined,
  dashboard: true,
  tracing: true,
  logRetentionDays: 30,
};

describe('the context of the app', () => {
  it('may be empty', () => {
    expect(options({})).toEqual(byDefault);
  });

  it('is text from the command line', () => {
    expect(
      options({
        stage: 'pr-12',
        removalPolicy: 'destroy',
        alarms: 'on',
        alarmEmail: 'team@shop.test',
        dashboard: 'off',
        tracing: 'off',
        logRetentionDays: '7',
      }),
    ).toEqual({
      stage: 'pr-12',
      removalPolicy: RemovalPolicy.DESTROY,
      alarms: true,
      alarmEmail: 'team@shop.test',
      dashboard: false,
      tracing: false,
      logRetentionDays: 7,
    });
  });

  it('may be JSON in cdk.json', () => {
    expect(options({ alarms: false, dashboard: true, logRetentionDays: 365 })).toEqual({
      ...byDefault,
      alarms: false,
      logRetentionDays: 365,
    });
  });

  it.each<[string, unknown]>([
    ...['', '1st', 'a b', 7].map((value): [string, unknown] => ['stage', value]),
    ...['keep', true].map((value): [string, unknown] => ['removalPolicy', value]),
    ...['yes', 1].map((value): [string, unknown] => ['alarms', value]),
    ['dashboard', 'true'],
    ['tracing', ''],
    ...['me', 7].map((value): [string, unknown] => ['alarmEmail', value]),
    ...['8', 'week', 0, true, [7], {}].map((value): [string, unknown] => ['logRetentionDays', value]),
  ])('refuses %s = %j', (name, value) => {
    expect(() => options({ [name]: value })).toThrow(`Context "${name}" must be`);
  });

  it('refuses an address for alarms that are off', () => {
    expect(() => options({ alarms: 'off', alarmEmail: 'team@shop.test' })).toThrow(
      'Context "alarmEmail" must be left out',
    );
  });
});
