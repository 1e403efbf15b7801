import type { Table } from '../../commands/index.js';
import { brandOf } from '../../commands/errors/brand.js';
import { bindingOf } from '../../commands/table/table.js';

/** The table of a bound entity, for the functions that take one. */
export const tableOf = (entityTable: unknown): Table =>
  ({ [brandOf('table')]: bindingOf(entityTable).table_ }) as unknown as Table;
