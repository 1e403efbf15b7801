import { holds } from '../corrections/condition.js';
import type { Expression } from '../corrections/condition.js';
import { readUnits } from '../engine/index-units.js';
import { itemSize } from '../engine/item-size.js';
import { itemSpace } from '../engine/store.js';
import type { Body, WireItem } from '../engine/types.js';
import { withCapacity } from './item-writes.js';
import type { Operation } from './operation.js';

interface ReadRequest {
  TableName: string;
  IndexName?: string;
  ConsistentRead?: boolean;
  ExclusiveStartKey?: WireItem;
  ReturnConsumedCapacity?: string;
}

export const getItem: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & ReadRequest>('GetItem', request);
  meter.touch(data.TableName);
  const overlay = engine.overlay();
  const answer = engine.run('GetItem', overlay, data);
  meter.items += overlay.met ? 1 : 0;
  meter.read(data.TableName, readUnits(overlay.met ? itemSize(overlay.met) : 0, data.ConsistentRead === true));
  return withCapacity(answer, data, meter);
};

interface BatchGetRequest {
  RequestItems: Record<string, { Keys: WireItem[]; ConsistentRead?: boolean }>;
  ReturnConsumedCapacity?: string;
}

export const batchGetItem: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & BatchGetRequest>('BatchGetItem', request);
  const { db } = engine.dynalite;
  for (const name of Object.keys(data.RequestItems)) meter.touch(name);
  const { ConsumedCapacity: _, ...answer } = engine.run('BatchGetItem', engine.overlay(), data);
  const left = answer['UnprocessedKeys'] as Record<string, { Keys: WireItem[] }>;
  for (const [name, { Keys, ConsistentRead }] of Object.entries(data.RequestItems)) {
    const table = engine.table(name);
    const skipped = new Set((left[name]?.Keys ?? []).map((key) => db.createKey(key, table)));
    for (const key of Keys) {
      const path = db.createKey(key, table);
      if (skipped.has(path)) continue;
      const item = engine.store.space<WireItem>(itemSpace(name)).get(path);
      meter.items += item ? 1 : 0;
      meter.read(name, readUnits(item ? itemSize(item) : 0, ConsistentRead === true));
    }
  }
  const consumed = meter.consumed(data.ReturnConsumedCapacity, false);
  return consumed ? { ...answer, ConsumedCapacity: consumed } : answer;
};

/** Holds for every item. */
const ALWAYS: Expression = { type: '=', args: [{ S: '' }, { S: '' }] };

function readPage(operation: 'Query' | 'Scan', keysInFilter = false): Operation {
  return async (engine, request, meter) => {
    const data = engine.validate<Body & ReadRequest>(operation, request);
    meter.touch(data.TableName);
    const overlay = engine.overlay();
    overlay.startAfter = data.ExclusiveStartKey;
    const read: WireItem[] = [];
    overlay.onValue = (_space, value) => read.push(value);
    const filter = data['_filter'] as { expression: Expression } | undefined;
    const projection = data['_projection'] as { paths: unknown[] } | undefined;
    // With a filter all is read; filtering and projecting come after, here. dynalite still checks both.
    const wide = filter && {
      _filter: { ...filter, expression: ALWAYS, ...(keysInFilter ? { pathHeads: {} } : {}) },
      ...(projection ? { _projection: { ...projection, paths: undefined } } : {}),
      ...(data['Select'] === 'COUNT' ? { Select: undefined } : {}),
    };
    // dynalite counts what it read from the table beside the index only when asked for capacity.
    const answer = await engine.runAsync(operation, overlay, { ...data, ...wide, ReturnConsumedCapacity: 'INDEXES' });
    const scanned = answer['ScannedCount'] as number;
    meter.items += scanned;
    const bytes = read.slice(0, scanned).reduce((sum, item) => sum + itemSize(item), 0);
    const units = readUnits(bytes, data.ConsistentRead === true);
    if (data.IndexName === undefined) meter.read(data.TableName, units);
    else {
      const table = engine.table(data.TableName);
      const local = table.LocalSecondaryIndexes?.some(({ IndexName }) => IndexName === data.IndexName);
      meter.read(data.TableName, units, local ? 'LocalSecondaryIndexes' : 'GlobalSecondaryIndexes', data.IndexName);
      const fetched = answer['ConsumedCapacity'] as { Table?: { CapacityUnits: number } } | undefined;
      meter.read(data.TableName, fetched?.Table?.CapacityUnits ?? 0);
    }
    if (filter) {
      const kept = (answer['Items'] as WireItem[]).filter((item) => holds(filter.expression, item));
      answer['Count'] = kept.length;
      if (data['Select'] === 'COUNT') delete answer['Items'];
      else
        answer['Items'] = projection ? kept.map((item) => engine.dynalite.db.mapPaths(projection.paths, item)) : kept;
    }
    return withCapacity(answer, data, meter);
  };
}

export const query = readPage('Query');
export const scan = readPage('Scan');
/** A Query whose filter may name keys, as a SELECT's condition may. */
export const queryAnyFilter = readPage('Query', true);
