import type { Consumer } from '@platformatic/kafka';
import { recordsOf, type LocalKafkaRecord } from './kafka-event.js';
import type { SettledMapping } from './kafka-source-options.js';
import { loadKafka } from './load-kafka.js';

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>;

const EARLIEST = -2n;
const LATEST = -1n;
const FETCH_BYTES = 8 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;

/** A member of the consumer group: what it may read, and how far it has read. */
export class GroupMember {
  readonly #consumer: Consumer;
  readonly #source: SettledMapping;
  readonly #positions = new Map<number, bigint>();
  #stale = true;

  private constructor(consumer: Consumer, source: SettledMapping) {
    this.#consumer = consumer;
    this.#source = source;
    consumer.on('consumer:group:join', () => (this.#stale = true));
    // Unheard, it would end the process.
    consumer.on('error' as never, source.onError);
  }

  static async join(source: SettledMapping, clientId: string): Promise<GroupMember> {
    const { brokers, topic, consumerGroupId, sessionTimeoutMs } = source;
    const { Consumer } = await loadKafka();
    const consumer = new Consumer({
      clientId,
      groupId: consumerGroupId,
      bootstrapBrokers: [...brokers],
      autocommit: false,
      // Who asks it tries again, and tells of it.
      retries: 3,
      retryDelay: 200,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(sessionTimeoutMs, 10_000),
      heartbeatInterval: Math.max(Math.floor(sessionTimeoutMs / 5), 50),
    });
    const member = new GroupMember(consumer, source);
    consumer.topics.track(topic);
    try {
      await consumer.joinGroup({});
    } catch (error) {
      await member.leave().catch(() => undefined);
      throw error;
    }
    return member;
  }

  /** Whether the assignment has changed since `settle`: what was read may be another member's now. */
  get isStale(): boolean {
    return this.#stale;
  }

  /** Goes on from the committed offsets at the next `settle`. */
  rewind(): void {
    this.#stale = true;
    this.#consumer.clearMetadata();
  }

  #partitions(): readonly number[] {
    return this.#consumer.assignments?.find(({ topic }) => topic === this.#source.topic)?.partitions ?? [];
  }

  /** Finds where to go on in the partitions that are assigned. */
  async settle(): Promise<void> {
    while (this.#stale) {
      this.#stale = false;
      this.#positions.clear();
      const partitions = this.#partitions();
      if (partitions.length > 0) await this.#restore(partitions);
    }
  }

  async #restore(partitions: readonly number[]): Promise<void> {
    const { topic, startingPosition } = this.#source;
    const committed = await this.#consumer.listCommittedOffsets({ topics: [{ topic, partitions: [...partitions] }] });
    const fresh: number[] = [];
    for (const partition of partitions) {
      const offset = committed.get(topic)?.[partition] ?? -1n;
      if (offset >= 0n) this.#positions.set(partition, offset);
      else fresh.push(partition);
    }
    if (fresh.length === 0) return;
    const starts = await this.#startOf(fresh);
    for (const [partition, offset] of starts) this.#positions.set(partition, offset);
    // Else what arrives until the first commit would be skipped by a restart.
    if (startingPosition !== 'TRIM_HORIZON') await this.commit(starts);
  }

  async #startOf(partitions: readonly number[]): Promise<Map<number, bigint>> {
    const { startingPosition, startingPositionTimestamp } = this.#source;
    if (startingPosition === 'TRIM_HORIZON') return this.#offsetsAt(partitions, EARLIEST);
    const latest = await this.#offsetsAt(partitions, LATEST);
    if (startingPositionTimestamp === undefined) return latest;
    const found = await this.#offsetsAt(partitions, BigInt(startingPositionTimestamp.getTime()));
    // Where nothing is that young, none is found.
    return new Map([...found].map(([partition, offset]) => [partition, offset < 0n ? latest.get(partition)! : offset]));
  }

  async #offsetsAt(partitions: readonly number[], timestamp: bigint): Promise<Map<number, bigint>> {
    const { topic } = this.#source;
    const wanted = { topics: [topic], partitions: { [topic]: [...partitions] }, timestamp };
    const offsets = await this.#consumer.listOffsets(wanted);
    return new Map(partitions.map((partition) => [partition, offsets.get(topic)?.[partition] ?? 0n]));
  }

  /** Gives the records that come next, and waits at most so long for them. */
  async fetch(waitMs: number): Promise<LocalKafkaRecord[]> {
    const { topic } = this.#source;
    const metadata = await this.#consumer.metadata({ topics: [topic] });
    const { id, partitions } = metadata.topics.get(topic)!;
    const byLeader = Map.groupBy(this.#positions.keys(), (partition) => partitions[partition]?.leader ?? -1);
    const fetched = await Promise.all(
      [...byLeader].map(async ([node, list]) => {
        const request = list.map((partition) => ({
          ...{ partition, fetchOffset: this.#positions.get(partition)!, partitionMaxBytes: PARTITION_BYTES },
          ...{ currentLeaderEpoch: -1, lastFetchedEpoch: -1 },
        }));
        const limits = { minBytes: 1, maxBytes: FETCH_BYTES, maxWaitTime: waitMs };
        try {
          return await this.#consumer.fetch({ node, topics: [{ topicId: id, partitions: request }], ...limits });
        } catch (error) {
          if (!isOutOfRange(error)) throw error;
          await this.#startAgain(list);
          return undefined;
        }
      }),
    );
    return fetched.flatMap((response) => (response === undefined ? [] : this.#read(response)));
  }

  #read({ responses }: FetchResponse): LocalKafkaRecord[] {
    if (this.#stale) return [];
    return responses.flatMap(({ partitions }) =>
      partitions.flatMap(({ partitionIndex: partition, records: batches }) => {
        const from = this.#positions.get(partition);
        const last = batches?.at(-1);
        if (from === undefined || !batches || !last) return [];
        this.#positions.set(partition, last.firstOffset + BigInt(last.lastOffsetDelta) + 1n);
        return recordsOf(this.#source.topic, partition, batches, from);
      }),
    );
  }

  /** Goes on where the starting position says, in partitions whose records are gone. */
  async #startAgain(partitions: readonly number[]): Promise<void> {
    const from = await this.#offsetsAt(partitions, EARLIEST);
    const to = await this.#offsetsAt(partitions, LATEST);
    for (const partition of partitions) {
      const [first, end, position] = [from.get(partition)!, to.get(partition)!, this.#positions.get(partition)!];
      if (position >= first && position <= end) continue;
      this.#positions.set(partition, this.#source.startingPosition === 'TRIM_HORIZON' ? first : end);
    }
  }

  /** Commits the offsets to go on from; those of partitions that are another member's now are left to it. */
  async commit(offsets: ReadonlyMap<number, bigint>): Promise<void> {
    const { topic } = this.#source;
    const owned = new Set(this.#partitions());
    const list = [...offsets].filter(([partition]) => owned.has(partition));
    if (list.length === 0) return;
    await this.#consumer.commit({
      offsets: list.map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: -1 })),
    });
  }

  /** Leaves the group, so that the others need not wait for its session to end. */
  async leave(): Promise<void> {
    await this.#consumer.close(true);
  }
}

const isOutOfRange = (error: unknown): boolean =>
  error instanceof AggregateError &&
  (error.errors as readonly { readonly apiId?: string }[]).some(({ apiId }) => apiId === 'OFFSET_OUT_OF_RANGE');
