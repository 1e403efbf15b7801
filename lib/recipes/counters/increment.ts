import type { AnyEntity, EntityTable, NumberHandle, SendOptions } from '../../commands/index.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkOptions } from '../arguments.js';

/**
 * The plain counter: adds to a number on the server, so that concurrent writers need no read and no lock, and gives the
 * value after this add. The item and the number are created where they are absent.
 *
 * It counts at most once: a client's own retry after a lost response would count twice, so there is none. It may
 * therefore undercount: after a failure the caller can't tell whether it counted. Where that matters, take
 * {@link WindowedCounter}. Such a counter has gaps where a write failed; numbers without gaps, as invoices need, are
 * those of {@link GaplessSequence}. One item takes about 1000 writes a second; {@link ShardedCounter} takes more.
 *
 * Cost: one request, one write unit per KB of the item. There is no condition, so no conflict; a repeat counts again.
 *
 * @param attribute the number to add to, a handle of the entity
 * @returns the number after the add
 * @throws whatever the request failed with, at its first failure: it may have counted
 * @example
 * const views = await increment(pages, { path: '/home' }, PageViews.attrs.count, 1);
 */
export const increment = async <E extends AnyEntity, V>(
  counters: EntityTable<E>,
  key: E['~key'],
  attribute: NumberHandle<E['name'], V>,
  amount: NoInfer<V>,
  options: SendOptions = {},
): Promise<V> => {
  bindingOf(counters);
  const { signal } = checkOptions(options);
  // After an add the number is there.
  return counters.update(key).add(attribute, amount).maxAttempts(1).return(attribute).send({ signal }) as Promise<V>;
};
