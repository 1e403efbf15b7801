import type { Engine } from './engine/engine.js';
import { itemSpace, TIME_TO_LIVE } from './engine/store.js';
import type { WireItem } from './engine/types.js';
import type { TimeToLive } from './operations/time-to-live.js';

const FIVE_YEARS = 5 * 365 * 24 * 60 * 60;
/** Who deletes, as the stream records of expired items say. */
const SERVICE = { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' };

/** Deletes what has expired on the clock, and tells how many items that were. Items in a transaction wait for the next. */
export function sweepExpired(engine: Engine): number {
  const now = engine.clock() / 1000;
  let deleted = 0;
  for (const [tableName, { AttributeName }] of [...engine.store.space<TimeToLive>(TIME_TO_LIVE).entries()]) {
    const table = engine.findTable(tableName);
    if (!table) continue;
    const items = [...engine.store.space<WireItem>(itemSpace(tableName)).entries()];
    for (const [key, item] of items) {
      if (!hasExpired(item[AttributeName]?.N, now) || engine.locks.isHeld(tableName, key)) continue;
      const overlay = engine.overlay();
      const Key: WireItem = {};
      for (const { AttributeName: name } of table.KeySchema) Key[name] = item[name]!;
      engine.run('DeleteItem', overlay, { TableName: tableName, Key });
      engine.commit(overlay, SERVICE);
      deleted += 1;
    }
  }
  return deleted;
}

/** Only numbers count, as epoch seconds; what lies more than five years back is taken for a mistake and stays. */
function hasExpired(value: string | undefined, now: number): boolean {
  if (value === undefined) return false;
  const expires = Number(value);
  return expires <= now && expires > now - FIVE_YEARS;
}
