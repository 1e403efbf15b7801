import { expressionOverLimit } from './expression-limits.js';
import { MAX_ITEM_SIZE, itemSize } from '../engine/item-size.js';
import type { Body, WireItem, WireValue } from '../engine/types.js';

/** Nested lists and maps go this deep. */
const MAX_DEPTH = 32;

/** What dynalite lets pass and DynamoDB refuses, after dynalite's own checks: the message, or undefined. */
export function missedByEngine(operation: string, data: Body): string | undefined {
  const limit = expressionOverLimit(data);
  if (limit) return limit;
  switch (operation) {
    case 'PutItem':
      return refusedItem(data['Item'] as WireItem);
    case 'UpdateItem':
      return tooDeep(data['ExpressionAttributeValues'] as WireItem | undefined);
    case 'BatchWriteItem':
      return refusedBatch(data['RequestItems'] as Record<string, { PutRequest?: { Item: WireItem } }[]>);
    case 'Query':
    case 'Scan':
      return refusedPage(data);
    default:
      return undefined;
  }
}

function refusedItem(item: WireItem): string | undefined {
  if (itemSize(item) > MAX_ITEM_SIZE) return 'Item size has exceeded the maximum allowed size';
  return tooDeep(item);
}

function refusedBatch(tables: Record<string, { PutRequest?: { Item: WireItem } }[]>): string | undefined {
  for (const entries of Object.values(tables)) {
    for (const { PutRequest } of entries) {
      const message = PutRequest && refusedItem(PutRequest.Item);
      if (message) return message;
    }
  }
  return undefined;
}

function refusedPage(data: Body): string | undefined {
  if (data['Segment'] !== undefined && data['TotalSegments'] === undefined) {
    return 'The TotalSegments parameter is required but was not present in the request when Segment parameter is present';
  }
  const selects = data['ProjectionExpression'] !== undefined || data['AttributesToGet'] !== undefined;
  if (data['Select'] === 'SPECIFIC_ATTRIBUTES' && !selects) {
    return 'One or more parameter values were invalid: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES';
  }
  return undefined;
}

function tooDeep(item: WireItem | undefined): string | undefined {
  for (const value of Object.values(item ?? {})) {
    if (depthOver(value, MAX_DEPTH)) return 'Nesting Levels have exceeded supported limits';
  }
  return undefined;
}

function depthOver(value: WireValue, left: number): boolean {
  const members = value.L ?? (value.M ? Object.values(value.M) : undefined);
  if (!members) return false;
  return left === 0 || members.some((member) => depthOver(member, left - 1));
}
