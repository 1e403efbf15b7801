import type { IdentityOf } from '../message/message.js';
import { fromInvocation } from './from-invocation.js';
import type { MessageSource } from './source.js';

/** An event of EventBridge. */
export interface EventBridgeEvent<D> {
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly detail: D;
}

/** What {@link fromEventBridge} takes. */
export interface FromEventBridge<D> {
  /** {@link eventBridgeId}, or a member of the detail where producers may put an event twice. */
  readonly id: IdentityOf<EventBridgeEvent<NoInfer<D>>>;
}

/**
 * Messages that are events of an EventBridge bus; the whole event is the body, copied for each run of the handler. It sends
 * nothing.
 *
 * @throws InvalidInputError without `id`; at a message UnreadableMessageError
 * @example const from = fromEventBridge<{ orderId: string }>({ id: eventBridgeId });
 */
export const fromEventBridge = <D = unknown>(
  options: FromEventBridge<D>,
): MessageSource<EventBridgeEvent<D>, EventBridgeEvent<D>> => fromInvocation(options);
