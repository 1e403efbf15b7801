import { poison } from '../poison/poison-record-error.js';
import type { SqsEventRecord } from '../sources/sqs-event.js';
import type { Decoder } from './decoder.js';

/** A message of a queue, decoded. */
export interface SqsMessage<T> {
  readonly source: 'sqs';
  readonly body: T;
  /** The text of a message attribute, if the message carries it. */
  header(name: string): string | undefined;
  readonly record: SqsEventRecord;
}

/** The body's text. */
export const bodyOf = ({ body }: SqsEventRecord): string =>
  typeof body === 'string' ? body : poison('body', 'it has no body');

/** The text of a message attribute. */
export const sqsHeader = ({ messageAttributes }: SqsEventRecord, name: string): string | undefined =>
  messageAttributes !== undefined && messageAttributes !== null && Object.hasOwn(messageAttributes, name)
    ? messageAttributes[name]?.stringValue
    : undefined;

/**
 * Messages of an SQS queue, standard or FIFO, whose producer is your own: also of SNS with raw message delivery, which
 * makes the topic's attributes those of the message. It costs nothing.
 *
 * @param body `json()`, `text()`, or a function of yours, such as a schema's; what it throws makes the record poison
 * @example
 * const handler = batchHandler({
 *   decode: { sqs: sqsMessages(json<{ orderId: string }>()) },
 *   handle: ({ body, header }) => console.log(body.orderId !== '', header('kind') === 'new'),
 * });
 */
export const sqsMessages = <T>(body: (text: string) => T | Promise<T>): Decoder<SqsEventRecord, SqsMessage<T>> => ({
  decode: async (record) => ({
    source: 'sqs',
    body: await body(bodyOf(record)),
    header: (name) => sqsHeader(record, name),
    record,
  }),
});
