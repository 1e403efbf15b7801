import type { CallReport } from '../sources/mapping/call-report.js';
import { localFunctionArn, type Invoke, type LocalHandler } from '../sources/mapping/invoke.js';
import { checkLimit, checkSetting } from '../sources/mapping/settings.js';
import type { KafkaFailureRecord } from './kafka-failure-record.js';

/** What {@link kafkaSource} takes, by the names of Lambda's API. */
export interface KafkaSourceOptions {
  /** Addresses such as `127.0.0.1:9092`. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The consumer group whose committed offsets say where it goes on. */
  readonly consumerGroupId: string;
  /** The function: a Lambda handler in this process. It gets a copy of the event. */
  readonly handler: LocalHandler;
  /** The cluster, where it stands for MSK. @default none: a cluster of one's own */
  readonly eventSourceArn?: string | undefined;
  /** Records of a call: 1 to 10,000. @default 100 */
  readonly batchSize?: number | undefined;
  /** How long records are gathered: 0 to 300. @default half a second */
  readonly maximumBatchingWindowInSeconds?: number | undefined;
  /** Where to begin in partitions of which the group has committed nothing. @default TRIM_HORIZON */
  readonly startingPosition?: 'TRIM_HORIZON' | 'LATEST' | 'AT_TIMESTAMP' | undefined;
  /** Goes with AT_TIMESTAMP. */
  readonly startingPositionTimestamp?: Date | undefined;
  /** Provisioned mode: whether the handler's response names the records that failed. @default false */
  readonly reportBatchItemFailures?: boolean | undefined;
  /** Provisioned mode: whether a failed batch is halved, which takes no retry. @default false */
  readonly bisectBatchOnFunctionError?: boolean | undefined;
  /**
   * Provisioned mode: how often a failed batch is tried again: 0 to 10,000; -1: without end, or 10 times with `onFailure`.
   * @default -1
   */
  readonly maximumRetryAttempts?: number | undefined;
  /** Provisioned mode: older records are given up: 60 to 604,800; -1: none are. @default -1 */
  readonly maximumRecordAgeInSeconds?: number | undefined;
  /**
   * Takes what tells of records that are given up: `kafka://topic` of the same cluster, a message for each record with its
   * key, or a function, as for a queue. What it throws is tried again, and holds up the partitions.
   */
  readonly onFailure?: `kafka://${string}` | ((record: KafkaFailureRecord) => Promise<void> | void) | undefined;
  /** Members of the consumer group, each with one call at a time. @default 1 */
  readonly pollers?: number | undefined;
  /** How long the broker waits for a member that no longer answers, in milliseconds: 500 to 300,000. @default 6000 */
  readonly sessionTimeoutMs?: number | undefined;
  /** The clock of windows, retries and ages. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Takes what became of each call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
  /** Takes what goes wrong while it polls: it tries again. @default warns of it */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The same for any way to call the function. */
export type KafkaMappingOptions = Omit<KafkaSourceOptions, 'handler'> & {
  readonly invoke: Invoke;
  readonly functionArn?: string | undefined;
};

const refuse = (what: string): never => {
  throw new RangeError(what);
};

/** The options as they apply; refuses what Lambda refuses. */
export const settledMapping = (options: KafkaMappingOptions) => {
  const { brokers, topic, consumerGroupId, onFailure, startingPositionTimestamp, invoke } = options;
  const { startingPosition = 'TRIM_HORIZON', maximumBatchingWindowInSeconds: window } = options;
  if (brokers.length === 0) refuse('brokers must name one.');
  if (topic === '') refuse('topic must be named.');
  if (consumerGroupId === '') refuse('consumerGroupId must be named.');
  if ((startingPosition === 'AT_TIMESTAMP') !== (startingPositionTimestamp !== undefined)) {
    refuse('startingPositionTimestamp goes with AT_TIMESTAMP, and with nothing else.');
  }
  const destination = typeof onFailure === 'string' ? onFailure.slice('kafka://'.length) : onFailure;
  if (destination === '' || destination === topic) refuse('onFailure must name another topic.');
  const retries = checkLimit('maximumRetryAttempts', options.maximumRetryAttempts ?? -1, 0, 10_000);
  const age = checkLimit('maximumRecordAgeInSeconds', options.maximumRecordAgeInSeconds ?? -1, 60, 604_800);
  return {
    ...{ brokers, topic, consumerGroupId, startingPosition, startingPositionTimestamp, destination, invoke },
    functionArn: options.functionArn ?? localFunctionArn,
    eventSourceArn: options.eventSourceArn,
    settings: {
      batchSize: checkSetting('batchSize', options.batchSize ?? 100, 1, 10_000),
      windowMs: window === undefined ? 500 : checkSetting('maximumBatchingWindowInSeconds', window, 0, 300) * 1000,
      maximumRetryAttempts: retries === -1 && destination !== undefined ? 10 : retries,
      maximumRecordAgeMs: age === -1 ? Infinity : age * 1000,
      bisectBatchOnFunctionError: options.bisectBatchOnFunctionError ?? false,
      reportBatchItemFailures: options.reportBatchItemFailures ?? false,
    },
    pollers: checkSetting('pollers', options.pollers ?? 1, 1, 2000),
    sessionTimeoutMs: checkSetting('sessionTimeoutMs', options.sessionTimeoutMs ?? 6000, 500, 300_000),
    clock: options.clock ?? Date.now,
    onCall: options.onCall,
    onError: options.onError ?? ((error: unknown) => process.emitWarning(error as Error)),
  };
};

/** See {@link settledMapping}. */
export type SettledMapping = ReturnType<typeof settledMapping>;
