import { invalid } from '../../commands/errors/errors.js';
import { isArray, checkFunction, checkObject } from '../arguments.js';
import type { OrderedState } from './outcome.js';

/** The events of one lane of a batch. */
export interface Contest<Ev> {
  /** Holds the key. */
  readonly lane: string;
  /** Newest first; of one version, first come first. */
  readonly candidates: readonly Candidate<Ev>[];
}

/** An event's part in a lane. */
export interface Candidate<Ev> {
  readonly event: Ev;
  /** Where the whole event stands in the batch. */
  readonly index: number;
}

/**
 * Orders a batch so that of each key and group only the newest event needs to be written: apply the first candidate of
 * each contest, and settle the others from its result. A candidate that is refused for its content gives way to the
 * next; one whose request fails fails the others too. An event of several groups takes part in several contests, each
 * group on its own merits.
 *
 * Cost: no request.
 *
 * A contest tells its winner by version alone. Where deletions are final, a deletion and a state of one key are one
 * contest of `orderedItems`, and an older deletion still counts: `settle` gives undefined for it, so it is applied too.
 *
 * @throws InvalidInputError for an event that can't be one of the state
 * @example
 * const live = orderedGroups(matches, { groups: { score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] } } });
 * const score = { homeGoals: change.home, awayGoals: change.away, scoreAt: change.at };
 * for (const { candidates } of coalesce(live, [{ key: { id: 'm1' }, groups: { score } }])) {
 *   const [newest, ...others] = candidates;
 *   const result = await live.apply(newest!.event);
 *   for (const { event } of others) console.log(live.settle(event, newest!.event, result));
 * }
 */
export const coalesce = <Ev, I, G extends string>(
  state: OrderedState<Ev, I, G>,
  events: readonly Ev[],
): Contest<Ev>[] => {
  checkObject(state, 'state');
  const methods = state as { readonly lanes: unknown; readonly compare: unknown };
  checkFunction(methods.lanes, 'state.lanes');
  checkFunction(methods.compare, 'state.compare');
  if (!isArray(events)) invalid('events', 'expected an array');
  const contests = new Map<string, Candidate<Ev>[]>();
  events.forEach((whole, index) => {
    for (const { id, event } of state.lanes(whole)) {
      const candidates = contests.get(id);
      if (candidates === undefined) contests.set(id, [{ event, index }]);
      else candidates.push({ event, index });
    }
  });
  return [...contests].map(([lane, candidates]) => ({
    lane,
    candidates: candidates.sort((a, b) => state.compare(b.event, a.event)),
  }));
};
