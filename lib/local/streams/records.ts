import { createHash } from 'node:crypto';
import { itemSize } from '../engine/item-size.js';
import { REGION } from '../engine/overlay.js';
import type { Body, ItemChange, WireItem } from '../engine/types.js';
import type { StoredRecord, StoredStream, StreamRecord } from './model.js';

/** What is kept of a change for the readers of a stream. */
export function storedRecord(
  { view, keySchema }: StoredStream,
  { before, after }: ItemChange,
  now: number,
  userIdentity: Body | undefined,
): StoredRecord {
  const newImage = view === 'NEW_IMAGE' || view === 'NEW_AND_OLD_IMAGES' ? after : undefined;
  const oldImage = view === 'OLD_IMAGE' || view === 'NEW_AND_OLD_IMAGES' ? before : undefined;
  const keys = keysOf((after ?? before)!, keySchema);
  return {
    at: now,
    name: !before ? 'INSERT' : after ? 'MODIFY' : 'REMOVE',
    ...(newImage || oldImage ? {} : { keys }),
    ...(newImage ? { newImage } : {}),
    ...(oldImage ? { oldImage } : {}),
    size: itemSize(keys) + (newImage ? itemSize(newImage) : 0) + (oldImage ? itemSize(oldImage) : 0),
    ...(userIdentity ? { userIdentity } : {}),
  };
}

/** A record as readers get it. */
export function streamRecord(stream: StoredStream, sequence: string, stored: StoredRecord): StreamRecord {
  const { at, name, newImage, oldImage, size, userIdentity } = stored;
  const keys = stored.keys ?? keysOf((newImage ?? oldImage)!, stream.keySchema);
  return {
    // Always the same for the same record, as readers that deduplicate by it expect.
    eventID: createHash('md5').update(stream.arn).update(sequence).digest('hex'),
    eventName: name,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / 1000),
      Keys: keys,
      ...(newImage ? { NewImage: newImage } : {}),
      ...(oldImage ? { OldImage: oldImage } : {}),
      SequenceNumber: sequence,
      SizeBytes: size,
      StreamViewType: stream.view,
    },
    ...(userIdentity ? { userIdentity } : {}),
  };
}

function keysOf(item: WireItem, schema: StoredStream['keySchema']): WireItem {
  const keys: WireItem = {};
  for (const { AttributeName } of schema) keys[AttributeName] = item[AttributeName]!;
  return keys;
}
