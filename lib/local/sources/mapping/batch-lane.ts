import type { Discarded } from './failure-record.js';
import type { Invocation, Invoke } from './invoke.js';

/** What Lambda takes in one call. */
export const maxPayloadBytes = 6 * 1024 * 1024;

/** Settings of a mapping whose records keep an order: of a stream or a topic. */
export interface OrderedSettings {
  readonly batchSize: number;
  /** How long records are gathered until a batch is full, in milliseconds. */
  readonly windowMs: number;
  /** -1: until the records are too old. */
  readonly maximumRetryAttempts: number;
  /** In milliseconds; Infinity where there is none. */
  readonly maximumRecordAgeMs: number;
  readonly bisectBatchOnFunctionError: boolean;
  readonly reportBatchItemFailures: boolean;
}

/** A record in its lane. */
export interface LaneRecord<R> {
  readonly record: R;
  /** When it was written, in epoch milliseconds: its age counts from then. */
  readonly at: number;
}

/** What a lane needs of its source. */
export interface LaneSource<R> {
  readonly settings: OrderedSettings;
  readonly clock: () => number;
  readonly invoke: Invoke;
  event(records: readonly R[]): object;
  /** What must come again by a response of partial failures: all, nothing, or the rest of the batch in its order. */
  remaining(response: unknown, records: readonly R[]): readonly R[];
  /** Takes records in their order once they are done or given up. */
  settled?(records: readonly R[]): void;
  /** Takes records that are given up, before the ones that follow are begun. */
  discard(discarded: Discarded<R>): Promise<void>;
}

interface Batch<R> {
  readonly records: readonly LaneRecord<R>[];
  /** Calls that failed with these records. */
  readonly failures: number;
  /** The last of them. */
  readonly last?: Invocation | undefined;
  readonly dueAt: number;
}

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** The pause before a retry grows to a minute. Lambda's is not documented. */
export const retryPauseMs = (failures: number): number => Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);

/**
 * Records that are handled strictly one batch after the other, as those of a shard: a failed batch is retried, halved or
 * given up before the next one begins (https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html).
 *
 * What is not documented, it decides so: a retry waits 1 s, then twice as long each time, up to a minute; a report that gets
 * further than the one before begins a new count of attempts; one that names the batch's first record counts as an error of
 * the batch, which is halved where that is on.
 */
export class BatchLane<R> {
  readonly #source: LaneSource<R>;
  readonly #arrived: { entry: LaneRecord<R>; bytes: number }[] = [];
  #gatheringSince = 0;
  /** What failed or was cut, the next first. */
  #retries: Batch<R>[] = [];
  #busy = false;

  constructor(source: LaneSource<R>) {
    this.#source = source;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** Nothing waits here and nothing runs. */
  get empty(): boolean {
    return !this.#busy && this.#retries.length === 0 && this.#arrived.length === 0;
  }

  /** Whether another batch is gathered already. */
  get full(): boolean {
    return this.#arrived.length >= this.#source.settings.batchSize;
  }

  push(entry: LaneRecord<R>): void {
    if (this.#arrived.length === 0) this.#gatheringSince = this.#source.clock();
    this.#arrived.push({ entry, bytes: Buffer.byteLength(JSON.stringify(entry.record)) + 1 });
  }

  /** When the next call can begin, unless one is running. */
  nextDue(): number | undefined {
    const [retry] = this.#retries;
    if (retry !== undefined) return retry.dueAt;
    if (this.#arrived.length === 0) return undefined;
    return this.#batchLength() < this.#arrived.length || this.full
      ? this.#gatheringSince
      : this.#gatheringSince + this.#source.settings.windowMs;
  }

  /** Begins the next call, if one is due. */
  begin(): Promise<void> | undefined {
    const now = this.#source.clock();
    const due = this.#busy ? undefined : this.nextDue();
    if (due === undefined || due > now) return undefined;
    const batch = this.#retries.shift() ?? this.#gathered(now);
    this.#busy = true;
    return this.#call(batch)
      .catch((error: unknown) => {
        // What a destination did not take comes again, rather than be lost.
        this.#retries.unshift({ ...batch, dueAt: this.#source.clock() + firstPauseMs });
        throw error;
      })
      .finally(() => {
        this.#busy = false;
      });
  }

  /** How many records fill a batch, by count and by bytes. */
  #batchLength(): number {
    const { batchSize } = this.#source.settings;
    let bytes = 0;
    for (const [index, arrived] of this.#arrived.entries()) {
      bytes += arrived.bytes;
      if (index === batchSize || (bytes > maxPayloadBytes && index > 0)) return index;
    }
    return this.#arrived.length;
  }

  #gathered(now: number): Batch<R> {
    const taken = this.#arrived.splice(0, this.#batchLength());
    this.#gatheringSince = now;
    return { records: taken.map(({ entry }) => entry), failures: 0, dueAt: now };
  }

  async #call(batch: Batch<R>): Promise<void> {
    const { settings, clock, invoke } = this.#source;
    const oldest = clock() - settings.maximumRecordAgeMs;
    const tooOld = batch.records.filter(({ at }) => at < oldest);
    if (tooOld.length > 0) {
      await this.#discard(tooOld, 'RecordAgeExceeded', batch.failures, batch.last);
      const rest = batch.records.filter(({ at }) => at >= oldest);
      if (rest.length > 0) this.#retries.unshift({ ...batch, records: rest });
      return;
    }
    const records = batch.records.map(({ record }) => record);
    const invocation = await invoke(this.#source.event(records));
    const remaining = this.#remaining(invocation, records);
    if (remaining.length === 0) {
      this.#source.settled?.(records);
      return;
    }
    const failed = new Set(remaining);
    const done = records.filter((record) => !failed.has(record));
    if (done.length > 0) this.#source.settled?.(done);
    const rest = batch.records.filter(({ record }) => failed.has(record));
    await this.#failed({ ...batch, records: rest }, done.length > 0, invocation);
  }

  #remaining(invocation: Invocation, records: readonly R[]): readonly R[] {
    if ('functionError' in invocation) return records;
    return this.#source.settings.reportBatchItemFailures ? this.#source.remaining(invocation.response, records) : [];
  }

  async #failed({ records, failures }: Batch<R>, progressed: boolean, invocation: Invocation): Promise<void> {
    const { settings, clock } = this.#source;
    const now = clock();
    if (settings.bisectBatchOnFunctionError) {
      // Splitting takes no retry, and what is split off is tried at once.
      if (progressed) {
        this.#retries.unshift({ records, failures: 0, dueAt: now });
        return;
      }
      if (records.length > 1) {
        const half = Math.ceil(records.length / 2);
        this.#retries.unshift(
          { records: records.slice(0, half), failures: 0, dueAt: now },
          { records: records.slice(half), failures: 0, dueAt: now },
        );
        return;
      }
    }
    const count = (progressed ? 0 : failures) + 1;
    if (settings.maximumRetryAttempts >= 0 && count > settings.maximumRetryAttempts) {
      await this.#discard(records, 'RetryAttemptsExhausted', count, invocation);
    } else {
      this.#retries.unshift({ records, failures: count, last: invocation, dueAt: now + retryPauseMs(count) });
    }
  }

  async #discard(
    entries: readonly LaneRecord<R>[],
    condition: Discarded<R>['condition'],
    invokeCount: number,
    invocation: Invocation | undefined,
  ): Promise<void> {
    const records = entries.map(({ record }) => record);
    await this.#source.discard({ records, condition, invokeCount, invocation });
    this.#source.settled?.(records);
  }
}
