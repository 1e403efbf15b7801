import { SafeWritesError } from '../../commands/index.js';

/**
 * A record that is no message: its body can't be decoded, or it has no identity. It will fail however often it comes, so
 * an event source sends it to its failure destination. Nothing was read or written. The message holds nothing of the
 * record.
 *
 * @example
 * const handler = messageHandler({ table: shop, consumer: 'billing', from: fromSqs({ id: bodyPath('id') }), handle: () => {} });
 * await handler({ body: '{' }).catch((error: unknown) => {
 *   if (error instanceof UnreadableMessageError) console.log(error.reason); // body
 * });
 */
export class UnreadableMessageError extends SafeWritesError {
  static override get kind(): string {
    return 'UnreadableMessageError';
  }
  /** What is wrong with it. */
  readonly reason: 'body' | 'identity';
  constructor(reason: 'body' | 'identity', message: string) {
    super(`The record is no message: ${message}`);
    this.reason = reason;
  }
}
