import type { AnyEntity, EntityTable } from '../../commands/index.js';
import type { Deletion } from './deletion.js';
import type { VersionName } from './names.js';
import type { DeleteEvent } from './ordered-groups.js';
import type { OrderedState } from './outcome.js';
import { WholeState } from './whole-state.js';

/** An event that carries the whole state of one item. */
export interface ItemEvent<E extends AnyEntity> {
  readonly item: E['~input'];
  readonly deleted?: undefined;
  /** For the lateness check of a state with deletions. @default the version, where it is a timestamp */
  readonly occurredAt?: Date | undefined;
}

/** What {@link orderedItems} takes. */
export interface OrderedItemsOptions<E extends AnyEntity, V extends VersionName<E>, D extends Deletion<E> | undefined> {
  /** The attribute that holds the version of the state. */
  readonly version: V;
  /** A deletion replaces the item with one of its key, version and flag; every other attribute may be absent. */
  readonly deletion?: D;
}

/**
 * Brings items to their newest version, where every event carries the whole state: a put replaces the item where the
 * stored version is older or missing (seeds/000, Events that arrive out of order). Versions, outcomes and caveats are
 * those of {@link orderedGroups}; attributes that the entity does not declare are dropped.
 *
 * Cost of an event: one request; a write unit per KB of the larger of the old and the new item, also where it is
 * AlreadyStored, Superseded or a Conflict.
 *
 * An event equals the stored one where its members do; one that it leaves to a `default()` made by a function is not
 * compared.
 *
 * @throws InvalidInputError where an attribute can't have its part
 * @example
 * const Standing = entity('STANDING', {
 *   pk: 'LEAGUE#{league}', sk: 'TEAM#{team}',
 *   attributes: { league: string(), team: string(), points: integer(), seq: integer() },
 * });
 * const standings = orderedItems(shop.of(Standing), { version: 'seq' });
 * const { outcome } = await standings.apply({ item: { league: 'A', team: 'Bern', points: 12, seq: 7 } });
 */
export const orderedItems = <
  E extends AnyEntity,
  const V extends VersionName<E>,
  const D extends Deletion<E> | undefined = undefined,
>(
  table: EntityTable<E>,
  options: OrderedItemsOptions<E, V, D>,
): OrderedState<ItemEvent<E> | (D extends Deletion<E> ? DeleteEvent<E, V> : never), E['~item'], never> =>
  new WholeState(table, options) as never;
