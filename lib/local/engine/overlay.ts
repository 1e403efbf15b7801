import { tableNotFound } from './api-error.js';
import type { Callback, EngineStore, EngineSubStore } from './dynalite.js';
import type { Range } from './ordered-map.js';
import { indexSpace, itemSpace, TABLES, tagSpace } from './store.js';
import type { Store, StoreOp } from './store.js';
import type { ItemChange, TableDescription, WireItem } from './types.js';
import { ValueSource } from './value-source.js';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

/** What an overlay asks before an item is read for writing; it throws when another transaction holds the item. */
export type LockCheck = (table: string, key: string) => void;

/**
 * A store for dynalite's own actions that reads through to the real one and buffers what they write, so that the writes
 * of one request can be checked, counted and committed together, or dropped.
 */
export class Overlay implements EngineStore {
  readonly options = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, maxItemSize: Infinity };
  readonly tableDb: EngineSubStore;
  readonly ops: StoreOp[] = [];
  readonly changes: ItemChange[] = [];
  /** The item that the last action met under its key. */
  met: WireItem | undefined;
  /** Sees that item before the action goes on with it. */
  onMet: ((item: WireItem | undefined) => void) | undefined;
  /** Sees every value that a Query or Scan takes from its source. */
  onValue: ((space: string, value: WireItem) => void) | undefined;

  constructor(
    private readonly store: Store,
    private readonly lockCheck: LockCheck = () => undefined,
  ) {
    this.tableDb = this.#sub(TABLES);
  }

  getTable(
    name: string,
    checkStatus: boolean | Callback<TableDescription>,
    callback?: Callback<TableDescription>,
  ): void {
    const done = typeof checkStatus === 'function' ? checkStatus : callback!;
    const table = this.store.space<TableDescription>(TABLES).get(name);
    if (table) done(null, table);
    else done(Object.assign(tableNotFound(checkStatus ? undefined : name), { name: 'NotFoundError' }));
  }

  getItemDb(table: string): EngineSubStore {
    const space = itemSpace(table);
    const sub = this.#sub(space);
    return {
      ...sub,
      lock: (keys, run) => {
        for (const key of Array.isArray(keys) ? keys : [keys]) this.lockCheck(table, key);
        run((callback) => callback);
      },
      get: (key, callback) => {
        this.met = this.#read(space, key) as WireItem | undefined;
        this.onMet?.(this.met);
        callback(null, this.met);
      },
      put: (key, value, callback) => {
        this.#changed(table, key, value as WireItem);
        sub.put(key, value, callback);
      },
      del: (key, callback) => {
        this.#changed(table, key, undefined);
        sub.del(key, callback);
      },
    };
  }

  getIndexDb(type: string, table: string, index: string): EngineSubStore {
    return this.#sub(indexSpace(type, table, index));
  }

  getTagDb(table: string): EngineSubStore {
    return this.#sub(tagSpace(table));
  }

  #changed(tableName: string, key: string, after: WireItem | undefined): void {
    const table = this.store.space<TableDescription>(TABLES).get(tableName);
    if (!table) throw tableNotFound();
    this.changes.push({ table, key, before: this.met, after });
  }

  #read(space: string, key: string): unknown {
    for (let i = this.ops.length - 1; i >= 0; i -= 1) {
      const op = this.ops[i]!;
      if (op.space === space && op.key === key) return op.value;
    }
    return this.store.space(space).get(key);
  }

  #sub(space: string): EngineSubStore {
    const write = (key: string, value: unknown): void => {
      // Nothing to delete is nothing to write.
      if (value === undefined && this.#read(space, key) === undefined) return;
      this.ops.push({ space, key, value });
    };
    return {
      awsAccountId: ACCOUNT,
      awsRegion: REGION,
      lock: (_keys, run) => run((callback) => callback),
      get: (key, callback) => callback(null, this.#read(space, key)),
      put: (key, value, callback) => {
        write(key, value);
        callback(null);
      },
      del: (key, callback) => {
        write(key, undefined);
        callback(null);
      },
      batch: (ops, callback) => {
        for (const op of ops) write(op.key, op.type === 'put' ? op.value : undefined);
        callback(null);
      },
      createKeyStream: (range?: Range) => new ValueSource(this.#keys(space, range)),
      createValueStream: (range?: Range) => new ValueSource(this.#values(space, range)),
    };
  }

  *#keys(space: string, range?: Range): Generator<string> {
    for (const [key] of this.store.space(space).entries(range)) yield key;
  }

  *#values(space: string, range?: Range): Generator<unknown> {
    for (const [, value] of this.store.space<WireItem>(space).entries(range)) {
      this.onValue?.(space, value);
      yield value;
    }
  }
}
