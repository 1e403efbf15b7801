import { validationError } from '../engine/api-error.js';
import { sameValue } from '../engine/index-units.js';
import type { Store, StoreOp } from '../engine/store.js';
import type { Body, ItemChange, StreamSpecification, TableDescription } from '../engine/types.js';
import { recordSpace, Sequence, STREAMS } from './model.js';
import type { StoredStream, ViewType } from './model.js';
import { storedRecord } from './records.js';
import { trimStream } from './retention.js';
import { closeStream, firstShards, isOld, replaceShards, shardFor, streamOp } from './shards.js';

/** Writes the streams of all tables. Every method gives changes, for the commit that they belong to. */
export class Streams {
  readonly #sequence: Sequence;
  #trimAt = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
    private readonly shardCount: number,
  ) {
    this.#sequence = new Sequence(store);
  }

  /** The records of changes in their order; one that changes nothing leaves none. */
  record(changes: readonly ItemChange[], userIdentity?: Body): StoreOp[] {
    const ops: StoreOp[] = [];
    const touched = new Map<string, StoredStream>();
    const now = this.clock();
    // A commit of its own: the changes below must build on what retention leaves.
    this.store.apply(this.trim(now));
    for (const change of changes) {
      const { table, before, after } = change;
      if (!table.StreamSpecification?.StreamEnabled || sameValue(before, after)) continue;
      const arn = table.LatestStreamArn!;
      const stream = touched.get(arn) ?? this.#current(arn, now, ops);
      touched.set(arn, stream);
      const shard = shardFor(stream, change.key);
      const value = storedRecord(stream, change, now, userIdentity);
      ops.push({ space: recordSpace(arn, shard.id), key: this.#sequence.next(), value });
    }
    if (ops.length > 0) ops.push(...this.#sequence.ops());
    return ops;
  }

  /** Turns the stream of a table description on or off as a specification says; changes the description. */
  specify(table: TableDescription, specification: StreamSpecification): StoreOp[] {
    const enabled = table.StreamSpecification?.StreamEnabled === true;
    if (!specification.StreamEnabled) {
      if (specification.StreamViewType !== undefined) {
        throw validationError(
          'One or more parameter values were invalid: StreamViewType should not be specified when StreamEnabled is false',
        );
      }
      if (!enabled) return [];
      delete table.StreamSpecification;
      return this.close(table);
    }
    const view = specification.StreamViewType;
    if (view === undefined) {
      throw validationError(
        'One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true',
      );
    }
    if (enabled) throw validationError(`Table already has an enabled stream: TableName: ${table.TableName}`);
    return this.#open(table, view);
  }

  /** Ends a table's stream; what it holds stays readable for a day. */
  close(table: TableDescription): StoreOp[] {
    const stream = table.LatestStreamArn ? this.find(table.LatestStreamArn) : undefined;
    if (!stream || stream.disabledAt !== undefined) return [];
    return [streamOp(closeStream(stream, this.#sequence, this.clock())), ...this.#sequence.ops()];
  }

  /** Splits every open shard of a table's stream in two, as a growing table's partitions do. */
  split(table: TableDescription): StoreOp[] {
    const stream = table.LatestStreamArn ? this.find(table.LatestStreamArn) : undefined;
    if (!stream) throw new Error(`Table ${table.TableName} has no stream: give it a StreamSpecification first.`);
    const replaced = replaceShards(stream, this.#sequence, this.clock(), 2, () => true);
    return [streamOp(replaced), ...this.#sequence.ops()];
  }

  find(arn: string): StoredStream | undefined {
    return this.store.space<StoredStream>(STREAMS).get(arn);
  }

  all(): StoredStream[] {
    return [...this.store.space<StoredStream>(STREAMS).entries()].map(([, stream]) => stream);
  }

  /** Takes what is older than a day, at most once a minute of the clock. */
  trim(now = this.clock()): StoreOp[] {
    if (now < this.#trimAt) return [];
    this.#trimAt = now + 60_000;
    return this.all().flatMap((stream) => trimStream(this.store, stream, now));
  }

  #open(table: TableDescription, view: ViewType): StoreOp[] {
    let createdAt = this.clock();
    const arnAt = (at: number): string => `${table.TableArn}/stream/${labelOf(at)}`;
    // A stream's name is its moment: two of one table never share one.
    while (this.find(arnAt(createdAt))) createdAt += 1;
    const stream: StoredStream = {
      arn: arnAt(createdAt),
      label: labelOf(createdAt),
      table: table.TableName,
      view,
      keySchema: table.KeySchema,
      createdAt,
      shards: firstShards(this.shardCount, this.#sequence, createdAt),
    };
    table.StreamSpecification = { StreamEnabled: true, StreamViewType: view };
    table.LatestStreamArn = stream.arn;
    table.LatestStreamLabel = stream.label;
    return [streamOp(stream), ...this.#sequence.ops()];
  }

  /** The stream with shards that are not too old; ones that are get successors first. */
  #current(arn: string, now: number, ops: StoreOp[]): StoredStream {
    const stream = this.find(arn);
    if (!stream) throw new Error(`Stream ${arn} is missing`);
    const old = isOld(now);
    if (!stream.shards.some((shard) => shard.ending === undefined && old(shard))) return stream;
    const renewed = replaceShards(stream, this.#sequence, now, 1, old);
    ops.push(streamOp(renewed));
    return renewed;
  }
}

const labelOf = (time: number): string => new Date(time).toISOString().replace('Z', '');
