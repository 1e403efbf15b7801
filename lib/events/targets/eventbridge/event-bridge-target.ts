import { Buffer } from 'node:buffer';
import { PutEventsCommand, type EventBridgeClient, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { isFilledText } from '../../../commands/attributes/text.js';
import { invalid } from '../../../commands/errors/errors.js';
import type { Publisher, RelayedEvent } from '../../../recipes/index.js';
import { maximumBytesOf } from '../../../recipes/outbox/target.js';
import { answersOf, notAccepted, timeouts, type RequestOptions } from '../answers.js';
import { cloudEventText, xrayHeader } from '../cloud-event.js';
import { checkObject } from '../../../recipes/arguments.js';
import { checkClient } from '../check-client.js';

/** What {@link eventBridgeTarget} takes. */
export interface EventBridgeTargetOptions extends RequestOptions {
  /** The caller's client, with time-outs of its own. */
  readonly client: EventBridgeClient;
  /** Name or ARN of the bus. */
  readonly eventBusName: string;
}

const entryOf = (event: RelayedEvent, EventBusName: string): PutEventsRequestEntry => {
  const TraceHeader = xrayHeader(event);
  return {
    EventBusName,
    Source: event.source,
    DetailType: event.type,
    Detail: cloudEventText(event),
    Time: event.time,
    ...(TraceHeader !== undefined && { TraceHeader }),
  };
};

/** Bytes of an entry as the service counts them: 14 for the time, then the texts. */
const entryBytes = (event: RelayedEvent): number =>
  14 + Buffer.byteLength(event.source) + Buffer.byteLength(event.type) + Buffer.byteLength(cloudEventText(event));

/** Codes by which an entry is refused for what is in it. */
const isBadEntry = (code: string): boolean =>
  /^(MalformedDetail|InvalidArgument|Validation|NotAuthorizedFor)/.test(code);

/**
 * An EventBridge bus as the target of a relay. The detail of an event on the bus is a CloudEvent, whose `id` is the event's:
 * EventBridge gives every entry an id of its own, another one when it is sent again.
 *
 * At least once, and no order: the bus promises none. Events of an aggregate are submitted one after the other's
 * acceptance.
 *
 * Cost: one PutEvents for up to 10 events, 1 MB in all; EventBridge bills each 64 KB of an event.
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
 * const target = eventBridgeTarget({ client: new EventBridgeClient({}), eventBusName: 'shop' });
 * export const handler = outboxRelay({ table: shop, target });
 */
export const eventBridgeTarget = (options: EventBridgeTargetOptions): Publisher => {
  const { client, eventBusName } = checkObject(options, 'options');
  checkClient(client);
  const terms = timeouts(options);
  if (!isFilledText(eventBusName)) invalid('eventBusName', 'expected a name or an ARN');
  const maximumBytes = maximumBytesOf('eventbridge');
  return {
    maximumEvents: 10,
    maximumBytes,
    sizeOf: entryBytes,
    publish: (events) =>
      answersOf(
        events,
        (event) => entryBytes(event) > maximumBytes,
        async (sent) => {
          const command = new PutEventsCommand({ Entries: sent.map((event) => entryOf(event, eventBusName)) });
          const { Entries = [] } = await client.send(command, terms());
          return sent.map((_, i) => {
            const { EventId, ErrorCode } = Entries[i] ?? {};
            if (ErrorCode !== undefined) return notAccepted(ErrorCode, !isBadEntry(ErrorCode));
            return EventId === undefined ? notAccepted(undefined, true) : { ok: true };
          });
        },
      ),
  };
};
