import { CreateTableCommand, DynamoDBClient, type StreamViewType } from '@aws-sdk/client-dynamodb';
import { LiveMatch } from '../../../lambdas/ingest/live-match.js';
import { table } from '../../../lib/commands/index.js';
import { createLocalDynamoDB } from '../../../lib/local/index.js';
import type { FinalMatch } from './match-feed.js';

/** An embedded table that other processes reach over HTTP. */
export const servedTable = async (name: string, stream?: StreamViewType) => {
  const local = await createLocalDynamoDB();
  const client = new DynamoDBClient({ ...local.clientConfig });
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
    }),
  );
  const { endpoint } = await local.listen();
  return {
    ...{ name, local, client, endpoint },
    streamArn: TableDescription?.LatestStreamArn,
    table: table({ name, client }),
    async close() {
      client.destroy();
      await local.close();
    },
  };
};

/** See {@link servedTable}. */
export type ServedTable = Awaited<ReturnType<typeof servedTable>>;

/** What is stored of each match that the feed tells of; versions that a removal has outlived are left out. */
export const storedMatches = async (
  { table: shop }: ServedTable,
  matches: ReadonlyMap<string, FinalMatch>,
): Promise<Map<string, unknown>> => {
  const stored = new Map<string, unknown>();
  for (const id of matches.keys()) {
    const item = await shop.of(LiveMatch).get({ id }).consistent().item();
    if (item === undefined) continue;
    const { id: _, expiresAt: __, ...match } = item;
    stored.set(id, Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined)));
  }
  return stored;
};
