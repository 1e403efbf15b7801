import { serviceError, validationError } from '../engine/api-error.js';

/** Where a reader of a shard stands: the next record is the first with a higher number. */
export interface Position {
  arn: string;
  shardId: string;
  after: string;
  issuedAt: number;
}

const LIFE_MS = 15 * 60 * 1000;

/** The text of a position: opaque to readers, as on AWS. */
export function encodeIterator({ arn, shardId, after, issuedAt }: Position): string {
  return `${arn}|1|${Buffer.from(JSON.stringify([shardId, after, issuedAt])).toString('base64')}`;
}

export function decodeIterator(text: string, now: number): Position {
  const [arn, , data] = text.split('|');
  let position: Position | undefined;
  try {
    const [shardId, after, issuedAt] = JSON.parse(Buffer.from(data ?? '', 'base64').toString()) as unknown[];
    if (typeof shardId === 'string' && typeof after === 'string' && typeof issuedAt === 'number' && arn) {
      position = { arn, shardId, after, issuedAt };
    }
  } catch {
    // Falls through to the same answer.
  }
  if (!position) throw validationError('Invalid ShardIterator');
  if (now - position.issuedAt > LIFE_MS) {
    throw serviceError(
      'ExpiredIteratorException',
      'Iterator expired. The iterator was created more than 15 minutes ago.',
    );
  }
  return position;
}
