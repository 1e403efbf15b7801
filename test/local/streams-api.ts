import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { LocalDynamoDB } from '../../lib/local/index.js';

type Item = Record<string, AttributeValue>;

export interface StreamRecord {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  userIdentity?: unknown;
  dynamodb: { Keys: Item; NewImage?: Item; OldImage?: Item; SequenceNumber: string; SizeBytes: number };
}
export interface Shard {
  ShardId: string;
  ParentShardId?: string;
  SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string };
}

/** The streams API as it is on the wire; errors carry their type's name. */
export function streamsApi(local: LocalDynamoDB) {
  async function call<T>(operation: string, input: object): Promise<T> {
    const { response } = await local.requestHandler.handle({
      headers: { 'X-Amz-Target': `DynamoDBStreams_20120810.${operation}` },
      body: JSON.stringify(input),
    });
    const body = JSON.parse(Buffer.from(response.body).toString()) as { __type?: string; message?: string };
    if (response.statusCode !== 200) {
      throw Object.assign(new Error(body.message), { name: body.__type?.replace(/^.*#/, '') });
    }
    return body as T;
  }

  const describe = async (StreamArn: string): Promise<{ StreamStatus: string; Shards: Shard[] }> =>
    (await call<{ StreamDescription: { StreamStatus: string; Shards: Shard[] } }>('DescribeStream', { StreamArn }))
      .StreamDescription;
  const iterator = async (
    StreamArn: string,
    ShardId: string,
    ShardIteratorType = 'TRIM_HORIZON',
    SequenceNumber?: string,
  ): Promise<string> =>
    (
      await call<{ ShardIterator: string }>('GetShardIterator', {
        StreamArn,
        ShardId,
        ShardIteratorType,
        SequenceNumber,
      })
    ).ShardIterator;
  const records = (
    ShardIterator: string,
    Limit?: number,
  ): Promise<{ Records: StreamRecord[]; NextShardIterator?: string }> => call('GetRecords', { ShardIterator, Limit });

  return {
    call,
    describe,
    iterator,
    records,
    /** Every record of a stream, shard after shard. */
    async all(StreamArn: string): Promise<StreamRecord[]> {
      const found: StreamRecord[] = [];
      for (const { ShardId } of (await describe(StreamArn)).Shards) {
        let next: string | undefined = await iterator(StreamArn, ShardId);
        while (next) {
          const page = await records(next);
          found.push(...page.Records);
          if (page.Records.length === 0) break;
          next = page.NextShardIterator;
        }
      }
      return found;
    },
  };
}
