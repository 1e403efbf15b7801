import { clearSpace } from '../engine/store.js';
import type { Store, StoreOp } from '../engine/store.js';
import { recordSpace, RETENTION_MS, STREAMS } from './model.js';
import type { Shard, StoredRecord, StoredStream } from './model.js';
import { streamOp } from './shards.js';

/** Takes the records of a stream that are older than a day, then shards and at last the stream when they are. */
export function trimStream(store: Store, stream: StoredStream, now: number): StoreOp[] {
  const oldest = now - RETENTION_MS;
  if (stream.disabledAt !== undefined && stream.disabledAt <= oldest) {
    return [
      { space: STREAMS, key: stream.arn, value: undefined },
      ...stream.shards.flatMap(({ id }) => clearSpace(store, recordSpace(stream.arn, id))),
    ];
  }
  const ops: StoreOp[] = [];
  const shards: Shard[] = [];
  for (const shard of stream.shards) {
    const space = recordSpace(stream.arn, shard.id);
    if (shard.closedAt !== undefined && shard.closedAt <= oldest) {
      ops.push(...clearSpace(store, space));
      continue;
    }
    let trimmedTo: string | undefined;
    for (const [key, { at }] of store.space<StoredRecord>(space).entries()) {
      if (at > oldest) break;
      ops.push({ space, key, value: undefined });
      trimmedTo = key;
    }
    shards.push(trimmedTo === undefined ? shard : { ...shard, trimmedTo });
  }
  const changed = shards.length !== stream.shards.length || shards.some((shard, i) => shard !== stream.shards[i]);
  return changed ? [...ops, streamOp({ ...stream, shards })] : ops;
}
