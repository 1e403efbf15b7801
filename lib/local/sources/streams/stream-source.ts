import { createHash } from 'node:crypto';
import type { LocalDynamoDB } from '../../local-dynamodb.js';
import type { EventSource } from '../event-source.js';
import { BatchLane } from '../mapping/batch-lane.js';
import type { LaneSource } from '../mapping/batch-lane.js';
import { reportedFailures } from '../mapping/batch-response.js';
import type { CallReport } from '../mapping/call-report.js';
import { eventPattern } from '../mapping/event-pattern.js';
import type { EventPattern } from '../mapping/event-pattern.js';
import { failureRecord } from '../mapping/failure-record.js';
import type { Discarded, FailureRecord } from '../mapping/failure-record.js';
import { invokeHandler, localFunctionArn } from '../mapping/invoke.js';
import type { Invoke, LocalHandler } from '../mapping/invoke.js';
import { checkLimit, checkSetting } from '../mapping/settings.js';
import { SourceLoop } from '../mapping/source-loop.js';
import { StreamReader } from './stream-reader.js';
import type { ShardCursor } from './stream-reader.js';
import { lambdaStreamRecord } from './stream-record.js';
import type { LambdaStreamRecord } from './stream-record.js';

/** What an on-failure destination gets of discarded records of a stream: their place, and none of their content. */
export interface StreamFailureRecord extends FailureRecord {
  readonly DDBStreamBatchInfo: {
    readonly shardId: string;
    readonly startSequenceNumber: string;
    readonly endSequenceNumber: string;
    readonly approximateArrivalOfFirstRecord: string;
    readonly approximateArrivalOfLastRecord: string;
    readonly batchSize: number;
    readonly streamArn: string;
  };
}

