import type { LocalKafkaRecord } from './kafka-event.js';

interface Partition {
  /** Offsets that were taken and not committed, in their order. */
  readonly taken: number[];
  readonly settled: Set<number>;
}

/** How far each partition may be committed: an offset stands for all before it. */
export class OffsetProgress {
  readonly #partitions = new Map<number, Partition>();

  take({ partition, offset }: LocalKafkaRecord): void {
    let known = this.#partitions.get(partition);
    if (known === undefined) this.#partitions.set(partition, (known = { taken: [], settled: new Set() }));
    known.taken.push(offset);
  }

  settle(records: readonly LocalKafkaRecord[]): void {
    for (const { partition, offset } of records) this.#partitions.get(partition)?.settled.add(offset);
  }

  /** The offsets to go on from, of partitions that came further since the last call. */
  advance(): Map<number, bigint> {
    const advanced = new Map<number, bigint>();
    for (const [partition, { taken, settled }] of this.#partitions) {
      const open = taken.findIndex((offset) => !settled.has(offset));
      const done = taken.splice(0, open === -1 ? taken.length : open);
      for (const offset of done) settled.delete(offset);
      const last = done.at(-1);
      if (last !== undefined) advanced.set(partition, BigInt(last) + 1n);
    }
    return advanced;
  }
}
