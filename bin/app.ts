import { App } from 'aws-cdk-lib';
import { SafeWritesStack } from '../lib/constructs/index.js';
import { appOptions } from './app-options.js';

const app = new App();
const { stage, removalPolicy } = appOptions((name) => app.node.tryGetContext(name) as unknown);

new SafeWritesStack(app, `SafeWrites-${stage}`, {
  description: `safewrites, stage ${stage}`,
  removalPolicy,
  tags: { app: 'safewrites', stage },
});
