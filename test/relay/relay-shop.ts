import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { onTestFinished } from 'vitest';
import { table, type Table } from '../../lib/commands/index.js';
import { createLocalDynamoDB, type LocalDynamoDB } from '../../lib/local/index.js';
import type { StreamEventRecord, StreamImage } from '../../lib/events/index.js';
import { OutboxItem } from '../../lib/recipes/index.js';
import { streamsApi } from '../local/streams-api.js';

/** A table with a stream, embedded, which the tests of relays read as Lambda does. */
export interface RelayShop {
  readonly local: LocalDynamoDB;
  readonly shop: Table;
  readonly client: DynamoDBClient;
  /** The same table through a client whose requests meet faults: before they take effect, or after. */
  readonly faulty: (fault: (operation: string) => 'before' | 'after' | undefined) => Table;
  /** The records of the stream since the last call, as Lambda has them, shard after shard. */
  records(): Promise<StreamEventRecord[]>;
  /** How many items the outbox holds. */
  left(shards?: number): Promise<number>;
  close(): Promise<void>;
}

const reset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

type Handle = (request: { headers: Record<string, string> }, options?: unknown) => Promise<unknown>;

/** An image as Lambda has it: bytes as base64 text. */
const lambdaImage = (item: Record<string, AttributeValue>): StreamImage =>
  JSON.parse(
    JSON.stringify(item, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    ),
  ) as StreamImage;

export const relayShop = async (
  view: 'KEYS_ONLY' | 'NEW_AND_OLD_IMAGES' = 'NEW_AND_OLD_IMAGES',
): Promise<RelayShop> => {
  const local = await createLocalDynamoDB();
  const client = new DynamoDBClient({ ...local.clientConfig });
  const TableName = 'shop';
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: view },
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName });
  const api = streamsApi(local);
  const arn = TableDescription!.LatestStreamArn!;
  const iterators = new Map<string, string>();
  for (const { ShardId } of (await api.describe(arn)).Shards) iterators.set(ShardId, await api.iterator(arn, ShardId));
  const shop = table({ name: TableName, client });
  const inner = client.config.requestHandler as unknown as { handle: Handle };
  const clients: DynamoDBClient[] = [];
  return {
    local,
    shop,
    client,
    faulty(fault) {
      const handle: Handle = async (request, options) => {
        const meets = fault((request.headers['x-amz-target'] ?? '').split('.')[1] ?? '');
        if (meets === 'before') throw reset();
        const answer = await inner.handle(request, options);
        if (meets === 'after') throw reset();
        return answer;
      };
      const requestHandler = Object.assign(Object.create(inner) as object, { handle }) as never;
      const faulty = new DynamoDBClient({ ...local.clientConfig, maxAttempts: 2, requestHandler });
      clients.push(faulty);
      return table({ name: TableName, client: faulty });
    },
    async records() {
      const found: StreamEventRecord[] = [];
      for (const [shard, iterator] of iterators) {
        for (let next: string | undefined = iterator; next;) {
          const page = await api.records(next);
          for (const { eventID, eventName, userIdentity, dynamodb } of page.Records) {
            const { Keys, NewImage, OldImage, ApproximateCreationDateTime, SequenceNumber } = dynamodb;
            const who = userIdentity as { PrincipalId: string; Type: string } | undefined;
            found.push({
              ...{ eventID, eventName, eventSource: 'aws:dynamodb' },
              dynamodb: {
                ApproximateCreationDateTime: ApproximateCreationDateTime.getTime() / 1000,
                ...{ Keys: lambdaImage(Keys), SequenceNumber },
                ...(NewImage && { NewImage: lambdaImage(NewImage) }),
                ...(OldImage && { OldImage: lambdaImage(OldImage) }),
              },
              // Lambda has these names in lower case, the stream's own API does not.
              ...(who && { userIdentity: { principalId: who.PrincipalId, type: who.Type } }),
            });
          }
          next = page.NextShardIterator;
          if (next !== undefined) iterators.set(shard, next);
          if (page.Records.length === 0) break;
        }
      }
      return found;
    },
    async left(shards = 8) {
      const all = Array.from({ length: shards }, (_, shard) => shop.of(OutboxItem).query({ shard }).consistent().all());
      return (await Promise.all(all)).flat().length;
    },
    async close() {
      for (const each of [client, ...clients]) each.destroy();
      await local.close();
    },
  };
};

/** A shop that is gone when the test has finished. */
export const testShop = async (...args: Parameters<typeof relayShop>): Promise<RelayShop> => {
  const here = await relayShop(...args);
  onTestFinished(() => here.close());
  return here;
};
