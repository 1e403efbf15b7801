import { itemSize } from './item-size.js';
import type { IndexDescription, TableDescription, WireItem } from './types.js';

/** Write units of one item's size, at least one. */
export const writeUnits = (size: number): number => Math.max(1, Math.ceil(size / 1024));

/** Read units of the bytes read, at least the unit's part that an empty read costs. */
export function readUnits(size: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(size / 4096)) * (consistent ? 1 : 0.5);
}

/** All indexes of a table, with the name that ConsumedCapacity groups them under. */
export function indexesOf(
  table: TableDescription,
): { index: IndexDescription; group: 'GlobalSecondaryIndexes' | 'LocalSecondaryIndexes' }[] {
  return [
    ...(table.GlobalSecondaryIndexes ?? []).map((index) => ({ index, group: 'GlobalSecondaryIndexes' as const })),
    ...(table.LocalSecondaryIndexes ?? []).map((index) => ({ index, group: 'LocalSecondaryIndexes' as const })),
  ];
}

/** What an index holds of an item, or undefined when the item has not all of its keys in their types. */
export function projected(
  item: WireItem | undefined,
  index: IndexDescription,
  table: TableDescription,
): WireItem | undefined {
  if (!item || index.KeySchema.some(({ AttributeName: name }) => !hasKey(item, name, table))) return undefined;
  if (index.Projection.ProjectionType === 'ALL') return item;
  const names = [...index.KeySchema, ...table.KeySchema].map(({ AttributeName }) => AttributeName);
  const entry: WireItem = {};
  for (const name of [...names, ...(index.Projection.NonKeyAttributes ?? [])]) {
    const value = item[name];
    if (value !== undefined) entry[name] = value;
  }
  return entry;
}

/** Whether an item has a key in its type. One that is older than an index may not: it stays out, as on AWS. */
export function hasKey(item: WireItem, name: string, { AttributeDefinitions }: TableDescription): boolean {
  const value = item[name];
  if (value === undefined) return false;
  const definition = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
  return definition === undefined || value[definition.AttributeType] !== undefined;
}

/** The write units that a change costs in one index: a put, a delete, both when the entry moves, or nothing. */
export function indexWriteUnits(
  before: WireItem | undefined,
  after: WireItem | undefined,
  index: IndexDescription,
  table: TableDescription,
): number {
  const from = projected(before, index, table);
  const to = projected(after, index, table);
  if (!from && !to) return 0;
  if (!from || !to) return writeUnits(itemSize((from ?? to)!));
  if (index.KeySchema.some(({ AttributeName: name }) => !sameValue(from[name], to[name]))) {
    return writeUnits(itemSize(from)) + writeUnits(itemSize(to));
  }
  return sameValue(from, to) ? 0 : writeUnits(Math.max(itemSize(from), itemSize(to)));
}

/** Deep equality of wire values; sets and maps compare without regard to order. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((member, i) => sameValue(member, b[i]));
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const one = (a as Record<string, unknown>)[name];
    const other = (b as Record<string, unknown>)[name];
    if (/^[SNB]S$/.test(name) && Array.isArray(one) && Array.isArray(other) && typeof one[0] === 'string') {
      const members = new Set<unknown>(other);
      return one.length === other.length && one.every((member) => members.has(member));
    }
    return sameValue(one, other);
  });
}
