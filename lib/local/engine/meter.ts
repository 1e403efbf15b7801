import { indexesOf, indexWriteUnits, writeUnits } from './index-units.js';
import { itemSize } from './item-size.js';
import type { Body, TableDescription, WireItem } from './types.js';

type Group = 'Table' | 'GlobalSecondaryIndexes' | 'LocalSecondaryIndexes';

interface Units {
  read: number;
  write: number;
}

/** Counts what one request consumes, for its ConsumedCapacity and for the request log. */
export class Meter {
  /** Items written or read, and those that a transaction checked. */
  items = 0;
  readonly #tables = new Map<string, Map<string, Units & { group: Group; name: string }>>();

  /** Names a table that the request is about, even if it consumes nothing there. */
  touch(table: string): void {
    this.#entries(table);
  }

  get tables(): string[] {
    return [...this.#tables.keys()];
  }

  get readUnits(): number {
    return this.#total('read');
  }

  get writeUnits(): number {
    return this.#total('write');
  }

  read(table: string, units: number, group: Group = 'Table', name = ''): void {
    this.#units(table, group, name).read += units;
  }

  /** A write that took place; transactions cost twice in the table, not in its indexes. */
  written(table: TableDescription, before: WireItem | undefined, after: WireItem | undefined, factor = 1): void {
    this.items += 1;
    this.checked(table.TableName, before, after, factor);
    for (const { index, group } of indexesOf(table)) {
      const units = indexWriteUnits(before, after, index, table);
      if (units > 0) this.#units(table.TableName, group, index.IndexName).write += units;
    }
  }

  /** A write that was refused or a condition checked: billed by the larger of the items, in the table only. */
  checked(table: string, before: WireItem | undefined, after?: WireItem, factor = 1): void {
    const size = Math.max(before ? itemSize(before) : 0, after ? itemSize(after) : 0);
    this.#units(table, 'Table', '').write += factor * writeUnits(size);
  }

  /** ConsumedCapacity of each table; `split` adds read and write units by name, as transactions answer. */
  consumed(mode: unknown, split: boolean): Body[] | undefined {
    if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
    return [...this.#tables].map(([name, entries]) => {
      const all = [...entries.values()];
      const answer: Body = { TableName: name, ...capacity(all, split) };
      if (mode === 'INDEXES') {
        answer['Table'] = capacity(
          all.filter(({ group }) => group === 'Table'),
          split,
        );
        for (const group of ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes'] as const) {
          const indexes = all.filter((entry) => entry.group === group);
          if (indexes.length > 0) {
            answer[group] = Object.fromEntries(indexes.map((entry) => [entry.name, capacity([entry], split)]));
          }
        }
      }
      return answer;
    });
  }

  #entries(table: string): Map<string, Units & { group: Group; name: string }> {
    let entries = this.#tables.get(table);
    if (!entries) {
      entries = new Map();
      this.#tables.set(table, entries);
    }
    return entries;
  }

  #units(table: string, group: Group, name: string): Units {
    const entries = this.#entries(table);
    const key = `${group}/${name}`;
    let units = entries.get(key);
    if (!units) entries.set(key, (units = { group, name, read: 0, write: 0 }));
    return units;
  }

  #total(kind: keyof Units): number {
    let total = 0;
    for (const entries of this.#tables.values()) for (const units of entries.values()) total += units[kind];
    return total;
  }
}

function capacity(entries: readonly Units[], split: boolean): Body {
  let read = 0;
  let write = 0;
  for (const entry of entries) {
    read += entry.read;
    write += entry.write;
  }
  return {
    CapacityUnits: read + write,
    ...(split && read > 0 ? { ReadCapacityUnits: read } : {}),
    ...(split && write > 0 ? { WriteCapacityUnits: write } : {}),
  };
}
