/** What is read of a message of an SQS event; the attributes' values are all text. */
export interface SqsEventRecord {
  readonly messageId: string;
  readonly body: string;
  readonly attributes?:
    | {
        readonly ApproximateReceiveCount?: string | undefined;
        /** On a FIFO queue; a standard queue may have it too, for fairness, where it orders nothing. */
        readonly MessageGroupId?: string | undefined;
        /** On a FIFO queue only. */
        readonly SequenceNumber?: string | undefined;
        readonly SentTimestamp?: string | undefined;
      }
    | undefined;
  readonly messageAttributes?: Readonly<Record<string, { readonly stringValue?: string | undefined }>> | undefined;
  readonly eventSource?: string | undefined;
  readonly eventSourceARN?: string | undefined;
}

/** A batch of a queue (https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html). */
export interface SqsEvent {
  readonly Records: readonly SqsEventRecord[];
}
