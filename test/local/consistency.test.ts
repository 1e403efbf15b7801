import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key } from './helpers.js';
import { rawCall } from './raw.js';
import { streamsApi } from './streams-api.js';

type Item = Record<string, AttributeValue>;

/** One write, as a step of a transaction; alone it goes by its own operation. */
interface Write {
  pk: string;
  sk: string;
  kind: 'Put' | 'Update' | 'Delete';
  owner: string | undefined;
  rank: number | undefined;
  onlyIfAbsent: boolean;
}
const write = fc.record<Write>({
  pk: fc.constantFrom('p1', 'p2', 'p3'),
  sk: fc.constantFrom('a', 'b'),
  kind: fc.constantFrom('Put', 'Put', 'Update', 'Delete'),
  owner: fc.option(fc.constantFrom('ann', 'bob'), { nil: undefined }),
  rank: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  onlyIfAbsent: fc.boolean(),
});
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('single' as const), write }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('transaction' as const),
      writes: fc.uniqueArray(write, { minLength: 2, maxLength: 4, selector: ({ pk, sk }) => pk + sk }),
    }),
  },
);

function request(table: string, { pk, sk, kind, owner, rank, onlyIfAbsent }: Write): object {
  const place = { TableName: table, ...(kind === 'Put' ? {} : { Key: key(pk, sk) }) };
  const condition = onlyIfAbsent ? { ConditionExpression: 'attribute_not_exists(pk)' } : {};
  const values = {
    ...(owner ? { owner: { S: owner } } : {}),
    ...(rank === undefined ? {} : { rank: { N: `${rank}` } }),
  };
  if (kind === 'Put') return { ...place, ...condition, Item: { ...key(pk, sk), ...values } };
  if (kind === 'Delete') return { ...place, ...condition };
  return {
    ...place,
    ...condition,
    UpdateExpression: owner === undefined ? 'REMOVE #o ADD n :one' : 'SET #o = :o ADD n :one',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':one': { N: '1' }, ...(owner === undefined ? {} : { ':o': { S: owner } }) },
  };
}

const names = (item: Item): string => `${item['pk']!.S}/${item['sk']!.S}`;
const byName = (items: Item[]): Item[] => [...items].sort((a, b) => (names(a) < names(b) ? -1 : 1));

async function scan(local: LocalDynamoDB, TableName: string, IndexName?: string): Promise<Item[]> {
  return byName((await rawCall(local)('Scan', { TableName, IndexName }))['Items'] as Item[]);
}

test('whatever is written, indexes and stream tell of the same items, also after a restart', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
  let local = await createLocalDynamoDB({ dataDir });
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        const client = new DynamoDBClient({ ...local.clientConfig });
        const table = await createTable(client, {
          AttributeDefinitions: [
            ...['pk', 'sk', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
            { AttributeName: 'rank', AttributeType: 'N' },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'byOwner',
              KeySchema: [
                { AttributeName: 'owner', KeyType: 'HASH' },
                { AttributeName: 'rank', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
          LocalSecondaryIndexes: [
            {
              IndexName: 'byRank',
              KeySchema: [
                { AttributeName: 'pk', KeyType: 'HASH' },
                { AttributeName: 'rank', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'ALL' },
            },
          ],
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        });
        const call = rawCall(local);
        for (const { type, ...rest } of commands) {
          const answer =
            type === 'single' && 'write' in rest
              ? await call(`${rest.write.kind}Item`, request(table, rest.write))
              : await call('TransactWriteItems', {
                  TransactItems: (rest as { writes: Write[] }).writes.map((step) => ({
                    [step.kind]: request(table, step),
                  })),
                });
          expect(['ConditionalCheckFailedException', 'TransactionCanceledException', undefined]).toContain(
            answer['error'],
          );
        }
        const items = await scan(local, table);
        const ranked = items.filter((item) => item['rank']);
        const owned = ranked.filter((item) => item['owner']);
        const keys = owned.map(({ pk, sk, owner, rank }) => ({ pk, sk, owner, rank }));
        expect(await scan(local, table, 'byRank')).toEqual(ranked);
        expect(await scan(local, table, 'byOwner')).toEqual(keys);

        const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
        const replica = new Map<string, Item>();
        for (const { dynamodb } of await streamsApi(local).all(Table!.LatestStreamArn!)) {
          const name = names(dynamodb.Keys);
          expect(dynamodb.OldImage).toEqual(replica.get(name));
          if (dynamodb.NewImage) replica.set(name, dynamodb.NewImage);
          else replica.delete(name);
        }
        expect(byName([...replica.values()])).toEqual(items);

        await local.close();
        local = await createLocalDynamoDB({ dataDir });
        expect(await scan(local, table)).toEqual(items);
        expect(await scan(local, table, 'byRank')).toEqual(ranked);
        expect(await scan(local, table, 'byOwner')).toEqual(keys);
      }),
      { numRuns: 40 },
    );
  } finally {
    await local.close();
    await rm(dataDir, { recursive: true });
  }
});
