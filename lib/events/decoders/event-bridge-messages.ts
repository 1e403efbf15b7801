import { poison } from '../poison/poison-record-error.js';
import type { SqsEventRecord } from '../sources/sqs-event.js';
import type { Decoder } from './decoder.js';
import { json } from './formats.js';
import { bodyOf, sqsHeader, type SqsMessage } from './sqs-messages.js';

/** An event as EventBridge sends it to a queue. */
export interface EventBridgeEnvelope<D> {
  readonly id: string;
  readonly source: string;
  readonly 'detail-type': string;
  /** ISO 8601, to the second. */
  readonly time: string;
  readonly detail: D;
}

const isEnvelope = (value: unknown): value is EventBridgeEnvelope<unknown> => {
  const { id, source, time, detail, 'detail-type': type } = (value ?? {}) as Partial<EventBridgeEnvelope<unknown>>;
  return [id, source, time, type].every((member) => typeof member === 'string') && detail !== undefined;
};

const read = json();

/**
 * Events of an EventBridge bus by way of an SQS queue: the body is the whole event. Its `time` is to the second, too
 * coarse for a version. It costs nothing.
 *
 * @returns a decoder that throws PoisonRecordError of reason `envelope` for a body that EventBridge did not write
 * @example
 * const handler = batchHandler({
 *   decode: { sqs: eventBridgeMessages<{ orderId: string }>() },
 *   handle: ({ body }) => console.log(body['detail-type'], body.detail.orderId !== ''),
 * });
 */
export const eventBridgeMessages = <D = unknown>(): Decoder<SqsEventRecord, SqsMessage<EventBridgeEnvelope<D>>> => ({
  decode: (record) => {
    const body = read(bodyOf(record));
    if (!isEnvelope(body)) return poison('envelope', 'it is no event of EventBridge');
    return {
      source: 'sqs',
      body: body as EventBridgeEnvelope<D>,
      header: (name) => sqsHeader(record, name),
      record,
    };
  },
});
