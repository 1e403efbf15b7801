import { checkObject } from '../arguments.js';

/**
 * What became of an event. `Applied`: it was written. `AlreadyStored`: it is stored since before, as a second delivery
 * and the client's own retry after a lost response both find. `Superseded`: something newer is stored. `Conflict`: another
 * event of the same version is stored. Only a Conflict asks for a look; the others are done.
 */
export type EventOutcome = 'Applied' | 'AlreadyStored' | 'Superseded' | 'Conflict';

/** What became of one group of an event. `Blocked`: it is newer than what is stored, but another group of the event is not. */
export type GroupOutcome = EventOutcome | 'Blocked';

/** What {@link OrderedState.apply} gives; plain data, from which other events of the key can be settled. */
export interface EventResult<I, G extends string = string> {
  readonly outcome: EventOutcome;
  /** By group; empty where the event has none. */
  readonly groups: { readonly [K in G]?: GroupOutcome };
  /** What the first failed condition saw; undefined where none failed. */
  readonly item: I | undefined;
}

/** Refuses what `apply` gave none of. */
export const checkResult = (result: { readonly groups: object; readonly item: unknown }): void => {
  const { groups, item } = checkObject(result, 'result', 'expected what apply gave');
  checkObject(groups, 'result.groups', 'expected what apply gave');
  if (item !== undefined) checkObject(item, 'result.item', 'expected what apply gave');
};

/** What {@link OrderedState.apply} takes beside the event. */
export interface ApplyOptions {
  /** What counts as now, for the expiry of a deletion and the lateness of an event. @default the clock */
  readonly now?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One thing that has one newest version: a group of a key, or a key's whole state or deletion. */
export interface Lane<Ev> {
  /** Equal for events that compete; holds the key. */
  readonly id: string;
  /** The event's part in this lane. */
  readonly event: Ev;
}

/** State that events of any order and multiplicity bring to the newest version of each lane. */
export interface OrderedState<Ev, I, G extends string = string> {
  /**
   * Writes the event where what is stored is older.
   * @throws EventTooLateError where it is older than the lateness that deletions are kept for
   * @throws InvalidInputError for an event that does not replace its whole group, before anything is sent
   */
  apply(event: Ev, options?: ApplyOptions): Promise<EventResult<I, G>>;
  /**
   * What another event of the same key comes to, from the result of one that was applied: without a request, since
   * stored versions only grow. Undefined where that does not decide it: the event must be applied itself.
   */
  settle(event: Ev, applied: Ev, result: EventResult<I, G>): EventOutcome | undefined;
  /** The event's parts, each of which competes with the events of one lane. */
  lanes(event: Ev): readonly Lane<Ev>[];
  /** Orders two events of one lane by version, as DynamoDB does: negative where the first is older. */
  compare(a: Ev, b: Ev): number;
}

/** The outcome of an event of several groups. */
export const combineOutcomes = (outcomes: readonly GroupOutcome[]): EventOutcome => {
  for (const outcome of ['Conflict', 'Applied', 'Superseded'] as const) if (outcomes.includes(outcome)) return outcome;
  return outcomes.includes('Blocked') ? 'Superseded' : 'AlreadyStored';
};
