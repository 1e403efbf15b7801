import { checkFunction } from '../arguments.js';
import type { PublishAnswer, Publisher, RelayedEvent } from './publisher.js';
import { reasonOf } from './reason.js';

/**
 * A publisher from a function that sends one event: the simplest target. The aggregates of a batch go at once, the events
 * of each one after another, stopping at one that fails. What the function throws is a failure that is tried again,
 * unless it has `retryable: false`; the error's name is the reason.
 *
 * Cost: none of its own.
 *
 * @example
 * const publisher = publishEach(async ({ id, type, detail }) => {
 *   await fetch('https://hooks.example/events', { method: 'POST', headers: { 'event-id': id, type }, body: detail });
 * });
 */
export const publishEach = (send: (event: RelayedEvent) => Promise<void> | void): Publisher => {
  checkFunction(send, 'send');
  return {
    keepsOrder: true,
    async publish(events) {
      const answers = new Map<RelayedEvent, PublishAnswer>();
      const byAggregate = Map.groupBy(events, ({ aggregate }) => aggregate);
      await Promise.all(
        [...byAggregate.values()].map(async (ofAggregate) => {
          let failure: PublishAnswer | undefined;
          for (const event of ofAggregate) {
            failure ??= await sent(send, event);
            answers.set(event, failure ?? { ok: true });
          }
        }),
      );
      return events.map((event) => answers.get(event) as PublishAnswer);
    },
  };
};

const sent = async (
  send: (event: RelayedEvent) => Promise<void> | void,
  event: RelayedEvent,
): Promise<PublishAnswer | undefined> => {
  try {
    await send(event);
    return undefined;
  } catch (error) {
    const retryable = (error as { retryable?: unknown } | undefined)?.retryable !== false;
    return { ok: false, retryable, reason: reasonOf(error) };
  }
};
