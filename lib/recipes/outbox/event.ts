import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isFilledText } from '../../commands/attributes/text.js';
import { LimitExceededError } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';
import type { OutboxItem } from './outbox-item.js';

/** An event to publish. */
export interface OutboxEvent {
  /** What happened, such as `charge.created`; at most 128 characters, EventBridge's limit. */
  readonly type: string;
  /** An object that JSON can hold; copied when the event is published. */
  readonly detail: object;
  /** What consumers deduplicate by: 1 to 128 visible ASCII characters. @default a random UUID */
  readonly id?: string;
  /** Who publishes; at most 256 characters. @default the outbox's */
  readonly source?: string;
  /** @default now */
  readonly time?: Date;
}

type StoredEvent = OutboxItem['events'][number];

/** Room for the names, punctuation, time and trace of the message that the relay makes of an event. */
const envelopeBytes = 512;

/** Whether it is text that every target takes as a name: EventBridge by its length, SQS by its characters. */
const isName = (text: unknown, most: number): boolean =>
  isFilledText(text) && text.length <= most && !/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(text);

/** An event as it is stored, refused where the target could not take it. */
export const storedEvent = (
  event: OutboxEvent,
  defaultSource: string,
  aggregate: string,
  maximum: number,
): StoredEvent => {
  const { id = randomUUID(), type, source = defaultSource, time = new Date() } = checkObject(event, 'events');
  if (typeof id !== 'string' || !/^[!-~]{1,128}$/.test(id))
    invalid('events.id', 'expected 1 to 128 visible ASCII characters');
  if (!isName(type, 128)) invalid('events.type', 'expected 1 to 128 characters, no control characters');
  if (!isName(source, 256)) invalid('events.source', 'expected 1 to 256 characters, no control characters');
  const detail = jsonText(event.detail);
  // What stands beside the detail is escaped as JSON text there, and most of it is given to the target once more.
  const bytes =
    envelopeBytes + Buffer.byteLength(detail) + 2 * Buffer.byteLength(JSON.stringify([id, type, source, aggregate]));
  if (bytes > maximum) {
    throw new LimitExceededError('events', `an event takes ${bytes} bytes, more than the ${maximum} of its target`);
  }
  return { id, type, source, detail, time };
};

const jsonText = (detail: object): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(detail);
  } catch {
    text = undefined;
  }
  return text?.startsWith('{') ? text : invalid('events.detail', 'expected an object that JSON can hold');
};

/** Kept free beside the events: the rest of the item, and what a relay notes in it where they can't be published. */
export const reservedBytes = 1_500;
const maximumItemBytes = 409_600 - reservedBytes;
/** Names, time and structure of one stored event. */
const storedEventBytes = 55;

/** Refuses events that take more than one item holds. */
export const checkItemBytes = (events: readonly StoredEvent[], aggregate: string): void => {
  let bytes = 2 * Buffer.byteLength(aggregate);
  for (const { id, type, source, detail } of events)
    bytes += storedEventBytes + Buffer.byteLength(id + type + source) + Buffer.byteLength(detail);
  if (bytes > maximumItemBytes)
    throw new LimitExceededError(
      'events',
      `take ${bytes} bytes, more than the ${maximumItemBytes} of one transaction's`,
    );
};
