import { holds } from '../corrections/condition.js';
import type { Expression } from '../corrections/condition.js';
import { badKeyValue } from '../corrections/key-values.js';
import { copyOperands } from '../corrections/update-aliasing.js';
import type { ParsedUpdate } from '../corrections/update-aliasing.js';
import { orderActions } from '../corrections/update-order.js';
import { updateTooLarge } from '../corrections/update-size.js';
import { serviceError, validationError } from '../engine/api-error.js';
import type { Engine } from '../engine/engine.js';
import { hasKey, indexesOf } from '../engine/index-units.js';
import type { Overlay } from '../engine/overlay.js';
import type { Body, ItemChange, WireItem, WireValue } from '../engine/types.js';

/** The three operations that write one item. */
export type WriteOperation = 'PutItem' | 'UpdateItem' | 'DeleteItem';

/** Runs one write on an overlay, with what dynalite gets wrong put right. */
export function runWrite(
  engine: Engine,
  overlay: Overlay,
  operation: WriteOperation,
  data: Body,
  inTransaction: boolean,
): Body {
  const { _condition: condition, ...rest } = data;
  const update = rest['_updates'] as ParsedUpdate | undefined;
  if (update) orderActions(update);
  // A new item grows from its key, which must not seem to have the attributes that every object has.
  if (operation === 'UpdateItem') rest['Key'] = Object.assign(Object.create(null), rest['Key']) as WireItem;
  overlay.onMet = (item) => {
    requireCondition(condition, item);
    if (update && item) copyOperands(update, item);
  };
  const answer = engine.run(operation, overlay, rest);
  const change = overlay.changes.at(-1);
  if (!change?.after) return answer;
  const refused = badKeyValue(change.after, change.table);
  if (refused) throw validationError(refused);
  if (operation === 'UpdateItem') {
    if (update) {
      requireNumbersInRange(engine, update, change.after);
      requireKeyTypes(update, change);
    }
    if (updateTooLarge(change, rest, inTransaction)) {
      throw validationError('Item size to update has exceeded the maximum allowed size');
    }
  }
  return answer;
}

/** Throws ConditionalCheckFailedException unless a parsed condition, if any, holds. */
export function requireCondition(condition: unknown, item: WireItem | undefined): void {
  if (condition === undefined) return;
  if (!holds((condition as { expression: Expression }).expression, item ?? {})) {
    throw serviceError('ConditionalCheckFailedException', 'The conditional request failed');
  }
}

/** What an update gives to an index's key must have the key's type. */
function requireKeyTypes(update: ParsedUpdate, { table, after }: ItemChange): void {
  for (const { index } of indexesOf(table)) {
    for (const { AttributeName: name } of index.KeySchema) {
      const given = update.sections.some(({ path }) => path.length === 1 && path[0] === name);
      if (given && after?.[name] !== undefined && !hasKey(after, name, table)) {
        throw validationError('The update expression attempted to update the secondary index key to unsupported type');
      }
    }
  }
}

/** What an update has computed must be a number that can be stored. */
function requireNumbersInRange(engine: Engine, update: ParsedUpdate, item: WireItem): void {
  for (const { path } of update.sections) {
    const value: WireValue | undefined = item[path[0] as string];
    const message = value && engine.dynalite.checks.validateAttributeValue(value);
    if (message) throw validationError(message);
  }
}
