import { isConditionFailure } from '../engine/api-error.js';
import type { FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import type { Meter } from '../engine/meter.js';
import type { Body, WireItem } from '../engine/types.js';
import { collectionMetrics } from './collection-metrics.js';
import type { Operation } from './operation.js';
import { runWrite } from './run-write.js';
import type { WriteOperation } from './run-write.js';

export const RETURN_ON_FAILURE: FieldTypes = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

/** What the item operations read of a checked request. */
export interface WriteRequest {
  TableName: string;
  ReturnConsumedCapacity?: string;
  ReturnValuesOnConditionCheckFailure?: string;
  ReturnItemCollectionMetrics?: string;
}

function writeItem(operation: WriteOperation): Operation {
  return (engine, request, meter) => {
    const data = engine.validate<Body & WriteRequest>(operation, request);
    meter.touch(data.TableName);
    const overlay = engine.overlay(engine.locks.refuse);
    let answer: Body;
    try {
      answer = runWrite(engine, overlay, operation, data, false);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      meter.checked(data.TableName, overlay.met);
      if (data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && overlay.met) error.body['Item'] = overlay.met;
      throw error;
    }
    for (const { table, before, after } of overlay.changes) meter.written(table, before, after);
    engine.commit(overlay);
    const [change] = overlay.changes;
    const metrics =
      data.ReturnItemCollectionMetrics === 'SIZE' && change
        ? collectionMetrics(change.table, (change.after ?? change.before ?? data['Key']) as WireItem)
        : undefined;
    return withCapacity(metrics ? { ...answer, ItemCollectionMetrics: metrics } : answer, data, meter);
  };
}

/** Replaces dynalite's ConsumedCapacity by the meter's. */
export function withCapacity(answer: Body, data: { ReturnConsumedCapacity?: unknown }, meter: Meter): Body {
  const consumed = meter.consumed(data.ReturnConsumedCapacity, false)?.[0];
  const { ConsumedCapacity: _, ...rest } = answer;
  return consumed ? { ...rest, ConsumedCapacity: consumed } : rest;
}

export const putItem = writeItem('PutItem');
export const updateItem = writeItem('UpdateItem');
export const deleteItem = writeItem('DeleteItem');

/** Teaches dynalite's checks the field that it does not know. */
export function extendItemWrites(engine: Engine): void {
  for (const operation of ['PutItem', 'UpdateItem', 'DeleteItem'] as const) {
    engine.extendValidation(operation, RETURN_ON_FAILURE);
  }
}
