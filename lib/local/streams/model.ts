import type { Store, StoreOp } from '../engine/store.js';
import type { Body, KeySchemaElement, WireItem } from '../engine/types.js';

export type ViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

/** How long records are kept. */
export const RETENTION_MS = 24 * 60 * 60 * 1000;
/** How long a shard takes records before another follows it, as on AWS. */
export const SHARD_LIFE_MS = 4 * 60 * 60 * 1000;
/** Partition keys are spread over shards by the first 24 bits of their hash. */
export const HASH_SPACE = 0x1000000;

/** A part of a stream: the records of the partition keys whose hash lies in [from, to). */
export interface Shard {
  id: string;
  parent?: string;
  from: number;
  to: number;
  /** No record of this shard has a lower number. */
  starting: string;
  /** Present when the shard is closed: no record of it has a higher number. */
  ending?: string;
  openedAt: number;
  closedAt?: number;
  /** The last record that retention has taken. */
  trimmedTo?: string;
}

export interface StoredStream {
  arn: string;
  label: string;
  table: string;
  view: ViewType;
  keySchema: KeySchemaElement[];
  createdAt: number;
  disabledAt?: number;
  shards: Shard[];
}

/** A record as GetRecords answers it. */
export interface StreamRecord {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  eventVersion: '1.1';
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: WireItem;
    NewImage?: WireItem;
    OldImage?: WireItem;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: ViewType;
  };
  userIdentity?: Body;
}

/**
 * A record as it is kept: what a reader is told beside this follows from the stream and the sequence number, under which
 * it is kept. Images are the stored items themselves, so that they cost no memory of their own.
 */
export interface StoredRecord {
  /** When it was written, to the millisecond: what retention counts from. */
  at: number;
  name: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** Only where no image holds the keys. */
  keys?: WireItem;
  newImage?: WireItem;
  oldImage?: WireItem;
  size: number;
  userIdentity?: Body;
}

export const STREAMS = 'stream';
export const recordSpace = (arn: string, shardId: string): string => `record-${arn}/${shardId}`;

const META = 'meta';
const LAST_SEQUENCE = 'sequence';
/** Numbers of 21 digits, which compare as text too. */
const FIRST = 100_000_000_000_000_000_000n;

/** The sequence numbers of all streams: one line, so that commit order can be read off them. */
export class Sequence {
  #last: bigint;
  #written: bigint;

  constructor(store: Store) {
    this.#last = this.#written = BigInt(store.space<string>(META).get(LAST_SEQUENCE) ?? FIRST);
  }

  next(): string {
    this.#last += 1n;
    return String(this.#last);
  }

  /** The change that remembers the numbers given since the last one. */
  ops(): StoreOp[] {
    if (this.#written === this.#last) return [];
    this.#written = this.#last;
    return [{ space: META, key: LAST_SEQUENCE, value: String(this.#last) }];
  }
}
