import { isFilledText } from '../../commands/attributes/text.js';
import { entity, integer, string, timeToLive, type Condition, type Item } from '../../commands/index.js';
import { corrupt, invalid } from '../../commands/errors/errors.js';
import { hashParts } from '../../recipes/idempotency/hash-parts.js';
import { second } from '../../recipes/time-to-live/second.js';
import type { MessageId } from '../message/message.js';

/**
 * The record that a consumer handled a message, written in the transaction of what the handler did; about 250 bytes. It
 * expires by time to live.
 *
 * @example const records = shop.of(InboxRecord);
 */
export const InboxRecord = entity('INBOX', {
  pk: 'INBOX#{key}',
  sk: 'MESSAGE',
  attributes: {
    /** {@link inboxKey} */
    key: string(),
    /** Of the record; readers refuse one that is newer than they are. */
    format: integer(),
    consumer: string(),
    /** A random text of the call that handled it, so that the call knows its own work after a lost response. */
    delivery: string(),
    expiresAt: timeToLive(),
  },
});
export type InboxRecord = Item<typeof InboxRecord>;

/** The format of records that this version writes. */
export const inboxFormat = 1;

/**
 * The stored key of a message at a consumer: SHA-256 of both, so that any text may be one, no two pairs meet and none is
 * stored.
 *
 * @throws InvalidInputError for an empty part, or one with a lone surrogate
 * @example const key = inboxKey('billing', messageId('order-1'));
 */
export const inboxKey = (consumer: string, id: MessageId): string => {
  const parts: Record<string, unknown> = { consumer, id };
  for (const [name, part] of Object.entries(parts)) {
    if (!isFilledText(part) || !part.isWellFormed()) invalid(name, 'expected text, not empty');
  }
  return hashParts([consumer, id]);
};

/**
 * Whether a message counts as not handled: no record, or an expired one. On time and never on absence, since DynamoDB
 * deletes an expired item up to days later. A record without a time, which somebody took away, says that it was handled.
 */
export const unhandled = (now: Date): Condition<'INBOX'> =>
  InboxRecord.attrs.key.notExists().or(InboxRecord.attrs.expiresAt.le(second(now)));

/**
 * Refuses a record of a newer format, whose meaning is unknown: taken for none, it would let the effect happen twice.
 *
 * @throws InvalidStoredItemError
 */
export const checkFormat = ({ format }: InboxRecord): void => {
  if (format > inboxFormat) corrupt('INBOX.format', `format ${inboxFormat}`);
};

/** The opposite of {@link unhandled}, of a record that was read. */
export const isLive = ({ expiresAt }: InboxRecord, now: Date): boolean => expiresAt > second(now);
