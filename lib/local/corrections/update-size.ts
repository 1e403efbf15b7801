import { itemSize, MAX_ITEM_SIZE } from '../engine/item-size.js';
import type { Body, ItemChange, WireItem } from '../engine/types.js';
import type { ParsedUpdate } from './update-aliasing.js';

/** What each action adds to the size by which UpdateItem is limited, as measured on AWS. */
const BASE = 3;
const WRITING = 19;
const CLEARING = 2;

/** True when an update makes an item too large: UpdateItem also counts its actions, a transaction's Update does not. */
export function updateTooLarge({ table, after }: ItemChange, data: Body, flat: boolean): boolean {
  if (!after) return false;
  const size = itemSize(after);
  if (flat) return size > MAX_ITEM_SIZE;
  const keys: WireItem = {};
  for (const { AttributeName } of table.KeySchema) keys[AttributeName] = after[AttributeName]!;
  return Math.max(size, size - itemSize(keys) + BASE + actionsSize(data)) > MAX_ITEM_SIZE;
}

function actionsSize(data: Body): number {
  const update = data['_updates'] as ParsedUpdate | undefined;
  const actions = update
    ? update.sections.map(({ type }) => type === 'set' || type === 'add')
    : Object.values((data['AttributeUpdates'] ?? {}) as Record<string, { Action?: string }>).map(
        ({ Action }) => Action !== 'DELETE',
      );
  return actions.reduce((sum, writes) => sum + (writes ? WRITING : CLEARING), 0);
}
