import { PublishBatchCommand, type SNSClient } from '@aws-sdk/client-sns';
import { isFilledText } from '../../../commands/attributes/text.js';
import { invalid } from '../../../commands/errors/errors.js';
import type { Publisher } from '../../../recipes/index.js';
import { maximumBytesOf } from '../../../recipes/outbox/target.js';
import { timeouts, type RequestOptions } from '../answers.js';
import { cloudEventText } from '../cloud-event.js';
import { messageEntry, messageTarget } from '../message-target.js';
import { checkObject } from '../../../recipes/arguments.js';
import { checkClient } from '../check-client.js';

/** What {@link snsTarget} takes. */
export interface SnsTargetOptions extends RequestOptions {
  /** The caller's client, with time-outs of its own. */
  readonly client: SNSClient;
  /** A topic, standard or FIFO; the latter's name ends in `.fifo`. */
  readonly topicArn: string;
  /** The topic's MaximumMessageSize, up to 1 MiB. @default 262,144 */
  readonly maximumBytes?: number | undefined;
}

/**
 * An SNS topic as the target of a relay. The message is a CloudEvent, and message attributes hold its `id`, `type` and
 * `source`, and the `traceparent` where it has one: subscriptions filter by them.
 *
 * Standard: at least once, and no order. FIFO: the message group is the aggregate; FIFO queues behind the topic receive its
 * events in order. The topic drops an event that is sent again within five minutes, by its id, and takes it once more after
 * that.
 *
 * Cost: one PublishBatch for up to 10 events, 256 KiB in all unless the topic takes more; SNS bills each 64 KB of it.
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * import { SNSClient } from '@aws-sdk/client-sns';
 * const topicArn = 'arn:aws:sns:eu-west-1:111122223333:payments';
 * const target = snsTarget({ client: new SNSClient({}), topicArn });
 * export const handler = outboxRelay({ table: shop, target });
 */
export const snsTarget = (options: SnsTargetOptions): Publisher => {
  const { client, topicArn, maximumBytes = maximumBytesOf('sns') } = checkObject(options, 'options');
  checkClient(client);
  const terms = timeouts(options);
  if (!isFilledText(topicArn)) invalid('topicArn', 'expected the ARN of a topic');
  const fifo = topicArn.endsWith('.fifo');
  return messageTarget(maximumBytes, (events) => {
    const PublishBatchRequestEntries = events.map((event, i) => ({
      ...messageEntry(event, i, fifo),
      Message: cloudEventText(event),
    }));
    return client.send(new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries }), terms());
  });
};
