import { invalid } from '../../commands/errors/errors.js';
import type { Message } from '../message/message.js';
import type { Session } from '../session/session.js';
import { Delivery } from './delivery.js';
import { settled, type MessageHandler, type MessageHandlerOptions } from './options.js';

/**
 * A handler of messages whose effect happens once: its writes, its outgoing events, its sagas and the record that the
 * message was handled commit in one transaction (seeds/004), so a second delivery, a crash at any point and a lost
 * response leave one effect. What makes it so is the record's condition, and nothing in memory.
 *
 * - A second delivery is answered with `duplicate`. Its handler may have run, and what that threw is dropped; its
 *   session's writes were not made. With `readFirst` it does not run.
 * - A lost race (a failed condition of an added write or of a saga, another transaction in the way) runs the handler
 *   again from the start, with a new session and after a random wait; in all `maxAttempts` times.
 * - A commit that was throttled, or cancelled for items that were, is sent again, up to 8 times in a row; all of a batch
 *   whose `signal` is given have one allowance of 50 such retries.
 * - After an unknown outcome (a time-out, a lost response) the identical request is sent again, three times in all; then
 *   the record is read, and where it is absent the handler runs again.
 * - Throws where the message must come again, and nothing of this delivery was or will be done without its record.
 *   Deliveries that run at the same time are safe: one commits.
 *
 * Cost of a message: 1 request; 2 write units for the record, 2 per KB of each item of the handler, of each saga and of
 * each aggregate's events. A saga is read first: 1 request, 1 read unit per 4 KB. A duplicate costs the same write units,
 * since a cancelled transaction is billed; with `readFirst` 1 request and 1 read unit. A run that throws reads the
 * record: 1 request, 1 read unit. A run that met another transaction is billed, and the next one is as much again; where
 * they met at the record, it reads that first.
 *
 * @throws InvalidInputError for an option that is missing or out of its bounds
 * @returns a function that handles one record, and can be the Lambda handler of single invocations. It throws what the
 *   handler throws; UnreadableMessageError for a record that is no message; InvalidInputError for the queue's own id as
 *   identity, for a command that the handler awaits or returns, for a saga that it does not await, and for a saga's state
 *   that can't be stored; LimitExceededError where sagas take it over the room of a transaction;
 *   TransactionCanceledException for the races of the last run, and where DynamoDB refuses an operation;
 *   InvalidStoredItemError for an inbox record or a saga of a newer format; the signal's reason; and the SDK's errors, such
 *   as throttling and an outcome that neither the request nor the record tells
 * @example
 * export const handler = messageHandler({
 *   table: shop,
 *   consumer: 'billing',
 *   from: fromEventBridge<{ customer: string; total: number }>({ id: eventBridgeId }),
 *   handle: async ({ body }, session) => {
 *     const { customer, total } = body.detail;
 *     const account = await accounts.get({ id: customer }).consistent().item({ signal: session.signal });
 *     if (!account) throw new Error('There is no such account.');
 *     const balance = account.balance - total;
 *     session.add(accounts.put({ ...account, balance }));
 *     session.publish(
 *       { type: 'account.billed', detail: { customer, balance } },
 *       { aggregate: `account:${customer}`, sequence: account.revision + 1 },
 *     );
 *   },
 * });
 */
export const messageHandler = <R, M>(options: MessageHandlerOptions<R, M>): MessageHandler<R> => {
  const settings = settled(options);
  const { from } = options;
  if (typeof options.handle !== 'function') invalid('handle', 'expected a function');
  if (typeof from?.messageOf !== 'function') invalid('from', 'expected a source, such as fromSqs({ id })');
  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  return async (record, given) => {
    const handle = (message: Message<M>, session: Session): Promise<void> | void => options.handle(message, session);
    return new Delivery<M>(settings, handle, () => from.messageOf(record), given?.signal).run();
  };
};
