import type { StoreOp } from '../engine/store.js';
import { HASH_SPACE, SHARD_LIFE_MS, STREAMS } from './model.js';
import type { Sequence, Shard, StoredStream } from './model.js';

/** Shards that share the hash space evenly. */
export function firstShards(count: number, sequence: Sequence, now: number): Shard[] {
  return Array.from({ length: count }, (_, i) =>
    openShard(sequence, now, Math.floor((HASH_SPACE * i) / count), Math.floor((HASH_SPACE * (i + 1)) / count)),
  );
}

function openShard(sequence: Sequence, now: number, from: number, to: number, parent?: string): Shard {
  const starting = sequence.next();
  // The form of AWS: two numbers of 20 and 8 digits.
  const id = `shardId-${String(now).padStart(20, '0')}-${starting.slice(-8)}`;
  return { id, ...(parent === undefined ? {} : { parent }), from, to, starting, openedAt: now };
}

/** The open shard for a partition key, by the hash that starts its item's place in the table. */
export function shardFor(stream: StoredStream, itemKey: string): Shard {
  const hash = parseInt(itemKey.slice(0, 6), 16);
  const shard = stream.shards.find(({ from, to, ending }) => ending === undefined && from <= hash && hash < to);
  if (!shard) throw new Error(`Stream ${stream.arn} has no open shard for hash ${hash}`);
  return shard;
}

/** Closes open shards and opens their children: `parts` for each. */
export function replaceShards(
  stream: StoredStream,
  sequence: Sequence,
  now: number,
  parts: number,
  which: (shard: Shard) => boolean,
): StoredStream {
  const replaced: Shard[] = [];
  const children: Shard[] = [];
  for (const shard of stream.shards) {
    if (shard.ending !== undefined || !which(shard)) {
      replaced.push(shard);
      continue;
    }
    replaced.push(closeShard(shard, sequence, now));
    const width = shard.to - shard.from;
    const count = Math.min(parts, width);
    for (let i = 0; i < count; i += 1) {
      const from = shard.from + Math.floor((width * i) / count);
      children.push(openShard(sequence, now, from, shard.from + Math.floor((width * (i + 1)) / count), shard.id));
    }
  }
  return { ...stream, shards: [...replaced, ...children] };
}

/** Closes every open shard, for a stream that takes no more records. */
export function closeStream(stream: StoredStream, sequence: Sequence, now: number): StoredStream {
  return {
    ...stream,
    disabledAt: now,
    shards: stream.shards.map((shard) => (shard.ending === undefined ? closeShard(shard, sequence, now) : shard)),
  };
}

function closeShard(shard: Shard, sequence: Sequence, now: number): Shard {
  return { ...shard, ending: sequence.next(), closedAt: now };
}

export const isOld = (now: number) => (shard: Shard) => now - shard.openedAt >= SHARD_LIFE_MS;

export const streamOp = (stream: StoredStream): StoreOp => ({ space: STREAMS, key: stream.arn, value: stream });
