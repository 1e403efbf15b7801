import type { Journal } from './journal.js';
import { OrderedMap } from './ordered-map.js';

/** One change to the store; `value` undefined deletes. */
export interface StoreOp {
  space: string;
  key: string;
  value: unknown;
}

/**
 * All data, in memory and in key order, in named spaces (the items of a table, the entries of an index, …).
 * `apply` is the only way to change it: all its changes become visible at once, and durable together when there is a
 * journal. Everything that reads it does so without awaiting in between, which makes each operation atomic.
 */
export class Store {
  /** Only those that hold something: shards, tables and their spaces come and go. */
  readonly #spaces = new Map<string, OrderedMap<unknown>>();
  readonly #journal: Journal | undefined;

  private constructor(journal: Journal | undefined) {
    this.#journal = journal;
  }

  static async open(journal: Journal | undefined): Promise<Store> {
    const store = new Store(journal);
    for await (const op of journal?.load() ?? []) store.#change(op);
    return store;
  }

  /** The space of this name, to read now: an unknown one is empty. */
  space<V>(name: string): OrderedMap<V> {
    return (this.#spaces.get(name) ?? new OrderedMap()) as OrderedMap<V>;
  }

  apply(ops: readonly StoreOp[]): void {
    if (ops.length === 0) return;
    for (const op of ops) this.#change(op);
    this.#journal?.append(ops);
  }

  /** Resolves when everything applied so far is on disk; at once for a store in memory. */
  durable(): Promise<void> | undefined {
    return this.#journal?.flushed();
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }

  #change({ space, key, value }: StoreOp): void {
    const entries = this.#spaces.get(space) ?? new OrderedMap();
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
    if (entries.size === 0) this.#spaces.delete(space);
    else this.#spaces.set(space, entries);
  }
}

/** Deletes everything in a space, as changes for `apply`. */
export function clearSpace(store: Store, space: string): StoreOp[] {
  return [...store.space(space).entries()].map(([key]) => ({ space, key, value: undefined }));
}

export const itemSpace = (table: string): string => `item-${table}`;
export const indexSpace = (type: string, table: string, index: string): string =>
  `index-${type.toLowerCase()}~${table}~${index}`;
export const tagSpace = (table: string): string => `tag-${table}`;
export const TABLES = 'table';
export const TIME_TO_LIVE = 'ttl';
export const TOKENS = 'token';
export const BACKUPS = 'backups';
