import { isFilledText } from '../../commands/attributes/text.js';
import { InvalidInputError } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import type { IdentityOf, Message, MessageId, Received } from '../message/message.js';
import { UnreadableMessageError } from '../message/unreadable-message-error.js';

/** Makes messages of a source's records; `R` is a record, `M` what its body is decoded to. */
export interface MessageSource<R, M> {
  /**
   * The message of a record. It is asked for before each run of the handler, and gives a body of its own each time, so that
   * a run finds nothing of what the one before it changed.
   *
   * @throws UnreadableMessageError for a body that can't be decoded, and a record without identity
   */
  messageOf(record: R): Message<M>;
}

/** The options of a source, refused where the handler is made and not at each message. */
export const checkSource = (options: unknown): void => {
  const { id, decode } = (options ?? {}) as { readonly id?: unknown; readonly decode?: unknown };
  if (typeof id !== 'function') invalid('id', 'expected a function that reads the identity, such as bodyPath(…)');
  if (decode !== undefined && typeof decode !== 'function') invalid('decode', 'expected a function');
};

/** The members of a record; of what is no record, none. */
export const membersOf = <R extends object>(record: R): Partial<R> =>
  typeof record === 'object' && (record as R | null) !== null ? record : {};

/** The body, by a decoder of the source's or the user's. What a decoder throws may quote the body, so it is not kept. */
export const decoded = <T, M>(given: T, decode: (given: T) => M): M => {
  try {
    return decode(given);
  } catch {
    throw new UnreadableMessageError('body', 'its body can not be decoded');
  }
};

/** The message of what was received. */
export const identified = <M>(received: Received<M>, id: IdentityOf<M>): Message<M> => {
  const { body } = received;
  return { id: identityOf(received, id), body, header: (name) => received.header(name) };
};

const identityOf = <M>(received: Received<M>, id: IdentityOf<M>): MessageId => {
  let found: MessageId;
  try {
    found = id(received);
  } catch (error) {
    const why = error instanceof InvalidInputError ? error.message : 'its identity can not be read';
    throw new UnreadableMessageError('identity', why);
  }
  if (!isFilledText(found) || !(found as string).isWellFormed()) {
    throw new UnreadableMessageError('identity', 'the function `id` gave no text for it: say messageId(…)');
  }
  return found;
};
