import type { AnyEntity, EntityTable } from '../../commands/index.js';
import type { Deletion } from './deletion.js';
import { GroupedState } from './grouped-state.js';
import type { FieldName, VersionName } from './names.js';
import type { OrderedState } from './outcome.js';

/** Fields that one kind of event replaces together, and the attribute that keeps the version of the newest one. */
export interface FieldGroup<E extends AnyEntity> {
  readonly version: VersionName<E>;
  readonly fields: readonly FieldName<E>[];
}

/** Groups by name. */
export interface FieldGroups<E extends AnyEntity> {
  readonly [name: string]: FieldGroup<E>;
}

/** The deletion of grouped state, with a version of its own. */
export interface GroupsDeletion<E extends AnyEntity> extends Deletion<E> {
  /** The optional attribute that keeps the version of the newest deletion, also after the item came back. */
  readonly version: VersionName<E>;
}

/** All fields of a group and its version: an event replaces them, so it can neither add to nor skip one. */
export type GroupValues<E extends AnyEntity, F extends FieldGroup<E>> = {
  readonly [K in F['fields'][number]]: E['~item'][K];
} & { readonly [K in F['version']]: NonNullable<E['~item'][K]> };

/** An event that replaces groups of fields of one item. */
export interface GroupsEvent<E extends AnyEntity, G extends FieldGroups<E>> {
  readonly key: E['~key'];
  readonly groups: { readonly [K in keyof G]?: GroupValues<E, G[K]> | undefined };
  readonly deleted?: undefined;
  /** For the lateness check of a state with deletions. @default the version, where it is a timestamp */
  readonly occurredAt?: Date | undefined;
}

/** An event that deletes the item, as far as it is not newer. */
export interface DeleteEvent<E extends AnyEntity, V extends keyof E['~item']> {
  readonly key: E['~key'];
  /** The deletion's version. */
  readonly deleted: NonNullable<E['~item'][V]>;
  readonly groups?: undefined;
  /** For the lateness check. @default the version, where it is a timestamp */
  readonly occurredAt?: Date | undefined;
}

/** What {@link orderedGroups} takes. */
export interface OrderedGroupsOptions<
  E extends AnyEntity,
  G extends FieldGroups<E>,
  D extends GroupsDeletion<E> | undefined,
> {
  readonly groups: G;
  readonly deletion?: D;
  /**
   * What an event of several groups does where one of them is newer already. `all`: nothing is written, so a newer value
   * of one group blocks the older event for the others. `each`: the groups that are older are written, in a second
   * request; the state is then the newest of each group whatever the order. @default 'all'
   */
  readonly several?: 'all' | 'each';
}

/**
 * Brings items to the newest version of each group of fields, whatever the order and multiplicity of the events
 * (seeds/000, Events that arrive out of order). Each group keeps its version beside its fields; an event is written where
 * the stored version is older or missing, and a failed condition is its answer, so nothing is retried here.
 *
 * Cost of an event: one request; a write unit per KB of the larger of the old and the new item, also where it is
 * AlreadyStored, Superseded or a Conflict. With `several: 'each'`, and for a deletion that finds newer groups where
 * deletions can be undone, one request more for each time that a group turns out to be newer.
 *
 * - A repeat, and the client's own retry after a lost response, are AlreadyStored: the write needs no `maxAttempts(1)`.
 * - A version orders only what one source numbers. Times of several producers are as good as their clocks; offsets of
 *   Kafka compare within a partition, so a key has to stay on one, also when partitions are added. Where there are
 *   deletions, their versions and those of all groups come from one rule.
 * - Two events of one version with other content are a Conflict: the first one stored stays, and the source is to blame.
 * - Anything else that writes these attributes breaks the order.
 * - The first event of a group creates the item, so every other attribute must be optional or have a default.
 *
 * @throws InvalidInputError where an attribute can't have its part
 * @example
 * const live = orderedGroups(matches, {
 *   groups: { score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] } },
 * });
 * const { outcome } = await live.apply({
 *   key: { id: 'm1' },
 *   groups: { score: { homeGoals: change.home, awayGoals: change.away, scoreAt: change.at } },
 * });
 */
export const orderedGroups = <
  E extends AnyEntity,
  const G extends FieldGroups<E>,
  const D extends GroupsDeletion<E> | undefined = undefined,
>(
  table: EntityTable<E>,
  options: OrderedGroupsOptions<E, G, D>,
): OrderedState<
  GroupsEvent<E, G> | (D extends GroupsDeletion<E> ? DeleteEvent<E, D['version']> : never),
  E['~item'],
  keyof G & string
> => new GroupedState(table, options) as never;
