/** A value as a stream's event holds it: bytes are base64 text. */
export interface StreamValue {
  readonly S?: string | undefined;
  readonly N?: string | undefined;
  readonly B?: string | undefined;
  readonly BOOL?: boolean | undefined;
  readonly NULL?: boolean | undefined;
  readonly SS?: readonly string[] | undefined;
  readonly NS?: readonly string[] | undefined;
  readonly BS?: readonly string[] | undefined;
  readonly L?: readonly StreamValue[] | undefined;
  readonly M?: StreamImage | undefined;
}

/** Attributes by their stored names. */
export interface StreamImage {
  readonly [name: string]: StreamValue;
}

/** What is read of a record of a DynamoDB stream. */
export interface StreamEventRecord {
  readonly eventID?: string | undefined;
  readonly eventName?: 'INSERT' | 'MODIFY' | 'REMOVE' | undefined;
  readonly eventSource?: string | undefined;
  readonly dynamodb?:
    | {
        /** Epoch seconds. */
        readonly ApproximateCreationDateTime?: number | undefined;
        readonly Keys?: StreamImage | undefined;
        readonly NewImage?: StreamImage | undefined;
        readonly OldImage?: StreamImage | undefined;
        readonly SequenceNumber?: string | undefined;
      }
    | undefined;
  /** The service itself, where time to live removed the item. */
  readonly userIdentity?: unknown;
}

/** A batch of a shard (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html). */
export interface StreamEvent {
  readonly Records: readonly StreamEventRecord[];
}
