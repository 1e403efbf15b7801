import type { IdentityOf } from '../message/message.js';
import { checkSource, decoded, identified, type MessageSource } from './source.js';

/** What {@link fromInvocation} takes. */
export interface FromInvocation<M> {
  /** The message's identity: Lambda's request id is none, since another invocation has another. */
  readonly id: IdentityOf<NoInfer<M>>;
}

/**
 * Messages that are the event of an invocation itself: EventBridge, Scheduler, Step Functions, a call of the function.
 * The body is a copy of the event for each run of the handler (`structuredClone`), since a run may change it. It sends
 * nothing.
 *
 * @throws InvalidInputError without `id`; at a message UnreadableMessageError, also for an event that holds functions
 * @example
 * export const handler = messageHandler({
 *   table: shop,
 *   consumer: 'billing',
 *   from: fromInvocation<{ orderId: string }>({ id: bodyPath('orderId') }),
 *   handle: ({ body }, session) => session.publish({ type: 'order.billed', detail: body }),
 * });
 */
export const fromInvocation = <M = unknown>(options: FromInvocation<M>): MessageSource<M, M> => {
  checkSource(options);
  return {
    messageOf: (event) =>
      identified({ body: decoded(event, (given) => structuredClone(given)), header: () => undefined }, options.id),
  };
};
