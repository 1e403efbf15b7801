import { isFilledText } from '../../commands/attributes/text.js';
import { invalid } from '../../commands/errors/errors.js';

/**
 * What a message is recognised by at its second delivery. Made by {@link messageId} and the functions that read an
 * envelope, so that plain text, such as a queue's own id, is no identity by accident.
 */
export type MessageId = string & { readonly '~messageId': true };

/** A message, as a handler gets it. */
export interface Message<M> {
  readonly id: MessageId;
  /** What the source decoded. */
  readonly body: M;
  /** The text of a header (SQS: message attribute), if the source has such and the message carries it. */
  readonly header: (name: string) => string | undefined;
}

/** A message before its identity is known: what identity is read from. */
export interface Received<M> {
  readonly body: M;
  /** See {@link Message.header}. */
  readonly header: (name: string) => string | undefined;
}

/** Reads a message's identity from its envelope. */
export type IdentityOf<M> = (received: Received<M>) => MessageId;

/**
 * A message's identity from any text that its producer chose, of any length: it is stored as a hash. It must be the same
 * in every delivery, also after a redrive from a dead-letter queue and where the producer sent twice. A queue's own id
 * (SQS `messageId`, a Kafka offset, SNS `MessageId`) is not, which is why the records that sources hand over lack it.
 *
 * @throws InvalidInputError for what is no text, empty or has a lone surrogate
 * @example
 * const from = fromSqs({ id: ({ body }) => messageId((body as { orderId: string }).orderId) });
 */
export const messageId = (text: string): MessageId =>
  isFilledText(text) && text.isWellFormed()
    ? (text as MessageId)
    : invalid('messageId', 'expected text, not empty, that the producer of the message chose');
