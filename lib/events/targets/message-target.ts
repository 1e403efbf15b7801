import { invalid } from '../../commands/errors/errors.js';
import { isBetween } from '../../recipes/arguments.js';
import type { Publisher, RelayedEvent } from '../../recipes/index.js';
import { answersIn, answersOf, type BatchResult } from './answers.js';
import { attributesOf, messageBytes } from './cloud-event.js';
import { messageGroupOf } from './message-group.js';

/** A message attribute that is a text, as SNS and SQS have it. */
export const stringAttribute = (StringValue: string) => ({ DataType: 'String', StringValue });

/** What the entries of SNS and SQS have in common: the place, the attributes, and on FIFO what orders and drops. */
export const messageEntry = (event: RelayedEvent, place: number, fifo: boolean) => ({
  Id: String(place),
  MessageAttributes: Object.fromEntries(attributesOf(event).map(([name, value]) => [name, stringAttribute(value)])),
  ...(fifo && { MessageGroupId: messageGroupOf(event.aggregate), MessageDeduplicationId: event.id }),
});

/** SNS and SQS: ten messages a request, which names those that it took by their places. */
export const messageTarget = (
  maximumBytes: number,
  send: (events: readonly RelayedEvent[]) => Promise<BatchResult>,
): Publisher => {
  if (!isBetween(maximumBytes, 1, Infinity)) invalid('maximumBytes', 'expected a number from 1 on');
  return {
    maximumEvents: 10,
    maximumBytes,
    sizeOf: messageBytes,
    publish: (events) =>
      answersOf(
        events,
        (event) => messageBytes(event) > maximumBytes,
        async (sent) => answersIn(sent.length, await send(sent)),
      ),
  };
};
