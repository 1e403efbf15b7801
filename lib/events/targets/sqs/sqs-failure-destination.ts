import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { isFilledText } from '../../../commands/attributes/text.js';
import { invalid } from '../../../commands/errors/errors.js';
import { maximumBytesOf } from '../../../recipes/outbox/target.js';
import type { PoisonOptions, PoisonRecord } from '../../poison/failure-destination.js';
import { timeouts, type RequestOptions } from '../answers.js';
import { failureBody, failureOrder } from './failure-message.js';
import { checkObject, isBetween } from '../../../recipes/arguments.js';
import { checkClient } from '../check-client.js';

/** What {@link sqsFailureDestination} takes. */
export interface SqsFailureDestinationOptions extends RequestOptions {
  /** The caller's client, with time-outs of its own. */
  readonly client: SQSClient;
  /** A queue, standard or FIFO; the latter's name ends in `.fifo`. */
  readonly queueUrl: string;
  /** The queue's MaximumMessageSize, where it is less than the service's. @default 1,048,576 */
  readonly maximumBytes?: number | undefined;
}

/** The message attributes take that at most, with names and types. */
const attributesBytes = 64;

/**
 * A queue as the failure destination of a handler of batches. A message holds the record whole, as base64, the reason, and
 * where it came from, so that it can be repaired and handled again: `readFailureMessage` reads it. `reason` and `source` are
 * message attributes, too.
 *
 * Where it can't be sent, and where a record is too large for the queue even compressed, the record failed, and is left to
 * its source: nothing is lost. A record that comes again is sent again; a FIFO queue drops it within five minutes.
 *
 * Cost: one SendMessage a record; SQS bills each 64 KB of it.
 *
 * @throws InvalidInputError for an option out of its bounds
 * @returns a hook that throws LimitExceededError, and what the client throws
 * @example
 * import { SQSClient } from '@aws-sdk/client-sqs';
 * const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/111122223333/failures';
 * export const handler = batchHandler({
 *   decode: { sqs: sqsMessages(json<{ id: string }>()) },
 *   handle: ({ body }) => console.log(body.id !== ''),
 *   failureDestination: sqsFailureDestination({ client: new SQSClient({}), queueUrl }),
 * });
 */
export const sqsFailureDestination = (
  options: SqsFailureDestinationOptions,
): NonNullable<PoisonOptions['failureDestination']> => {
  const { client, queueUrl, maximumBytes = maximumBytesOf('sqs') } = checkObject(options, 'options');
  checkClient(client);
  const terms = timeouts(options);
  if (!isFilledText(queueUrl)) invalid('queueUrl', 'expected the URL of a queue');
  if (!isBetween(maximumBytes, attributesBytes + 1, Infinity))
    invalid('maximumBytes', `expected a number over ${attributesBytes}`);
  const fifo = queueUrl.endsWith('.fifo');
  return async (poison: PoisonRecord, signal: AbortSignal): Promise<void> => {
    const { reason, source } = poison;
    const command = new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: failureBody(poison, maximumBytes - attributesBytes),
      MessageAttributes: {
        reason: { DataType: 'String', StringValue: reason },
        source: { DataType: 'String', StringValue: source },
      },
      ...(fifo && failureOrder(poison)),
    });
    await client.send(command, { abortSignal: AbortSignal.any([signal, terms().abortSignal]) });
  };
};
