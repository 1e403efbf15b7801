import type { EventSource } from '../sources/event-source.js';
import { BatchLane } from '../sources/mapping/batch-lane.js';
import type { Invocation, Invoke } from '../sources/mapping/invoke.js';
import { SourceLoop } from '../sources/mapping/source-loop.js';
import type { Destination } from './destination.js';
import { GroupMember } from './group-member.js';
import { kafkaEventOf, type EventFrame, type LocalKafkaEvent, type LocalKafkaRecord } from './kafka-event.js';
import type { SettledMapping } from './kafka-source-options.js';
import { OffsetProgress } from './offset-progress.js';
import { reportedRecords } from './reported-records.js';

/** How long the broker is asked to wait for records: where others wait already, hardly. */
const IDLE_MS = 100;
const BUSY_MS = 5;
const INTERVAL_MS = 20;
const TROUBLE_MS = 500;
/** So often in a row, then the client is replaced. */
const TROUBLES = 5;

/** A member of the group with one batch at a time. */
export class KafkaPoller implements EventSource {
  readonly #source: SettledMapping;
  readonly #destination: Destination;
  readonly #clientId: string;
  readonly #frame: EventFrame;
  readonly #loop: SourceLoop;
  #member: GroupMember | undefined;
  #lane: BatchLane<LocalKafkaRecord>;
  #progress = new OffsetProgress();
  #troubles = 0;
  #troubleUntil = 0;

  constructor(source: SettledMapping, destination: Destination, clientId: string) {
    this.#source = source;
    this.#destination = destination;
    this.#clientId = clientId;
    this.#frame = { eventSourceArn: source.eventSourceArn, bootstrapServers: source.brokers.join(',') };
    this.#lane = this.#newLane(this.#progress);
    this.#loop = new SourceLoop({
      poll: () => this.#poll(),
      begin: () => this.#begin(),
      nextDue: () => this.nextDue(),
      clock: source.clock,
      intervalMs: INTERVAL_MS,
      onError: source.onError,
    });
  }

  start(): void {
    this.#loop.start();
  }

  drain(): Promise<number> {
    return this.#loop.drain();
  }

  nextDue(): number | undefined {
    return this.#lane.nextDue();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    const member = this.#member;
    this.#member = undefined;
    await member?.leave();
  }

  #newLane(progress: OffsetProgress): BatchLane<LocalKafkaRecord> {
    const { settings, clock, invoke, onCall } = this.#source;
    const frame = this.#frame;
    const failedOf = (invocation: Invocation, records: readonly LocalKafkaRecord[]): readonly LocalKafkaRecord[] => {
      if ('functionError' in invocation) return records;
      return settings.reportBatchItemFailures ? reportedRecords(invocation.response, records) : [];
    };
    const calling: Invoke = async (event) => {
      const invocation = await invoke(event);
      const records = Object.values((event as LocalKafkaEvent).records).flat();
      onCall?.({ records: records.length, failed: failedOf(invocation, records).length, invocation });
      return invocation;
    };
    return new BatchLane({
      ...{ settings, clock },
      invoke: calling,
      event: (records) => kafkaEventOf(records, frame),
      remaining: reportedRecords,
      settled: (records) => progress.settle(records),
      discard: (discarded) => this.#destination.send(discarded, frame),
    });
  }

  async #poll(): Promise<void> {
    if (Date.now() < this.#troubleUntil) return;
    try {
      this.#member ??= await GroupMember.join(this.#source, this.#clientId);
      await this.#take(this.#member);
      this.#troubles = 0;
    } catch (error) {
      this.#troubleUntil = Date.now() + TROUBLE_MS;
      this.#member?.rewind();
      if (++this.#troubles >= TROUBLES && !this.#lane.busy) {
        this.#troubles = 0;
        const member = this.#member;
        this.#member = undefined;
        this.#restart();
        await member?.leave().catch(() => undefined);
      }
      throw error;
    }
  }

  async #take(member: GroupMember): Promise<void> {
    if (member.isStale) {
      // What is with the function is committed first, else it would come again.
      if (this.#lane.busy) return;
      await member.commit(this.#progress.advance());
      await member.settle();
      this.#restart();
    }
    if (this.#lane.full) return;
    const records = await member.fetch(this.#lane.empty ? IDLE_MS : BUSY_MS);
    for (const record of records) {
      this.#progress.take(record);
      this.#lane.push({ record, at: record.timestamp });
    }
  }

  /** Forgets what was read: it is read again from the committed offsets on, by whom it is assigned to. */
  #restart(): void {
    this.#progress = new OffsetProgress();
    this.#lane = this.#newLane(this.#progress);
  }

  #begin(): Promise<void>[] {
    const member = this.#member;
    if (member === undefined || member.isStale) return [];
    const progress = this.#progress;
    const call = this.#lane.begin();
    return call === undefined ? [] : [call.finally(() => member.commit(progress.advance()))];
  }
}
