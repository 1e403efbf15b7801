import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { ShardIteratorType, StreamStatus } from '@aws-sdk/client-dynamodb-streams';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { LocalDynamoDB } from '../../lib/local/index.js';

type Item = Record<string, AttributeValue>;

/** The SDK's record and shard, of which it says of no field that it is always there. */
export interface StreamRecord {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  userIdentity?: unknown;
  dynamodb: {
    ApproximateCreationDateTime: Date;
    Keys: Item;
    NewImage?: Item;
    OldImage?: Item;
    SequenceNumber: string;
    SizeBytes: number;
  };
}
export interface Shard {
  ShardId: string;
  ParentShardId?: string;
  SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string };
}

/** The streams of an embedded DynamoDB, read by the SDK's client. */
export function streamsApi(local: LocalDynamoDB) {
  const client = new DynamoDBStreamsClient({ ...local.clientConfig });

  const describe = async (StreamArn: string): Promise<{ StreamStatus: StreamStatus; Shards: Shard[] }> => {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
    return StreamDescription as { StreamStatus: StreamStatus; Shards: Shard[] };
  };
  const iterator = async (
    StreamArn: string,
    ShardId: string,
    type: ShardIteratorType = 'TRIM_HORIZON',
    SequenceNumber?: string,
  ): Promise<string> => {
    const input = { StreamArn, ShardId, ShardIteratorType: type, SequenceNumber };
    return (await client.send(new GetShardIteratorCommand(input))).ShardIterator!;
  };
  const records = async (
    ShardIterator: string,
    Limit?: number,
  ): Promise<{ Records: StreamRecord[]; NextShardIterator?: string }> => {
    const answer = await client.send(new GetRecordsCommand({ ShardIterator, Limit }));
    return answer as { Records: StreamRecord[]; NextShardIterator?: string };
  };

  return {
    /** The names of a table's streams. */
    async list(TableName: string): Promise<(string | undefined)[]> {
      const { Streams } = await client.send(new ListStreamsCommand({ TableName }));
      return Streams!.map(({ StreamArn }) => StreamArn);
    },
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
