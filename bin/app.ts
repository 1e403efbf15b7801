import { App } from 'aws-cdk-lib/core';
import { Tracing } from 'aws-cdk-lib/aws-lambda';
import { SafeWritesStack } from '../lib/constructs/index.js';
import { appOptions } from './app-options.js';

const app = new App();
const options = appOptions((name) => app.node.tryGetContext(name) as unknown);
const { stage, removalPolicy, alarms, alarmEmail, dashboard, tracing, logRetentionDays } = options;

new SafeWritesStack(app, `SafeWrites-${stage}`, {
  description: `safewrites, stage ${stage}`,
  removalPolicy,
  alarms,
  ...(alarmEmail === undefined ? {} : { alarmEmail }),
  dashboard,
  functionProps: { tracing: tracing ? Tracing.ACTIVE : Tracing.DISABLED, logRetention: logRetentionDays },
  tags: { app: 'safewrites', stage },
});
