import { expect, it } from 'vitest';
import type { AttributeMap } from '../../lib/commands/index.js';
import { recordsNow } from './formats/records-now.js';
import { presentRecords } from './workloads/formats.js';

/** Names and types, without the values. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOf(member)]),
  );
};

const byType = (items: readonly AttributeMap[]): unknown =>
  items
    .map((item) => [`${item['_type']?.S} ${item['format']?.N}`, shapeOf(item)] as const)
    .sort(([a, left], [b, right]) => `${a}${JSON.stringify(left)}`.localeCompare(`${b}${JSON.stringify(right)}`));

it('records are stored as the fixtures of the present formats, or their format is raised and a fixture is added', async () => {
  expect(byType(await recordsNow())).toEqual(byType(presentRecords));
});
