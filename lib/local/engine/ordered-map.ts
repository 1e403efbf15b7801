const CHUNK = 256;

interface Chunk<V> {
  keys: string[];
  values: V[];
}

/** Bounds of a range, as leveldb names them. */
export interface Range {
  gt?: string | undefined;
  gte?: string | undefined;
  lt?: string | undefined;
  lte?: string | undefined;
  reverse?: boolean | undefined;
  /** Negative or absent: no limit. */
  limit?: number | undefined;
}

/** A map in key order: sorted chunks, so that inserts move few entries and ranges need no sorting. */
export class OrderedMap<V> {
  readonly #chunks: Chunk<V>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (!chunk) return undefined;
    const at = lowerBound(chunk.keys, key);
    return chunk.keys[at] === key ? chunk.values[at] : undefined;
  }

  set(key: string, value: V): void {
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index];
    if (!chunk) {
      this.#chunks.push({ keys: [key], values: [value] });
      this.#size += 1;
      return;
    }
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] === key) {
      chunk.values[at] = value;
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.values.splice(at, 0, value);
    this.#size += 1;
    if (chunk.keys.length > CHUNK) {
      const half = chunk.keys.length >> 1;
      this.#chunks.splice(index + 1, 0, { keys: chunk.keys.splice(half), values: chunk.values.splice(half) });
    }
  }

  delete(key: string): boolean {
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index];
    if (!chunk) return false;
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] !== key) return false;
    chunk.keys.splice(at, 1);
    chunk.values.splice(at, 1);
    this.#size -= 1;
    if (chunk.keys.length === 0) this.#chunks.splice(index, 1);
    return true;
  }

  /** Entries of a range in order. The map must not change while one is being read. */
  *entries(range: Range = {}): Generator<[string, V]> {
    const { gt, gte, lt, lte, reverse } = range;
    let left = range.limit === undefined || range.limit < 0 ? Infinity : range.limit;
    const step = reverse ? -1 : 1;
    const from = reverse ? (lt ?? lte) : (gt ?? gte);
    let index = from === undefined ? (reverse ? this.#chunks.length - 1 : 0) : this.#chunkOf(from);
    for (let first = true; index >= 0 && index < this.#chunks.length; index += step, first = false) {
      const { keys, values } = this.#chunks[index]!;
      let at = reverse ? keys.length - 1 : 0;
      if (first && from !== undefined) at = reverse ? Math.min(lowerBound(keys, from), at) : lowerBound(keys, from);
      for (; at >= 0 && at < keys.length; at += step) {
        const key = keys[at]!;
        const below = (gt !== undefined && key <= gt) || (gte !== undefined && key < gte);
        const above = (lt !== undefined && key >= lt) || (lte !== undefined && key > lte);
        if (reverse ? below : above) return;
        if (below || above) continue;
        if (left-- <= 0) return;
        yield [key, values[at]!];
      }
    }
  }

  /** The chunk that holds a key or would take it. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
