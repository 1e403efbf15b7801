import { calendarDate, entity, integer, string, stringSet, type Table } from '../../lib/commands/index.js';
import { WindowedCounter, type CountOutcome } from '../../lib/recipes/counters/windowed-counter.js';

/** The idempotent counter written out, for an item of your own. */
export const DailyTally = entity('DAILY_TALLY', {
  pk: 'DAILY_TALLY#{name}',
  sk: 'DAY#{day}',
  attributes: { name: string(), day: calendarDate(), count: integer(), seen: stringSet() },
});

/** Counts a request on the day it says itself; false where it was counted before. */
export const tally = async (shop: Table, name: string, requestId: string, at: Date): Promise<boolean> => {
  const { count, seen } = DailyTally.attrs;
  const { conditionMet } = await shop
    .of(DailyTally)
    .update({ name, day: at.toISOString().slice(0, 10) })
    .add(count, 1)
    .add(seen, [requestId])
    .if(seen.contains(requestId).negate())
    .trySend();
  return conditionMet;
};

const day = 86_400_000;

/** The same by the recipe, which also stops before the item is full, and lets old days go. */
export const countSignup = (shop: Table, requestId: string, at: Date): Promise<CountOutcome> =>
  new WindowedCounter(shop, { name: 'signups', expiry: { latenessMs: 7 * day, keepMs: 8 * day } }).count({
    id: requestId,
    at,
  });
