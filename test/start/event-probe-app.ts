import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { build } from 'esbuild';
import { SafeWritesTable } from '../../lib/constructs/index.js';

process.env['CDK_VALIDATION'] = 'false';

/** Synthesizes an app of queues, a stream, a bus and rules around one function, and gives the folder. */
export async function synthesizeEventProbeApp(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-sources-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'fixtures/event-probe.ts')],
    outfile: join(folder, 'code/index.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const app = new App({ outdir: join(folder, 'cdk.out') });
  const stack = new Stack(app, 'Probe');
  const table = new SafeWritesTable(stack, 'Table').table;
  const bus = new events.EventBus(stack, 'Bus', { eventBusName: 'probes' });
  const seen = new sqs.Queue(stack, 'Seen');
  const dead = new sqs.Queue(stack, 'Dead');
  const visibilityTimeout = Duration.seconds(6);
  const queue = new sqs.Queue(stack, 'Work', {
    visibilityTimeout,
    deadLetterQueue: { queue: dead, maxReceiveCount: 1 },
  });
  const fifo = new sqs.Queue(stack, 'WorkInOrder', { fifo: true, visibilityTimeout, queueName: 'work.fifo' });
  const given = new sqs.Queue(stack, 'GivenUp');
  const fn = new lambda.Function(stack, 'Probe', {
    runtime: lambda.Runtime.NODEJS_24_X,
    code: lambda.Code.fromAsset(join(folder, 'code')),
    handler: 'index.handler',
    timeout: Duration.seconds(6),
    environment: { TABLE_NAME: table.tableName, SEEN_QUEUE_URL: seen.queueUrl, BUS_NAME: bus.eventBusName },
  });
  fn.addEventSource(new SqsEventSource(queue, { batchSize: 5, reportBatchItemFailures: true }));
  fn.addEventSource(new SqsEventSource(fifo, { reportBatchItemFailures: true }));
  fn.addEventSource(
    new DynamoEventSource(table, {
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: 10,
      retryAttempts: 0,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: new SqsDlq(given),
      filters: [lambda.FilterCriteria.filter({ eventName: ['INSERT'] })],
    }),
  );
  new events.Rule(stack, 'Routed', {
    eventBus: bus,
    eventPattern: { detailType: ['routed'] },
    targets: [new targets.SqsQueue(seen)],
  });
  new events.Rule(stack, 'Hourly', {
    schedule: events.Schedule.cron({ minute: '0' }),
    targets: [new targets.SqsQueue(seen)],
  });
  return app.synth().directory;
}
