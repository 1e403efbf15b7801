/** What is read of a record of a Kafka event. */
export interface KafkaEventRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp?: number | undefined;
  readonly timestampType?: string | undefined;
  /** Base64; absent or null where the producer gave none. */
  readonly key?: string | null | undefined;
  /** Base64; absent or null in a tombstone. */
  readonly value?: string | null | undefined;
  /** Bytes as numbers, negative ones too. */
  readonly headers?: readonly Readonly<Record<string, readonly number[] | null>>[] | null | undefined;
}

/**
 * A batch of MSK (`aws:kafka`) or a cluster of one's own (`SelfManagedKafka`), by topic and partition
 * (https://docs.aws.amazon.com/lambda/latest/dg/with-msk.html, …/with-kafka.html).
 */
export interface KafkaEvent {
  readonly eventSource: string;
  readonly records: Readonly<Record<string, readonly KafkaEventRecord[]>>;
}
