import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { LimitExceededError } from '../../../commands/index.js';
import { invalid } from '../../../commands/errors/errors.js';
import type { PoisonRecord } from '../../poison/failure-destination.js';
import type { PoisonReason } from '../../poison/poison-record-error.js';
import type { EventSource, RecordOf } from '../../sources/delivery.js';
import { messageGroupOf } from '../message-group.js';

/** The format of bodies that this version writes. */
const format = 1;

/** Where a record came from, and what it is known by there. */
export type FailureOrigin =
  | {
      readonly source: 'sqs';
      readonly messageId: string;
      readonly queueArn?: string | undefined;
      readonly messageGroupId?: string | undefined;
    }
  | { readonly source: 'kafka'; readonly topic: string; readonly partition: number; readonly offset: number }
  | { readonly source: 'stream'; readonly eventId?: string | undefined; readonly sequenceNumber?: string | undefined };

/** A record that was set aside, as a message of the failure queue tells of it. */
export type FailureMessage = {
  [S in EventSource]: Extract<FailureOrigin, { source: S }> & {
    readonly reason: PoisonReason;
    /** What was wrong; it quotes nothing of the record. */
    readonly message: string;
    readonly failedAt: Date;
    /** The record as the function was given it: put in an event, it can be handled again. */
    readonly record: RecordOf[S];
  };
}[EventSource];

const originOf = ({ source, record }: PoisonRecord): FailureOrigin => {
  switch (source) {
    case 'sqs': {
      const { messageId, eventSourceARN: queueArn, attributes } = record;
      return { source, messageId, queueArn, messageGroupId: attributes?.MessageGroupId };
    }
    case 'kafka': {
      const { topic, partition, offset } = record;
      return { source, topic, partition, offset };
    }
    case 'stream':
      return { source, eventId: record.eventID, sequenceNumber: record.dynamodb?.SequenceNumber };
  }
};

/**
 * The body of a failure message; compressed where it would be too large else.
 *
 * @throws LimitExceededError where it is too large even so
 */
export const failureBody = (poison: PoisonRecord, maximumBytes: number): string => {
  const { reason, error, record } = poison;
  const facts = { format, ...originOf(poison), reason, message: error.message, failedAt: new Date().toISOString() };
  const text = Buffer.from(JSON.stringify(record));
  const bodyOf = (encoding: string, data: Buffer): string =>
    JSON.stringify({ ...facts, encoding, record: data.toString('base64') });
  const plain = bodyOf('base64', text);
  if (Buffer.byteLength(plain) <= maximumBytes) return plain;
  const compressed = bodyOf('gzip+base64', gzipSync(text));
  const bytes = Buffer.byteLength(compressed);
  if (bytes > maximumBytes)
    throw new LimitExceededError('record', `takes ${bytes} bytes in the failure queue, more than its ${maximumBytes}`);
  return compressed;
};

/** Group and deduplication for a FIFO queue: a record that is set aside twice is kept once. */
export const failureOrder = (poison: PoisonRecord) => {
  const origin = originOf(poison);
  const [group, id] =
    origin.source === 'sqs'
      ? [origin.messageGroupId ?? origin.messageId, [origin.queueArn, origin.messageId]]
      : origin.source === 'kafka'
        ? [`${origin.topic}-${origin.partition}`, [origin.topic, origin.partition, origin.offset]]
        : ['stream', [origin.eventId, origin.sequenceNumber]];
  return {
    MessageGroupId: messageGroupOf(group),
    MessageDeduplicationId: createHash('sha256').update(JSON.stringify(id)).digest('hex'),
  };
};

/**
 * Reads a message of a failure queue, to repair the record and handle it again.
 *
 * @throws InvalidInputError for a body that `sqsFailureDestination` did not write, or a newer version did
 * @example
 * const handler = batchHandler({ decode: { sqs: sqsMessages(json()) }, handle: ({ body }) => console.log(body !== null) });
 * const replay = async (body: string) => {
 *   const failure = readFailureMessage(body);
 *   if (failure.source === 'sqs') await handler({ Records: [failure.record] });
 * };
 */
export const readFailureMessage = (body: string): FailureMessage => {
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(body) as Record<string, unknown>;
    const { encoding, record } = message as { encoding: string; record: string };
    const data = Buffer.from(record, 'base64');
    if (encoding !== 'base64' && encoding !== 'gzip+base64') throw new TypeError('unknown encoding');
    const text = encoding === 'base64' ? data : gunzipSync(data);
    message = { ...message, record: JSON.parse(text.toString()) as unknown };
  } catch {
    return invalid('body', 'expected a message of the failure destination');
  }
  const { format: written, encoding: _, failedAt, ...facts } = message;
  if (written !== format) invalid('body', `expected format ${format}: it was written by another version of safewrites`);
  return { ...facts, failedAt: new Date(failedAt as string) } as unknown as FailureMessage;
};
