import { poison } from '../poison/poison-record-error.js';
import type { SqsEventRecord } from '../sources/sqs-event.js';
import type { Decoder } from './decoder.js';
import { json } from './formats.js';
import { bodyOf, sqsHeader, type SqsMessage } from './sqs-messages.js';

/** What SNS wraps a message in. */
export interface SnsEnvelope {
  readonly Type: 'Notification';
  readonly MessageId: string;
  readonly TopicArn: string;
  readonly Subject?: string | null | undefined;
  readonly Message: string;
  readonly Timestamp?: string | undefined;
  /** Of a FIFO topic. */
  readonly SequenceNumber?: string | undefined;
  readonly MessageAttributes?:
    Readonly<Record<string, { readonly Type?: string; readonly Value?: string } | undefined>> | null | undefined;
}

/** A message of a topic, taken from its envelope. */
export interface SnsMessage<T> extends SqsMessage<T> {
  readonly envelope: SnsEnvelope;
}

const isEnvelope = (value: unknown): value is SnsEnvelope => {
  const { Type, TopicArn, Message } = (value ?? {}) as Partial<SnsEnvelope>;
  return Type === 'Notification' && typeof TopicArn === 'string' && typeof Message === 'string';
};

const read = json();

/**
 * Messages of an SNS topic by way of an SQS queue, without raw message delivery: the body is SNS's envelope. Headers are
 * the topic's message attributes, but binary ones, then the queue's. With raw message delivery take `sqsMessages`. It
 * costs nothing.
 *
 * @param body decodes the envelope's message
 * @returns a decoder that throws PoisonRecordError of reason `envelope` for a body that SNS did not write
 * @example const decode = { sqs: snsMessages(json<{ orderId: string }>()) };
 */
export const snsMessages = <T>(body: (text: string) => T | Promise<T>): Decoder<SqsEventRecord, SnsMessage<T>> => ({
  decode: async (record) => {
    const envelope = read(bodyOf(record));
    if (!isEnvelope(envelope)) return poison('envelope', 'it is no notification of SNS');
    const { MessageAttributes: attributes } = envelope;
    return {
      source: 'sqs',
      body: await body(envelope.Message),
      header(name) {
        const found = attributes && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
        return found === undefined || found.Type === 'Binary' ? sqsHeader(record, name) : found.Value;
      },
      record,
      envelope,
    };
  },
});
