import type { IdentityOf } from '../message/message.js';
import { identified, type MessageSource } from './source.js';

/** What {@link fromInvocation} takes. */
export interface FromInvocation<M> {
  /** The message's identity: Lambda's request id is none, since another invocation has another. */
  readonly id: IdentityOf<NoInfer<M>>;
}

/**
 * Messages that are the event of an invocation itself: EventBridge, Scheduler, Step Functions, a call of the function.
 * The event is the body. It costs nothing.
 *
 * @example
 * export const handler = messageHandler({
 *   table: shop,
 *   consumer: 'billing',
 *   from: fromInvocation<{ orderId: string }>({ id: bodyPath('orderId') }),
 *   handle: ({ body }, session) => session.publish({ type: 'order.billed', detail: body }),
 * });
 */
export const fromInvocation = <M = unknown>({ id }: FromInvocation<M>): MessageSource<M, M> => ({
  messageOf: (event) => identified({ body: event, header: () => undefined }, id),
});
