import { invalid } from '../../commands/errors/errors.js';
import type { IdentityOf, Message } from '../message/message.js';
import { checkSource, decoded, identified, membersOf, type MessageSource } from './source.js';

/**
 * A record of an SQS event. Its `messageId` is left out on purpose: a redrive from the dead-letter queue and a producer
 * that sends again both give a new one, so it recognises nothing.
 */
export interface SqsRecord {
  readonly body: string;
  readonly messageAttributes?: Readonly<Record<string, { readonly stringValue?: string | undefined }>> | undefined;
}

/** What {@link fromSqs} takes. */
export interface FromSqs<M> {
  /** The message's identity, from what its producer chose; written after `decode`, it knows the body's type. */
  readonly id: IdentityOf<NoInfer<M>>;
  /** Decodes the body. @default JSON.parse */
  readonly decode?: (body: string) => M;
}

/**
 * Messages of SQS records, standard or FIFO. Headers are message attributes of type String. It sends nothing.
 *
 * @throws InvalidInputError without `id`, and at a message whose identity is the queue's own id; at a message
 *   UnreadableMessageError
 * @example const from = fromSqs<{ orderId: string }>({ id: bodyPath('orderId') });
 */
export const fromSqs = <M = unknown>(options: FromSqs<M>): MessageSource<SqsRecord, M> => {
  checkSource(options);
  const { id, decode = (text): M => JSON.parse(text) as M } = options;
  return {
    messageOf(record): Message<M> {
      const { body, messageAttributes } = membersOf(record);
      const header = (name: string): string | undefined => {
        const given = Object.hasOwn(messageAttributes ?? {}, name) ? messageAttributes?.[name]?.stringValue : undefined;
        return typeof given === 'string' ? given : undefined;
      };
      const message = identified({ body: decoded(body, textBody(decode)), header }, id);
      // Past the types, by a cast or from JavaScript.
      if (message.id === (record as { messageId?: unknown }).messageId)
        invalid('id', "is the queue's own messageId, which a redrive changes: take an id that the producer chose");
      return message;
    },
  };
};

/** Of what is no text, such as a record's absence, a decoder may make anything. */
const textBody =
  <M>(decode: (body: string) => M) =>
  (body: string | undefined): M =>
    typeof body === 'string' ? decode(body) : invalid('body', 'expected text');
