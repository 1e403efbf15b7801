import { badKeyValue } from '../corrections/key-values.js';
import { validationError } from '../engine/api-error.js';
import type { Body, WireItem } from '../engine/types.js';
import { collectionMetricsByTable } from './collection-metrics.js';
import type { Operation } from './operation.js';

interface WriteEntry {
  PutRequest?: { Item: WireItem };
  DeleteRequest?: { Key: WireItem };
}
interface BatchWriteRequest {
  RequestItems: Record<string, WriteEntry[]>;
  ReturnConsumedCapacity?: string;
  ReturnItemCollectionMetrics?: string;
}

/** Writes each item on its own; an item that a transaction holds is left unprocessed. */
export const batchWriteItem: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & BatchWriteRequest>('BatchWriteItem', request);
  const { db } = engine.dynalite;
  const unprocessed: Record<string, WriteEntry[]> = {};
  const allowed: Record<string, WriteEntry[]> = {};
  for (const [name, entries] of Object.entries(data.RequestItems)) {
    meter.touch(name);
    const table = engine.findTable(name);
    for (const entry of entries) {
      const item = entry.PutRequest?.Item ?? entry.DeleteRequest?.Key;
      const invalid =
        !table || !item || (entry.PutRequest ? db.validateItem(item, table) : db.validateKey(item, table));
      // What is invalid stays in the request, for dynalite to refuse.
      const held = !invalid && engine.locks.isHeld(name, db.createKey(item, table));
      ((held ? unprocessed : allowed)[name] ??= []).push(entry);
    }
  }
  const overlay = engine.overlay();
  engine.run('BatchWriteItem', overlay, { ...data, RequestItems: allowed });
  for (const { table, after } of overlay.changes) {
    const refused = after && badKeyValue(after, table);
    if (refused) throw validationError(refused);
  }
  for (const { table, before, after } of overlay.changes) meter.written(table, before, after);
  engine.commit(overlay);
  const consumed = meter.consumed(data.ReturnConsumedCapacity, false);
  const metrics = data.ReturnItemCollectionMetrics === 'SIZE' ? collectionMetricsByTable(overlay.changes) : undefined;
  return {
    UnprocessedItems: unprocessed,
    ...(consumed ? { ConsumedCapacity: consumed } : {}),
    ...(metrics ? { ItemCollectionMetrics: metrics } : {}),
  };
};
