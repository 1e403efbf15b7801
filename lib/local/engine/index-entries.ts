import type { EngineDb } from './dynalite.js';
import { indexesOf, projected } from './index-units.js';
import { indexSpace } from './store.js';
import type { StoreOp } from './store.js';
import type { IndexDescription, ItemChange, TableDescription, WireItem } from './types.js';

/**
 * The place of an item in an index: by the index's keys, then by the item's own. dynalite ends it with 24 bits of a hash
 * instead of the item's keys, so that of thousands of items with one index key some would replace each other.
 */
export function entryKey(db: EngineDb, item: WireItem, table: TableDescription, index: IndexDescription): string {
  return `${db.createIndexKey(item, table, index.KeySchema)}/${db.createKey(item, table)}`;
}

/** What the change of an item changes in its table's indexes. */
export function indexOps(db: EngineDb, { table, before, after }: Omit<ItemChange, 'key'>): StoreOp[] {
  const ops: StoreOp[] = [];
  for (const { index, group } of indexesOf(table)) {
    const from = projected(before, index, table);
    const to = projected(after, index, table);
    if (!from && !to) continue;
    const space = indexSpace(group === 'LocalSecondaryIndexes' ? 'Local' : 'Global', table.TableName, index.IndexName);
    const left = from && entryKey(db, from, table, index);
    const taken = to && entryKey(db, to, table, index);
    if (left !== undefined && left !== taken) ops.push({ space, key: left, value: undefined });
    if (taken !== undefined) ops.push({ space, key: taken, value: to });
  }
  return ops;
}
