import type { AnyEntity, Table } from '../../commands/index.js';
import type { EventOutcome, FieldGroups, GroupsDeletion, GroupValues } from '../../recipes/index.js';
import type { Decoders } from '../decoders/decoder.js';
import type { BatchOptions } from '../handler/options.js';
import type { AnyEventRecord } from '../sources/delivery.js';
import type { IngestLine } from './ingest-line.js';

/** All fields of a group but its version, which `versionOf` gives. */
type FieldsOf<E extends AnyEntity, F extends FieldGroups<E>[string]> = Omit<GroupValues<E, F>, F['version']>;

/** An event that replaces groups of fields, each as a whole: nothing can be added to, and no field left as it was. */
export interface ReplaceEvent<E extends AnyEntity, G extends FieldGroups<E>> {
  readonly key: E['~key'];
  readonly groups: { readonly [K in keyof G]?: FieldsOf<E, G[K]> | undefined };
  readonly deleted?: undefined;
  /** When it occurred, for the lateness of a deletion. @default its version, where that is a timestamp */
  readonly occurredAt?: Date | undefined;
}

/** An event that deletes an item, as a tombstone does. */
export interface TombstoneEvent<E extends AnyEntity> {
  readonly key: E['~key'];
  readonly deleted: true;
  readonly groups?: undefined;
  /** See {@link ReplaceEvent.occurredAt}. */
  readonly occurredAt?: Date | undefined;
}

/** What a message means to the state. */
export type IngestEvent<E extends AnyEntity, G extends FieldGroups<E>, D extends GroupsDeletion<E> | undefined> =
  ReplaceEvent<E, G> | (D extends GroupsDeletion<E> ? TombstoneEvent<E> : never);

/** What became of one event. */
export interface Ingested<M> {
  readonly outcome: EventOutcome;
  readonly message: M;
  readonly record: AnyEventRecord;
}

/** What {@link orderedIngest} takes. */
export interface OrderedIngestOptions<
  E extends AnyEntity,
  G extends FieldGroups<E>,
  Q,
  K,
  S,
  D extends GroupsDeletion<E> | undefined,
> extends BatchOptions {
  readonly table: Table;
  readonly entity: E;
  /** The fields that one kind of event replaces together, and the attribute that keeps their version. */
  readonly groups: G;
  /** Soft delete, for events with `deleted: true`. */
  readonly deletion?: D;
  /** How records become messages, by source. Records of another source are refused. */
  readonly decode: Decoders<Q, K, S>;
  /** What a message means to the state; undefined for one that means nothing. What it throws makes the record poison. */
  eventOf(message: NoInfer<Q | K | S>): IngestEvent<E, G, D> | undefined;
  /**
   * The version of a message: one rule for all of a topic, tombstones among it, so it is best read from a header or, where
   * a key never moves to another partition, the offset. Called for messages that mean something.
   */
  versionOf(message: NoInfer<Q | K | S>): NonNullable<E['~item'][G[keyof G]['version']]>;
  /**
   * Learns the outcome of each event, before its record is acknowledged; where it throws, the record failed and comes
   * again. A `Conflict` is worth a look at its source.
   */
  readonly onOutcome?: ((ingested: Ingested<NoInfer<Q | K | S>>) => Promise<void> | void) | undefined;
  /** The metrics' namespace and dimensions. @default SafeWrites, by the function's name */
  readonly metrics?:
    { readonly namespace?: string; readonly dimensions?: Readonly<Record<string, string>> } | undefined;
  /** Takes the line of each batch. @default writes it to standard output as JSON, for CloudWatch to take metrics from */
  readonly log?: ((line: IngestLine) => void) | undefined;
}
