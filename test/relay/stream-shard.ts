import type { BatchResponse, StreamEventRecord } from '../../lib/events/index.js';
import type { Chance } from './chance.js';

/** A shard as Lambda polls it: what is not acknowledged comes again, and sometimes what is. */
export class StreamShard {
  private readonly records: StreamEventRecord[] = [];
  private checkpoint = 0;
  /** The place behind all that was delivered. */
  private seen = 0;
  private batch: readonly StreamEventRecord[] = [];

  constructor(private readonly chance: Chance) {}

  /** Takes records; those of different items in any order, as those of one transaction surface. */
  add(...records: readonly StreamEventRecord[]): void {
    const open = this.records.splice(this.seen);
    for (const record of records) {
      const item = JSON.stringify(record.dynamodb?.Keys);
      const behind = open.findLastIndex((other) => JSON.stringify(other.dynamodb?.Keys) === item) + 1;
      open.splice(behind + Math.floor(this.chance() * (open.length - behind + 1)), 0, record);
    }
    this.records.push(...open);
  }

  get isEmpty(): boolean {
    return this.checkpoint >= this.records.length;
  }

  next(): readonly StreamEventRecord[] {
    if (this.chance() < 0.2) this.checkpoint = Math.max(0, this.checkpoint - 2);
    const end = Math.min(this.records.length, this.checkpoint + 1 + Math.floor(this.chance() * 6));
    this.seen = Math.max(this.seen, end);
    this.batch = this.records.slice(this.checkpoint, end).map((record, i) => ({
      ...record,
      // In the order of the shard, and of different lengths.
      dynamodb: { ...record.dynamodb, SequenceNumber: String(10n ** 21n - 3n + BigInt(this.checkpoint + i)) },
    }));
    return this.batch;
  }

  /**
   * Takes the answer; undefined where the function was killed or threw, after which some batches are given up.
   * @returns what was acknowledged
   */
  answer(response: BatchResponse | undefined): readonly StreamEventRecord[] {
    if (response === undefined) {
      if (this.chance() < 0.2) this.checkpoint += this.batch.length;
      return [];
    }
    const [failure, ...others] = response.batchItemFailures;
    const place = this.batch.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failure?.itemIdentifier);
    if (others.length > 0 || (failure !== undefined && place < 0)) throw new Error('unknown sequence number');
    const done = failure === undefined ? this.batch.length : place;
    this.checkpoint += done;
    return this.batch.slice(0, done);
  }
}
