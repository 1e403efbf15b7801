import { isApiError, isConditionFailure, validationError } from '../engine/api-error.js';
import type { Engine } from '../engine/engine.js';
import { readUnits } from '../engine/index-units.js';
import { itemSize } from '../engine/item-size.js';
import type { Meter } from '../engine/meter.js';
import type { Overlay } from '../engine/overlay.js';
import { itemSpace } from '../engine/store.js';
import { turn, wait } from '../engine/turn.js';
import type { Body, ItemChange, WireItem } from '../engine/types.js';
import type { Operation } from './operation.js';
import { collectionMetricsByTable } from './collection-metrics.js';
import { requireCondition, runWrite } from './run-write.js';
import { RequestTokens } from './request-tokens.js';
import { cancelled, reasonOf } from './cancellation.js';
import type { Reason } from './cancellation.js';
import { KINDS, locateSteps, transactWriteTypes } from './transact-items.js';
import type { Step } from './transact-items.js';

const MAX_BYTES = 4 * 1024 * 1024;

interface TransactWriteRequest {
  TransactItems: Body[];
  ClientRequestToken?: string;
  ReturnConsumedCapacity?: string;
  ReturnItemCollectionMetrics?: string;
}

/** TransactWriteItems, with the tokens it has seen. */
export function transactWriteItems(engine: Engine): Operation {
  const types = transactWriteTypes(engine);
  const tokens = new RequestTokens(engine.store, engine.clock);
  return async (_engine, request, meter, injected = []) => {
    // Hashed before the checks parse the expressions into the request.
    const received = JSON.stringify(request['TransactItems'] ?? null);
    const data = engine.check(request, types) as Body & TransactWriteRequest;
    const steps = locateSteps(engine, data.TransactItems);
    for (const { table } of steps) meter.touch(table.TableName);
    const token = data.ClientRequestToken;
    const claim = token === undefined ? undefined : tokens.claim(token, JSON.parse(received));
    if (claim?.replay) return replayed(engine, steps, data, meter);
    try {
      const changes = await commitSteps(engine, steps, meter, injected, () => claim?.finish() ?? []);
      const metrics = data.ReturnItemCollectionMetrics === 'SIZE' ? collectionMetricsByTable(changes) : undefined;
      return { ...answer(data, meter), ...(metrics ? { ItemCollectionMetrics: metrics } : {}) };
    } finally {
      claim?.release();
    }
  };
}

/** Takes the items, holds them as long as a transaction is in flight, then runs and commits every step at once. */
async function commitSteps(
  engine: Engine,
  steps: readonly Step[],
  meter: Meter,
  injected: readonly (string | undefined)[],
  alongside: () => ReturnType<ReturnType<RequestTokens['claim']>['finish']>,
): Promise<ItemChange[]> {
  const told = steps.map((step, i) =>
    step.key !== undefined && engine.locks.isHeld(step.table.TableName, step.key) ? 'TransactionConflict' : injected[i],
  );
  if (told.some((code) => code !== undefined && code !== 'None')) {
    // Nothing is taken, but the other steps still say how they would have fared.
    throw cancelled(runSteps(engine, engine.overlay(), steps, told, meter));
  }
  const release = engine.locks.take(
    steps.flatMap(({ table, key }) => (key === undefined ? [] : [{ table: table.TableName, key }])),
  );
  try {
    // One turn of the event loop at least, so that requests sent together meet.
    await (engine.transactionMs > 0 ? wait(engine.transactionMs) : turn());
    const overlay = engine.overlay();
    const reasons = runSteps(engine, overlay, steps, [], meter);
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(reasons);
    const bytes = overlay.changes.reduce((sum, { before, after }) => sum + itemSize(after ?? before ?? {}), 0);
    if (bytes > MAX_BYTES) {
      throw validationError('Transaction payload size exceeded the maximum allowed size of 4 MB');
    }
    overlay.ops.push(...alongside());
    engine.commit(overlay);
    return overlay.changes;
  } finally {
    release();
  }
}

/**
 * Runs the steps on an overlay and tells each one's reason; all are counted, whatever becomes of the whole.
 *
 * @param told the reasons of those that are not run
 */
function runSteps(
  engine: Engine,
  overlay: Overlay,
  steps: readonly Step[],
  told: readonly (string | undefined)[],
  meter: Meter,
): Reason[] {
  return steps.map((step, i) => {
    const tableName = step.table.TableName;
    const code = told[i];
    if (code !== undefined) {
      meter.checked(tableName, engine.store.space<WireItem>(itemSpace(tableName)).get(step.key!), undefined, 2);
      return reasonOf(code);
    }
    overlay.met = undefined;
    const changes = overlay.changes.length;
    try {
      if (step.invalid) throw step.invalid;
      if (step.kind === 'ConditionCheck') checkCondition(engine, overlay, step);
      else runWrite(engine, overlay, KINDS[step.kind], step.data, true);
    } catch (error) {
      if (!isApiError(error)) throw error;
      meter.checked(tableName, overlay.met, undefined, 2);
      const message = (error.body['message'] ?? error.message) as string;
      if (!isConditionFailure(error)) return { Code: 'ValidationError', Message: message };
      const reason: Reason = { Code: 'ConditionalCheckFailed', Message: message };
      if (step.data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && overlay.met) reason.Item = overlay.met;
      return reason;
    }
    const change = overlay.changes[changes];
    if (change) meter.written(change.table, change.before, change.after, 2);
    else {
      meter.items += 1;
      meter.checked(tableName, overlay.met, undefined, 2);
    }
    return { Code: 'None' };
  });
}

function checkCondition(engine: Engine, overlay: Overlay, step: Step): void {
  overlay.met = engine.store.space<WireItem>(itemSpace(step.table.TableName)).get(step.key!);
  requireCondition(step.data['_condition'], overlay.met);
}

/** A transaction already committed with this token changes nothing and is billed as reads. */
function replayed(engine: Engine, steps: readonly Step[], data: TransactWriteRequest, meter: Meter): Body {
  for (const { table, key } of steps) {
    const item = key && engine.store.space<WireItem>(itemSpace(table.TableName)).get(key);
    meter.items += 1;
    meter.read(table.TableName, 2 * readUnits(item ? itemSize(item) : 0, true));
  }
  return answer(data, meter);
}

function answer(data: TransactWriteRequest, meter: Meter): Body {
  const consumed = meter.consumed(data.ReturnConsumedCapacity, true);
  return consumed ? { ConsumedCapacity: consumed } : {};
}
