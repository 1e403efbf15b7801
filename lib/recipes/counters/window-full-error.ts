import { SafeWritesError } from '../../commands/index.js';

/**
 * The window of a {@link WindowedCounter} holds as many ids as an item can, or as `maxBytes` lets it: the event was not
 * counted, and no further one of this window will be. Take shorter windows, shards by id, or shorter ids.
 *
 * @example
 * const signups = new WindowedCounter(shop, { name: 'signups' });
 * await signups.count({ id: 'request-1', at: new Date() }).catch((error: unknown) => {
 *   if (error instanceof WindowFullError) console.log('park the event, and alert');
 * });
 */
export class WindowFullError extends SafeWritesError {
  static override get kind(): string {
    return 'WindowFullError';
  }
  constructor(maxBytes: number) {
    super(`The window's set of counted ids would exceed ${maxBytes} bytes; the event was not counted.`);
  }
}