/** What {@link streamSource} takes, by the names of Lambda's API. */
export interface StreamSourceOptions {
  readonly dynamodb: LocalDynamoDB;
  readonly tableName: string;
  /** The function: a Lambda handler in this process. It gets a copy of the event. */
  readonly handler: LocalHandler;
  /** Records of a call: 1 to 10,000. @default 100 */
  readonly batchSize?: number | undefined;
  /** How long records are gathered: 0 to 300. @default 0 */
  readonly maximumBatchingWindowInSeconds?: number | undefined;
  /** From the oldest record that the stream holds, or from what is written after this source was made. @default TRIM_HORIZON */
  readonly startingPosition?: 'TRIM_HORIZON' | 'LATEST' | undefined;
  /** Calls at once for a shard: 1 to 10. The records of an item keep their order. @default 1 */
  readonly parallelizationFactor?: number | undefined;
  /** Whether the handler's response names the records that failed. @default false */
  readonly reportBatchItemFailures?: boolean | undefined;
  /** Whether a failed batch is halved, which takes no retry. @default false */
  readonly bisectBatchOnFunctionError?: boolean | undefined;
  /** How often a failed batch is tried again: 0 to 10,000; -1: until its records are a day old. @default -1 */
  readonly maximumRetryAttempts?: number | undefined;
  /** Older records are given up: 60 to 604,800; -1: at the stream's own end of a day. @default -1 */
  readonly maximumRecordAgeInSeconds?: number | undefined;
  /** Records that match none of these are skipped. @default none: all are handled */
  readonly filters?: readonly EventPattern[] | undefined;
  /** Takes what tells of records that are given up. What it throws is tried again, and holds up the shard. */
  readonly onFailure?: ((record: StreamFailureRecord) => Promise<void> | void) | undefined;
  /** The DynamoDB's clock. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Takes what became of each call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Calls a handler with the stream of a table in the embedded DynamoDB, as Lambda's event source mapping does
 * (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html): shard by shard in the order of the records, a shard's children after it. A batch
 * that fails holds up its shard, or its part of it, until it is done, halved, retried to the end or too old; then
 * `onFailure` is told.
 *
 * A response that is malformed or names no record of the batch fails the batch. A call gets at most 6 MB. Where it stands is
 * kept in memory.
 *
 * @throws RangeError for settings that Lambda refuses; Error where the table has no stream
 * @example
 * const dynamodb = await createLocalDynamoDB();
 * const shop = table({ name: 'shop', client: new DynamoDBClient(dynamodb.clientConfig) });
 * await createTable(shop).stream();
 * const source = await streamSource({
 *   dynamodb,
 *   tableName: 'shop',
 *   handler: (event: { Records: unknown[] }) => console.log(event.Records.length),
 *   filters: [{ eventName: ['INSERT'] }],
 * });
 * await source.drain(); // or start() and, in the end, stop()
 */
export const streamSource = ({ handler, ...options }: StreamSourceOptions): Promise<EventSource> =>
  streamMapping({ ...options, invoke: invokeHandler(handler) });

interface Shard {
  readonly cursor: ShardCursor;
  readonly lanes: readonly BatchLane<LambdaStreamRecord>[];
}

/** {@link streamSource} for any way to call the function. */
export async function streamMapping({
  dynamodb,
  tableName,
  invoke,
  functionArn = localFunctionArn,
  batchSize = 100,
  maximumBatchingWindowInSeconds = 0,
  startingPosition = 'TRIM_HORIZON',
  parallelizationFactor = 1,
  reportBatchItemFailures = false,
  bisectBatchOnFunctionError = false,
  maximumRetryAttempts = -1,
  maximumRecordAgeInSeconds = -1,
  filters = [],
  onFailure,
  clock = Date.now,
  onCall,
}: Omit<StreamSourceOptions, 'handler'> & {
  readonly invoke: Invoke;
  readonly functionArn?: string | undefined;
}): Promise<EventSource> {
  checkSetting('batchSize', batchSize, 1, 10_000);
  checkSetting('maximumBatchingWindowInSeconds', maximumBatchingWindowInSeconds, 0, 300);
  checkSetting('parallelizationFactor', parallelizationFactor, 1, 10);
  checkLimit('maximumRetryAttempts', maximumRetryAttempts, 0, 10_000);
  checkLimit('maximumRecordAgeInSeconds', maximumRecordAgeInSeconds, 60, 604_800);
  const patterns = filters.map(eventPattern);
  const reader = await StreamReader.open(dynamodb, tableName);
  const { streamArn } = reader;

  const laneSource = (shardId: string): LaneSource<LambdaStreamRecord> => ({
    settings: {
      batchSize,
      windowMs: maximumBatchingWindowInSeconds * 1000,
      maximumRetryAttempts,
      maximumRecordAgeMs: maximumRecordAgeInSeconds === -1 ? dayMs : Math.min(maximumRecordAgeInSeconds * 1000, dayMs),
      bisectBatchOnFunctionError,
      reportBatchItemFailures,
    },
    clock,
    invoke: async (event) => {
      const invocation = await invoke(event);
      if (onCall !== undefined) {
        const { Records } = event as { Records: LambdaStreamRecord[] };
        const rest =
          'functionError' in invocation
            ? Records
            : reportBatchItemFailures
              ? remaining(invocation.response, Records)
              : [];
        onCall({ records: Records.length, failed: rest.length, invocation });
      }
      return invocation;
    },
    event: (records) => ({ Records: records }),
    remaining,
    discard: async (discarded) => {
      await onFailure?.({
        ...failureRecord(discarded, functionArn, clock()),
        DDBStreamBatchInfo: batchInfo(discarded, shardId, streamArn),
      });
    },
  });
  const shards = new Map<string, Shard>();
  const known = (id: string, parent: string | undefined): Shard => ({
    cursor: { id, parent, after: undefined, iterator: undefined, ended: false },
    lanes: Array.from({ length: parallelizationFactor }, () => new BatchLane(laneSource(id))),
  });

  const discover = async (): Promise<void> => {
    const found = await reader.shards();
    for (const { id, parent } of found) if (!shards.has(id)) shards.set(id, known(id, parent));
    const ids = new Set(found.map(({ id }) => id));
    for (const [id, { lanes }] of shards) if (!ids.has(id) && lanes.every((lane) => lane.empty)) shards.delete(id);
  };
  const finished = (id: string | undefined): boolean => {
    const shard = id === undefined ? undefined : shards.get(id);
    return shard === undefined || (shard.cursor.ended && shard.lanes.every((lane) => lane.empty));
  };

  const wanted = (record: LambdaStreamRecord) => patterns.length === 0 || patterns.some((matches) => matches(record));
  const fill = async ({ cursor, lanes }: Shard): Promise<void> => {
    // A lane that lags holds up the reading of its shard, so that memory stays bounded.
    while (!cursor.ended && !lanes.some((lane) => lane.full)) {
      const records = await reader.read(cursor, batchSize);
      if (records.length === 0) return;
      for (const record of records) {
        const shown = lambdaStreamRecord(record, streamArn);
        const at = record.dynamodb.ApproximateCreationDateTime * 1000;
        if (wanted(shown)) lanes[laneOf(record.dynamodb.Keys, lanes.length)]!.push({ record: shown, at });
      }
    }
  };

  const poll = async (): Promise<void> => {
    await discover();
    for (const shard of shards.values()) if (finished(shard.cursor.parent)) await fill(shard);
  };
  if (startingPosition === 'LATEST') {
    await discover();
    // Read past rather than asked for LATEST: so the place has a number, and is found when iterators have expired.
    for (const { cursor } of shards.values()) while ((await reader.read(cursor, 1000)).length > 0);
  }

  const lanes = () => [...shards.values()].flatMap((shard) => shard.lanes);
  const nextDue = (): number | undefined => {
    const due = lanes().flatMap((lane) => lane.nextDue() ?? []);
    return due.length === 0 ? undefined : Math.min(...due);
  };
  const loop = new SourceLoop({
    poll,
    begin: () => lanes().flatMap((lane) => lane.begin() ?? []),
    nextDue,
    clock,
    intervalMs: 250,
    onError: (error) => process.emitWarning(error as Error),
  });

  let unsubscribe: (() => void) | undefined;
  return {
    start() {
      unsubscribe ??= dynamodb.onRequest(({ writeUnits }) => {
        if (writeUnits > 0) loop.wake();
      });
      loop.start();
    },
    async stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      await loop.stop();
    },
    drain: () => loop.drain(),
    nextDue,
  };
}

