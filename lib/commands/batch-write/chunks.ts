import { Buffer } from 'node:buffer';
import type { WriteRequest } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import { itemSize } from '../attributes/item-size.js';
import { requestJson } from '../write/request-json.js';
import type { StepParts } from '../write/step.js';

/** What a BatchWriteItem takes, by table. */
export type RequestItems = Record<string, WriteRequest[]>;

const maximumWrites = 25;
const maximumBytes = 16 * 1024 * 1024;

/** A stored byte takes at most nine on the wire, as the empty text in a list does: `{"S":""},` for one. */
const mostPerByte = 9;
const countedExactly = 64 * 1024;

/** Bytes on the wire, which is what the 16 MB are of; an upper bound where that is small enough. */
const wireBytes = (item: AttributeMap): number => {
  const stored = itemSize(item);
  return stored > countedExactly ? Buffer.byteLength(requestJson(item)) : stored * mostPerByte;
};

const toWriteRequest = ({ kind_: kind, request_: request }: StepParts): WriteRequest =>
  kind === 'Put'
    ? { PutRequest: { Item: request['Item'] as AttributeMap } }
    : { DeleteRequest: { Key: request['Key'] as AttributeMap } };

/** Lays writes out over requests, in their order; an item is under 400 KB when its put is made. */
export const chunksOf = (parts: readonly StepParts[]): RequestItems[] => {
  const chunks: RequestItems[] = [];
  let chunk: RequestItems = {};
  let writes = 0;
  let bytes = 0;
  for (const part of parts) {
    const size = wireBytes(part.kind_ === 'Put' ? part.written_ : part.key_);
    if (writes === 0 || writes === maximumWrites || bytes + size > maximumBytes) {
      chunks.push((chunk = {}));
      writes = bytes = 0;
    }
    (chunk[part.request_.TableName] ??= []).push(toWriteRequest(part));
    writes++;
    bytes += size;
  }
  return chunks;
};
