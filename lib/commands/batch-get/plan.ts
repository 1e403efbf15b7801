import type { KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import { keyId, keyNames } from '../batch/key-id.js';
import type { ReadParts } from '../read/read-step.js';

/** One get of the batch, and the item it found. */
export interface Entry {
  readonly name: string;
  /** Its position in the array of its name. */
  readonly index: number | undefined;
  readonly parts: ReadParts;
  item: unknown;
}

/** What a BatchGetItem asks for, by table. */
export type RequestItems = Record<string, KeysAndAttributes>;

/** One request, and the gets that wait for each of its keys. */
export interface Plan {
  readonly items: RequestItems;
  /** By {@link keyId}. */
  readonly waiting: ReadonlyMap<string, Entry[]>;
}

const maximumKeys = 100;

/** Consistency and projection are said per table and request: gets that differ in them can't share one. */
const groupOf = ({ consistent_: consistent, projection_: projection }: ReadParts): string =>
  JSON.stringify([consistent, projection]);

interface Open {
  readonly groups: Map<string, string>;
  readonly waiting: Map<string, Entry[]>;
  readonly items: Record<string, KeysAndAttributes & { Keys: AttributeMap[] }>;
}

/** Lays gets out over as few requests as their keys, consistency and projections allow; asks for each key once. */
export const planReads = (entries: readonly Entry[]): Plan[] => {
  const plans: Open[] = [];
  const asked = new Map<string, Entry[]>();
  for (const entry of entries) {
    const { table_: table, key_: key, consistent_: consistent, projection_: projection } = entry.parts;
    const id = keyId(table, keyNames(key), key);
    const group = groupOf(entry.parts);
    const same = asked.get(group + id);
    if (same !== undefined) {
      same.push(entry);
      continue;
    }
    let plan = plans.find(
      ({ groups, waiting }) => waiting.size < maximumKeys && (groups.get(table) ?? group) === group,
    );
    if (plan === undefined) plans.push((plan = { groups: new Map(), waiting: new Map(), items: {} }));
    plan.groups.set(table, group);
    const waiting = [entry];
    asked.set(group + id, waiting);
    plan.waiting.set(id, waiting);
    const keys = (plan.items[table] ??= {
      Keys: [],
      ...(consistent && { ConsistentRead: true }),
      ...(projection && { ProjectionExpression: projection.expression_, ExpressionAttributeNames: projection.names_ }),
    });
    keys.Keys.push(key);
  }
  return plans;
};
