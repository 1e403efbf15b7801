import { setTimeout as wait } from 'node:timers/promises';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkOptions, longestTimer } from '../arguments.js';
import { drainAll, type DrainAllOptions, type DrainedAll } from './drain-all.js';
import { checkMs } from './drain-options.js';
import type { OutboxPlace } from './outbox.js';
import type { Publisher } from './publisher.js';

/** What {@link pollOutbox} takes. */
export interface PollOptions extends DrainAllOptions {
  /** Ends the loop: what is being published is still waited for and removed. */
  readonly signal: AbortSignal;
  /** The pause between two passes. @default 1,000 */
  readonly intervalMs?: number;
  /** Called after each pass: for metrics and logs. */
  readonly onPass?: (pass: DrainedAll) => void;
}

/**
 * The simplest relay (seeds/000, Transactional outbox): reads the outbox, publishes each event and deletes it, again and
 * again, until its signal. It goes on through failures, of the publisher's and of the database; `onPass` tells them.
 * Several may run at once: each event is still published in order, and more often.
 *
 * Cost: that of {@link drainAll} each pass. With 8 shards and one pass a second an empty outbox takes 9 requests of half a
 * read unit a second.
 *
 * @example
 * const stopping = new AbortController();
 * process.once('SIGTERM', () => stopping.abort());
 * const events = outbox(shop, { source: 'shop.accounts' });
 * await pollOutbox(events, publishEach(({ type, detail }) => console.log(type, detail.length)), {
 *   signal: stopping.signal,
 *   onPass: ({ failed, reasons }) => failed > 0 && console.warn(reasons),
 * });
 */
export const pollOutbox = async (place: OutboxPlace, publisher: Publisher, options: PollOptions): Promise<void> => {
  const { signal, intervalMs = 1_000, onPass } = checkOptions(options);
  if ((signal as unknown) === undefined) invalid('signal', 'expected the AbortSignal that ends the loop');
  checkMs(intervalMs, 'intervalMs', longestTimer);
  if (onPass !== undefined) checkFunction(onPass, 'onPass');
  while (!signal.aborted) {
    const pass = await drainAll(place, publisher, options);
    onPass?.(pass);
    await wait(intervalMs, undefined, { signal }).catch(() => undefined);
  }
};
