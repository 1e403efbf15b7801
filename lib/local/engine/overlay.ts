import { tableNotFound } from './api-error.js';
import type { Callback, EngineDb, EngineStore, EngineSubStore } from './dynalite.js';
import { entryKey, indexOps } from './index-entries.js';
import { indexesOf } from './index-units.js';
import type { Range } from './ordered-map.js';
import { indexSpace, itemSpace, TABLES, tagSpace } from './store.js';
import type { Store, StoreOp } from './store.js';
import type { IndexDescription, ItemChange, TableDescription, WireItem } from './types.js';
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

  /** Where a page of an index starts: after the entry of this item. */
  startAfter: WireItem | undefined;
  /** The items that a page's index entries stand for, as they were when the entries were read. */
  readonly #moment = new Map<string, WireItem>();
  /** The description that the action under way was given. */
  #given: TableDescription | undefined;

  constructor(
    private readonly store: Store,
    private readonly db: EngineDb,
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
    if (table) done(null, (this.#given = { ...table }));
    else done(Object.assign(tableNotFound(checkStatus ? undefined : name), { name: 'NotFoundError' }));
  }

  getItemDb(table: string): EngineSubStore {
    const space = itemSpace(table);
    const sub = this.#sub(space);
    return {
      ...sub,
      lock: (keys, run) => {
        // The request has been checked against the indexes; keeping them is not left to dynalite, see indexOps.
        delete this.#given?.GlobalSecondaryIndexes;
        delete this.#given?.LocalSecondaryIndexes;
        for (const key of Array.isArray(keys) ? keys : [keys]) this.lockCheck(table, key);
        run((callback) => callback);
      },
      get: (key, callback) => {
        this.met = this.#moment.get(key) ?? (this.#read(space, key) as WireItem | undefined);
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

  getIndexDb(type: string, tableName: string, indexName: string): EngineSubStore {
    const space = indexSpace(type, tableName, indexName);
    const sub = this.#sub(space);
    const table = this.store.space<TableDescription>(TABLES).get(tableName);
    const index = table && indexesOf(table).find((candidate) => candidate.index.IndexName === indexName)?.index;
    if (!table || !index) return sub;
    // A page of an index that holds less than the items may ask for the rest of them, a little later.
    const partial = type.toLowerCase() === 'local' && index.Projection.ProjectionType !== 'ALL';
    return {
      ...sub,
      createValueStream: (range?: Range) => {
        const values = this.#values(space, this.#afterStart(table, index, range));
        return new ValueSource(partial ? this.#remembered(table, values) : values);
      },
    };
  }

  #afterStart(table: TableDescription, index: IndexDescription, range: Range | undefined): Range | undefined {
    if (!this.startAfter) return range;
    return { ...range, [range?.reverse ? 'lt' : 'gt']: entryKey(this.db, this.startAfter, table, index) };
  }

  *#remembered(table: TableDescription, entries: Iterable<WireItem>): Generator<WireItem> {
    const items = this.store.space<WireItem>(itemSpace(table.TableName));
    for (const entry of entries) {
      const key = this.db.createKey(entry, table);
      const item = items.get(key);
      if (item) this.#moment.set(key, item);
      yield entry;
    }
  }

  getTagDb(table: string): EngineSubStore {
    return this.#sub(tagSpace(table));
  }

  #changed(tableName: string, key: string, after: WireItem | undefined): void {
    const table = this.store.space<TableDescription>(TABLES).get(tableName);
    if (!table) throw tableNotFound();
    this.changes.push({ table, key, before: this.met, after });
    this.ops.push(...indexOps(this.db, { table, before: this.met, after }));
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

  *#values(space: string, range?: Range): Generator<WireItem> {
    for (const [, value] of this.store.space<WireItem>(space).entries(range)) {
      this.onValue?.(space, value);
      yield value;
    }
  }
}
