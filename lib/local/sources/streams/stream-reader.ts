import type { LocalDynamoDB } from '../../local-dynamodb.js';

/** A record of GetRecords, as JSON: bytes are base64 text. */
export interface ReadRecord {
  readonly eventID: string;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly eventVersion: string;
  readonly eventSource: string;
  readonly awsRegion: string;
  readonly dynamodb: {
    /** Epoch seconds. */
    readonly ApproximateCreationDateTime: number;
    readonly Keys: object;
    readonly SequenceNumber: string;
  };
  readonly userIdentity?: { readonly Type: string; readonly PrincipalId: string };
}

/** A shard and how far it was read. */
export interface ShardCursor {
  readonly id: string;
  readonly parent: string | undefined;
  /** The sequence number of the last record that was read, or that lies before the first one to read. */
  after: string | undefined;
  iterator: string | undefined;
  /** The shard is closed and read to its end. */
  ended: boolean;
}

const prefix = 'DynamoDBStreams_20120810';

/** Reads a table's stream from an embedded DynamoDB. */
export class StreamReader {
  readonly streamArn: string;
  readonly #dynamodb: LocalDynamoDB;

  private constructor(dynamodb: LocalDynamoDB, streamArn: string) {
    this.#dynamodb = dynamodb;
    this.streamArn = streamArn;
  }

  /** @throws Error where the table has no stream */
  static async open(dynamodb: LocalDynamoDB, tableName: string): Promise<StreamReader> {
    const { Table } = await send<{ Table: { LatestStreamArn?: string; StreamSpecification?: unknown } }>(
      dynamodb,
      'DynamoDB_20120810.DescribeTable',
      { TableName: tableName },
    );
    if (Table.LatestStreamArn === undefined || Table.StreamSpecification === undefined) {
      throw new Error(`The table ${tableName} has no stream: create it with a StreamSpecification.`);
    }
    return new StreamReader(dynamodb, Table.LatestStreamArn);
  }

  /** All shards, parents before their children. */
  async shards(): Promise<{ id: string; parent: string | undefined }[]> {
    const shards: { id: string; parent: string | undefined }[] = [];
    let start: string | undefined;
    do {
      const { StreamDescription } = await this.#send<{
        StreamDescription: {
          Shards: { ShardId: string; ParentShardId?: string }[];
          LastEvaluatedShardId?: string;
        };
      }>('DescribeStream', { ...(start === undefined ? {} : { ExclusiveStartShardId: start }) });
      shards.push(...StreamDescription.Shards.map(({ ShardId: id, ParentShardId: parent }) => ({ id, parent })));
      start = StreamDescription.LastEvaluatedShardId;
    } while (start !== undefined);
    return shards;
  }

  /** Reads on from a cursor, and moves it. */
  async read(cursor: ShardCursor, limit: number): Promise<ReadRecord[]> {
    if (cursor.ended) return [];
    cursor.iterator ??= await this.#iterator(cursor);
    let page: { Records: ReadRecord[]; NextShardIterator?: string };
    try {
      page = await this.#call('GetRecords', { ShardIterator: cursor.iterator, Limit: Math.min(limit, 1000) });
    } catch (error) {
      cursor.iterator = undefined;
      const { name } = error as Error;
      if (name !== 'TrimmedDataAccessException' && name !== 'ExpiredIteratorException') throw error;
      // The place is found by the number, or, where retention has taken it, at the oldest record.
      if (name === 'TrimmedDataAccessException') cursor.after = undefined;
      return this.read(cursor, limit);
    }
    cursor.iterator = page.NextShardIterator;
    cursor.after = page.Records.at(-1)?.dynamodb.SequenceNumber ?? cursor.after;
    cursor.ended = page.NextShardIterator === undefined;
    return page.Records;
  }

  async #iterator({ id, after }: ShardCursor): Promise<string> {
    const from = (type: string, number?: string) =>
      this.#send<{ ShardIterator: string }>('GetShardIterator', {
        ShardId: id,
        ShardIteratorType: type,
        ...(number === undefined ? {} : { SequenceNumber: number }),
      });
    if (after === undefined) return (await from('TRIM_HORIZON')).ShardIterator;
    try {
      return (await from('AFTER_SEQUENCE_NUMBER', after)).ShardIterator;
    } catch (error) {
      if ((error as Error).name !== 'TrimmedDataAccessException') throw error;
      return (await from('TRIM_HORIZON')).ShardIterator;
    }
  }

  #send<T>(operation: string, input: object): Promise<T> {
    return this.#call<T>(operation, { StreamArn: this.streamArn, ...input });
  }

  #call<T>(operation: string, input: object): Promise<T> {
    return send<T>(this.#dynamodb, `${prefix}.${operation}`, input);
  }
}

/** A request without the SDK's client for streams, which nothing else here needs. */
async function send<T>({ requestHandler }: LocalDynamoDB, target: string, input: object): Promise<T> {
  const { response } = await requestHandler.handle({
    headers: { 'x-amz-target': target },
    body: JSON.stringify(input),
  });
  const answer = JSON.parse(Buffer.from(response.body).toString()) as { __type?: string; message?: string };
  if (response.statusCode === 200) return answer as T;
  const error = new Error(answer.message ?? `${target} was refused.`);
  error.name = answer.__type?.split('#').at(-1) ?? 'Error';
  throw error;
}
