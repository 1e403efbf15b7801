import { expectTypeOf, test } from 'vitest';
import { createTable, entity, string, type CreateTableResult, type Table } from '../../lib/commands/index.js';

declare const shop: Table;
const Note = entity('NOTE', { pk: 'N#{id}', sk: 'N', attributes: { id: string() } });

test('a createTable is a promise of its result', () => {
  expectTypeOf(createTable(shop).ifNotExists().waitUntilActive().timeToLive()).toExtend<Promise<CreateTableResult>>();
  expectTypeOf(createTable(shop).send()).resolves.toEqualTypeOf<CreateTableResult>();
  expectTypeOf<CreateTableResult['drift']>().toEqualTypeOf<readonly string[]>();
});

test('what can not be is refused', () => {
  // @ts-expect-error -- no view of a stream
  void createTable(shop).stream('EVERYTHING');
  // @ts-expect-error -- an entity is no table
  void createTable(shop.of(Note));
  // @ts-expect-error -- no projection
  void createTable(shop).project('byName', 'some');
});
