import type { StoreOp } from './store.js';

/** Where a store keeps what must outlive the process. */
export interface Journal {
  load(): AsyncIterable<StoreOp>;
  append(ops: readonly StoreOp[]): void;
  flushed(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** The part of level that is used. */
export interface LevelDatabase {
  open(): Promise<void>;
  close(): Promise<void>;
  batch(ops: ({ type: 'put'; key: string; value: unknown } | { type: 'del'; key: string })[]): Promise<void>;
  iterator(): AsyncIterable<[string, unknown]>;
}

const SEPARATOR = '\u0000';

/** Opens the database in a folder, which one process at a time may use. */
export async function openJournal(folder: string): Promise<Journal> {
  const { Level } = await import('level');
  const level = new Level<string, unknown>(folder, { valueEncoding: 'json' }) as unknown as LevelDatabase;
  try {
    await level.open();
  } catch (cause) {
    throw new Error(
      `The data folder ${folder} cannot be opened: is another process using it? Close that one, or choose another dataDir.`,
      { cause },
    );
  }
  return new LevelJournal(level);
}

/** Writes in groups: whatever was appended while one batch was being written goes into the next one. */
export class LevelJournal implements Journal {
  #pending: StoreOp[] = [];
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(private readonly level: LevelDatabase) {}

  async *load(): AsyncGenerator<StoreOp> {
    for await (const [path, value] of this.level.iterator()) {
      const at = path.indexOf(SEPARATOR);
      yield { space: path.slice(0, at), key: path.slice(at + 1), value };
    }
  }

  append(ops: readonly StoreOp[]): void {
    for (const op of ops) this.#pending.push(op);
    // A failed write leaves memory ahead of the disk for good, so the chain stays rejected and every later answer fails.
    this.#next ??= (this.#writing ?? Promise.resolve()).then(() => this.#write());
    this.#next.catch(() => undefined);
  }

  flushed(): Promise<void> | undefined {
    return this.#next ?? this.#writing;
  }

  async close(): Promise<void> {
    await this.flushed()?.catch(() => undefined);
    await this.level.close();
  }

  #write(): Promise<void> {
    const ops = this.#pending;
    this.#pending = [];
    const writing = this.level.batch(
      ops.map(({ space, key, value }) =>
        value === undefined
          ? { type: 'del' as const, key: space + SEPARATOR + key }
          : { type: 'put' as const, key: space + SEPARATOR + key, value },
      ),
    );
    this.#writing = writing.then(() => {
      if (this.#writing === current) this.#writing = undefined;
    });
    const current = this.#writing;
    this.#next = undefined;
    return current;
  }
}
