// A consumer of the feed in a process of its own, so that it can be killed: polls Kafka for the ingest function's handler.
import { kafkaSource } from '../../../lib/local/index.js';
import { countedIngest } from './counted-ingest.js';

/** What the test gives this process, as JSON. */
export interface IngestProcessOptions {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly consumerGroupId: string;
  readonly endpoint: string;
  readonly table: string;
}

const { brokers, topic, consumerGroupId, endpoint, table } = JSON.parse(process.argv[2] ?? '') as IngestProcessOptions;
const config = { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
const source = await kafkaSource({
  ...{ brokers, topic, consumerGroupId },
  reportBatchItemFailures: true,
  maximumBatchingWindowInSeconds: 0,
  sessionTimeoutMs: 1000,
  handler: countedIngest(table, config, (batch) => process.send?.(batch)),
});
source.start();
process.on('SIGTERM', () => {
  void source.stop().then(() => process.exit(0));
});
// It does not outlive the test.
process.on('disconnect', () => process.exit(1));
