import { invokeHandler, type Invoke, type LocalHandler } from '../sources/mapping/invoke.js';
import type { KafkaFailureRecord } from './kafka-failure-record.js';

/** A Kafka mapping, by the names of Lambda's API (https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html). */
export interface KafkaSourceOptions {
  /** Addresses such as `127.0.0.1:9092`. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The consumer group whose committed offsets say where it goes on. */
  readonly consumerGroupId: string;
  /** The function; or `invoke`, where it runs elsewhere. */
  readonly handler?: LocalHandler | undefined;
  readonly invoke?: Invoke | undefined;
  /** The cluster, where it stands for MSK. @default none: a cluster of one's own */
  readonly eventSourceArn?: string | undefined;
  /** 1 to 10,000 records. A batch also ends at 6 MB. @default 100 */
  readonly batchSize?: number | undefined;
  /** How long a batch is gathered: 0 to 300 s. @default 0.5 */
  readonly maximumBatchingWindowInSeconds?: number | undefined;
  /** Where to begin in partitions of which the group has committed nothing. @default 'TRIM_HORIZON' */
  readonly startingPosition?: 'TRIM_HORIZON' | 'LATEST' | 'AT_TIMESTAMP' | undefined;
  readonly startingPositionTimestamp?: Date | undefined;
  /** Whether the function's report of failed records is read (provisioned mode). @default false: it is ignored */
  readonly reportBatchItemFailures?: boolean | undefined;
  /** Whether a batch that fails is split in two (provisioned mode). @default false */
  readonly bisectBatchOnFunctionError?: boolean | undefined;
  /** -1 or 0 to 10,000 (provisioned mode). @default -1: without end, or 10 with a destination */
  readonly maximumRetryAttempts?: number | undefined;
  /** -1 or 60 to 604,800 (provisioned mode). @default -1: without end */
  readonly maximumRecordAgeInSeconds?: number | undefined;
  /**
   * Where records go that are given up: `kafka://topic` of the same cluster, a message for each record with its key, or a
   * function, for a queue or a topic of SNS, which get one for each batch. Where it fails, they are tried again.
   * @default none: they are dropped
   */
  readonly onFailure?: `kafka://${string}` | ((failure: KafkaFailureRecord) => Promise<void> | void) | undefined;
  /** Members of the consumer group; each has one batch at a time. @default 1 */
  readonly pollers?: number | undefined;
  /** How long the broker waits for a member that no longer answers, in milliseconds. @default 6000 */
  readonly sessionTimeoutMs?: number | undefined;
  /** The time in epoch milliseconds, for windows, retries and ages. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Takes what goes wrong while it polls; it tries again. @default writes it to standard error */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const refuse = (what: string): never => {
  throw new TypeError(`Kafka source: ${what}.`);
};

const between = (name: string, value: number, least: number, most: number): number =>
  value >= least && value <= most ? value : refuse(`${name} must be from ${least} to ${most}`);

const whole = (name: string, value: number, least: number, most: number): number =>
  Number.isInteger(value) ? between(name, value, least, most) : refuse(`${name} must be a whole number`);

const unlessEndless = (name: string, value: number, least: number, most: number): number =>
  value === -1 ? value : whole(name, value, least, most);

/** The options as they apply; refuses what Lambda refuses. */
export const settledKafkaSource = (options: KafkaSourceOptions) => {
  const { brokers, topic, consumerGroupId, handler, onFailure, startingPositionTimestamp } = options;
  const { startingPosition = 'TRIM_HORIZON' } = options;
  if (brokers.length === 0) refuse('brokers must name one');
  if (topic === '') refuse('topic must not be empty');
  if (consumerGroupId === '') refuse('consumerGroupId must not be empty');
  if ((startingPosition === 'AT_TIMESTAMP') !== (startingPositionTimestamp !== undefined)) {
    refuse('startingPositionTimestamp belongs to AT_TIMESTAMP, and to nothing else');
  }
  const destination = typeof onFailure === 'string' ? onFailure.slice('kafka://'.length) : onFailure;
  if (destination === '' || destination === topic) refuse('onFailure must name another topic');
  if ((handler === undefined) === (options.invoke === undefined)) refuse('give either handler or invoke');
  const retries = unlessEndless('maximumRetryAttempts', options.maximumRetryAttempts ?? -1, 0, 10_000);
  const age = unlessEndless('maximumRecordAgeInSeconds', options.maximumRecordAgeInSeconds ?? -1, 60, 604_800);
  const window = between('maximumBatchingWindowInSeconds', options.maximumBatchingWindowInSeconds ?? 0.5, 0, 300);
  return {
    ...{ brokers, topic, consumerGroupId, startingPosition, startingPositionTimestamp, destination },
    invoke: options.invoke ?? invokeHandler(handler!),
    eventSourceArn: options.eventSourceArn,
    settings: {
      batchSize: whole('batchSize', options.batchSize ?? 100, 1, 10_000),
      windowMs: window * 1000,
      maximumRetryAttempts: retries === -1 && destination !== undefined ? 10 : retries,
      maximumRecordAgeMs: age === -1 ? Infinity : age * 1000,
      bisectBatchOnFunctionError: options.bisectBatchOnFunctionError ?? false,
      reportBatchItemFailures: options.reportBatchItemFailures ?? false,
    },
    pollers: whole('pollers', options.pollers ?? 1, 1, 2000),
    sessionTimeoutMs: whole('sessionTimeoutMs', options.sessionTimeoutMs ?? 6000, 500, 300_000),
    clock: options.clock ?? Date.now,
    onError: options.onError ?? ((error: unknown) => console.error('Kafka source:', error)),
  };
};

/** See {@link settledKafkaSource}. */
export type SettledKafkaSource = ReturnType<typeof settledKafkaSource>;
