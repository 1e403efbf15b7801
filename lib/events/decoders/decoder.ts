import { invalid } from '../../commands/errors/errors.js';
import type { Delivery, EventSource } from '../sources/delivery.js';
import type { KafkaEventRecord } from '../sources/kafka-event.js';
import type { SqsEventRecord } from '../sources/sqs-event.js';
import type { StreamEventRecord } from '../sources/stream-event.js';
import { poison } from '../poison/poison-record-error.js';
import { poisonReasonOf } from '../poison/failure-destination.js';

/** What a record is decoded to; undefined skips the record: it is done. */
type Decoded<M> = M | undefined | Promise<M | undefined>;

/**
 * Makes messages of a source's records. An object, since the compiler puts off the type of a generic call that returns a
 * function, and would not know the message when it comes to the handler.
 */
export interface Decoder<R, M> {
  /** Throws PoisonRecordError for what can't be decoded. */
  readonly decode: (record: R) => Decoded<M>;
}

/** A decoder of the kit, or a function. */
type DecoderOption<R, M> = Decoder<R, M> | ((record: R) => Decoded<M>);

/** Decoders by source, of messages `Q`, `K` and `S`; records of a source that has none are refused. */
export interface Decoders<Q, K, S> {
  readonly sqs?: DecoderOption<SqsEventRecord, Q> | undefined;
  readonly kafka?: DecoderOption<KafkaEventRecord, K> | undefined;
  readonly stream?: DecoderOption<StreamEventRecord, S> | undefined;
}

/** Decoders of any messages. */
export type AnyDecoders = Decoders<unknown, unknown, unknown>;

/**
 * Decodes a record.
 *
 * @throws PoisonRecordError for what can't be decoded; what a user's decoder throws may quote the record, so it is not kept
 */
export const decodeDelivery = async ({ source, record }: Delivery, decoders: AnyDecoders): Promise<unknown> => {
  try {
    const decoder = decoders[source];
    return await (typeof decoder === 'function' ? decoder(record as never) : decoder?.decode(record as never));
  } catch (error) {
    if (poisonReasonOf(error) !== undefined) throw error;
    return poison('decoder', 'its decoder threw');
  }
};

/** Refuses a batch of a source that has no decoder. */
export const checkSource = (source: EventSource, decoders: AnyDecoders): void => {
  if (decoders[source] === undefined) invalid('decode', `the event is one of ${names[source]}, which has no decoder`);
};

const names = { sqs: 'SQS', kafka: 'Kafka', stream: 'a DynamoDB stream' };