/** From the lowest number that is reported on, all must come again. */
function remaining(response: unknown, records: readonly LambdaStreamRecord[]): readonly LambdaStreamRecord[] {
  const reported = reportedFailures(response);
  if (reported === 'all') return records;
  const numbers = new Map(records.map(({ dynamodb }, index) => [dynamodb.SequenceNumber, index]));
  let first = records.length;
  for (const number of reported) {
    const index = numbers.get(number as string);
    if (index === undefined) return records;
    first = Math.min(first, index);
  }
  return records.slice(first);
}

const laneOf = (keys: object, lanes: number): number =>
  lanes === 1 ? 0 : createHash('sha256').update(JSON.stringify(keys)).digest().readUInt32BE() % lanes;

function batchInfo({ records }: Discarded<LambdaStreamRecord>, shardId: string, streamArn: string) {
  const first = records[0]!.dynamodb;
  const last = records.at(-1)!.dynamodb;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  return {
    shardId,
    startSequenceNumber: first.SequenceNumber,
    endSequenceNumber: last.SequenceNumber,
    approximateArrivalOfFirstRecord: time(first.ApproximateCreationDateTime),
    approximateArrivalOfLastRecord: time(last.ApproximateCreationDateTime),
    batchSize: records.length,
    streamArn,
  };
}
