import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import { isFilledText } from '../../../commands/attributes/text.js';
import { invalid } from '../../../commands/errors/errors.js';
import type { Publisher, RelayedEvent } from '../../../recipes/index.js';
import { maximumBytesOf } from '../../../recipes/outbox/target.js';
import { timeouts, type RequestOptions } from '../answers.js';
import { cloudEventText, xrayHeader } from '../cloud-event.js';
import { messageEntry, messageTarget, stringAttribute } from '../message-target.js';
import { checkObject } from '../../../recipes/arguments.js';
import { checkClient } from '../check-client.js';

/** What {@link sqsTarget} takes. */
export interface SqsTargetOptions extends RequestOptions {
  /** The caller's client, with time-outs of its own. */
  readonly client: SQSClient;
  /** A queue, standard or FIFO; the latter's name ends in `.fifo`. */
  readonly queueUrl: string;
  /** The queue's MaximumMessageSize, where it is less than the service's. @default 1,048,576 */
  readonly maximumBytes?: number | undefined;
}

const entryOf = (event: RelayedEvent, place: number, fifo: boolean): SendMessageBatchRequestEntry => {
  const trace = xrayHeader(event);
  return {
    ...messageEntry(event, place, fifo),
    MessageBody: cloudEventText(event),
    ...(trace !== undefined && { MessageSystemAttributes: { AWSTraceHeader: stringAttribute(trace) } }),
  };
};

/**
 * An SQS queue as the target of a relay. The body is a CloudEvent, and message attributes hold its `id`, `type` and
 * `source`, and the `traceparent` where it has one.
 *
 * Standard: at least once, and no order. FIFO: the message group is the aggregate, whose events are received in order; the
 * queue drops an event that is sent again within five minutes, by its id, and takes it once more after that.
 *
 * Cost: one SendMessageBatch for up to 10 events, 1 MiB in all; SQS bills each 64 KB of it.
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * import { SQSClient } from '@aws-sdk/client-sqs';
 * const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/111122223333/payments.fifo';
 * const target = sqsTarget({ client: new SQSClient({}), queueUrl });
 * export const handler = outboxRelay({ table: shop, target });
 */
export const sqsTarget = (options: SqsTargetOptions): Publisher => {
  const { client, queueUrl, maximumBytes = maximumBytesOf('sqs') } = checkObject(options, 'options');
  checkClient(client);
  const terms = timeouts(options);
  if (!isFilledText(queueUrl)) invalid('queueUrl', 'expected the URL of a queue');
  const fifo = queueUrl.endsWith('.fifo');
  return messageTarget(maximumBytes, (events) => {
    const Entries = events.map((event, i) => entryOf(event, i, fifo));
    return client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }), terms());
  });
};
