import { validationError } from '../engine/api-error.js';
import type { Engine } from '../engine/engine.js';
import { readUnits } from '../engine/index-units.js';
import { itemSize } from '../engine/item-size.js';
import type { Body, WireItem } from '../engine/types.js';
import type { Operation } from './operation.js';
import { cancelled, reasonOf } from './cancellation.js';
import type { Reason } from './cancellation.js';
import { TRANSACT_GET_TYPES } from './transact-items.js';

const MAX_BYTES = 4 * 1024 * 1024;

interface Get {
  TableName: string;
  Key: WireItem;
}

/** Reads all items at one moment; one that a transaction is about to write cancels the whole. */
export const transactGetItems: Operation = (engine, request, meter, injected = []) => {
  const data = engine.check(request, TRANSACT_GET_TYPES) as Body & { TransactItems: { Get: Body & Get }[] };
  const gets = data.TransactItems.map(({ Get }) => Get);
  for (const get of gets) {
    const message = engine.refusal('GetItem', get);
    if (message) throw validationError(message);
  }
  const seen = new Set<string>();
  const located = gets.map((get) => locate(engine, get, seen));
  for (const { get } of located) meter.touch(get.TableName);
  const reasons = located.map(({ get, key, invalid }, i): Reason => {
    if (invalid) return { Code: 'ValidationError', Message: invalid.message };
    return reasonOf(engine.locks.isHeld(get.TableName, key!) ? 'TransactionConflict' : (injected[i] ?? 'None'));
  });
  if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(reasons);
  let bytes = 0;
  const responses = located.map(({ get }) => {
    const overlay = engine.overlay();
    const { Item } = engine.run('GetItem', overlay, get);
    const size = overlay.met ? itemSize(overlay.met) : 0;
    bytes += size;
    meter.items += overlay.met ? 1 : 0;
    meter.read(get.TableName, 2 * readUnits(size, true));
    return Item === undefined ? {} : { Item };
  });
  if (bytes > MAX_BYTES) {
    throw validationError('Collection size of items in the transaction exceeded the maximum allowed size of 4 MB');
  }
  const consumed = meter.consumed(data['ReturnConsumedCapacity'], true);
  return { Responses: responses, ...(consumed ? { ConsumedCapacity: consumed } : {}) };
};

function locate(
  engine: Engine,
  get: Body & Get,
  seen: Set<string>,
): { get: Body & Get; key: string | undefined; invalid: Error | undefined } {
  const { db } = engine.dynalite;
  const table = engine.table(get.TableName);
  const invalid = db.validateKey(get.Key, table) ?? undefined;
  if (invalid) return { get, key: undefined, invalid };
  const key = db.createKey(get.Key, table);
  const name = `${get.TableName}/${key}`;
  if (seen.has(name)) throw validationError('Transaction request cannot include multiple operations on one item');
  seen.add(name);
  return { get, key, invalid: undefined };
}
