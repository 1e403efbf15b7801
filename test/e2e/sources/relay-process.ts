// The relay in a process of its own, so that it can be killed: it is called by messages, and publishes over HTTP.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table } from '../../../lib/commands/index.js';
import { outboxRelay, type StreamEvent } from '../../../lib/events/index.js';
import type { PublishAnswer } from '../../../lib/recipes/index.js';

/** What the test gives this process, as JSON. */
export interface RelayProcessOptions {
  readonly endpoint: string;
  readonly table: string;
  /** Takes a batch of events as JSON, and answers for each. */
  readonly target: string;
}

/** A call of the handler. */
export interface RelayCall {
  readonly id: number;
  readonly event: object;
}

/** What became of it. */
export interface RelayAnswer {
  readonly id: number;
  readonly response?: unknown;
  readonly error?: string;
}

const options = JSON.parse(process.argv[2] ?? '') as RelayProcessOptions;
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new DynamoDBClient({ endpoint: options.endpoint, region: 'us-east-1', credentials });
const handler = outboxRelay({
  table: table({ name: options.table, client }),
  target: {
    async publish(events) {
      const body = JSON.stringify(events.map(({ aggregate, detail }) => ({ aggregate, detail })));
      const answer = await fetch(options.target, { method: 'POST', body });
      return (await answer.json()) as PublishAnswer[];
    },
  },
  partialResponses: true,
  sweepAfterMs: 1,
  log: () => undefined,
});
process.on('message', ({ id, event }: RelayCall) => {
  handler(event as StreamEvent).then(
    (response) => process.send?.({ id, response } satisfies RelayAnswer),
    (error: unknown) => process.send?.({ id, error: String(error) } satisfies RelayAnswer),
  );
});
// It does not outlive the test.
process.on('disconnect', () => process.exit(1));
