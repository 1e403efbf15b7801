import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB, LocalDynamoDBOptions } from '../../lib/local/index.js';

/** What an integration test talks to: `DYNAMODB_ENDPOINT` when it is set, else an embedded DynamoDB of its own. */
export interface TestDynamoDB {
  readonly client: DynamoDBClient;
  /** The embedded DynamoDB, or undefined when the tests run against an endpoint from the environment. */
  readonly local: LocalDynamoDB | undefined;
  close(): Promise<void>;
}

/** A client for the tests; `options` apply to the embedded DynamoDB only. */
export async function testDynamoDB(options: LocalDynamoDBOptions = {}): Promise<TestDynamoDB> {
  const endpoint = process.env['DYNAMODB_ENDPOINT'];
  if (endpoint) {
    const client = new DynamoDBClient({
      endpoint,
      region: process.env['AWS_REGION'] ?? 'us-east-1',
      // Emulators take any credentials; on AWS the environment's own are used.
      ...(endpoint.includes('amazonaws.com') ? {} : { credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }),
    });
    return {
      client,
      local: undefined,
      close: () => {
        client.destroy();
        return Promise.resolve();
      },
    };
  }
  const local = await createLocalDynamoDB(options);
  const client = new DynamoDBClient({ ...local.clientConfig });
  return {
    client,
    local,
    close: async () => {
      client.destroy();
      await local.close();
    },
  };
}

/** True when the tests run against the embedded DynamoDB, whose clock, faults and log they can reach. */
export const embedded = !process.env['DYNAMODB_ENDPOINT'];

let counter = 0;

/** A table name no other test uses, so that files can run at once against one endpoint. */
export function uniqueTableName(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid.toString(36)}-${Date.now().toString(36)}-${counter.toString(36)}`;
}
