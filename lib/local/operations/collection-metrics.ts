import type { Body, ItemChange, TableDescription, WireItem } from '../engine/types.js';

/** ItemCollectionMetrics of a write, which only tables with local indexes have; the estimate is AWS's smallest. */
export function collectionMetrics(table: TableDescription, item: WireItem): Body | undefined {
  if (!table.LocalSecondaryIndexes?.length) return undefined;
  const hash = table.KeySchema[0]!.AttributeName;
  return { ItemCollectionKey: { [hash]: item[hash] }, SizeEstimateRangeGB: [0, 1] };
}

/** The same of several writes, by table. */
export function collectionMetricsByTable(changes: readonly ItemChange[]): Record<string, Body[]> | undefined {
  const tables: Record<string, Map<string, Body>> = {};
  for (const { table, key, before, after } of changes) {
    const item = after ?? before;
    // Deleting what is not there has no item to tell of.
    const metrics = item && collectionMetrics(table, item);
    // One for each partition: the item's place starts with it.
    if (metrics) (tables[table.TableName] ??= new Map()).set(key.split('/', 2).join('/'), metrics);
  }
  const names = Object.keys(tables);
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, [...tables[name]!.values()]]));
}
