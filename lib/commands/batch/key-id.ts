import type { AttributeMap } from '../attributes/attribute-value.js';

/** The key attributes' names, in one order: DynamoDB answers a key's attributes in any. */
export const keyNames = (key: AttributeMap): string[] => Object.keys(key).sort();

/** Tells the items of a batch apart, by table and key. */
export const keyId = (table: string, names: readonly string[], item: AttributeMap): string =>
  JSON.stringify([table, ...names.map((name) => item[name]?.S)]);
