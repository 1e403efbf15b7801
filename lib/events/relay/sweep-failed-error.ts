import { SafeWritesError } from '../../commands/index.js';

/**
 * A relay on its schedule could not read the outbox to its end, so that it can't tell what waits. Thrown, it makes the
 * invocation count as an error; the next one tries again.
 *
 * @example
 * const relay = outboxRelay({ table: shop, target: publishEach(() => undefined) });
 * await relay({ 'detail-type': 'Scheduled Event' }).catch((error: unknown) => {
 *   if (error instanceof SweepFailedError) console.log(error.unread);
 * });
 */
export class SweepFailedError extends SafeWritesError {
  static override get kind(): string {
    return 'SweepFailedError';
  }
  /** How many shards could not be read. */
  readonly unread: number;
  constructor(unread: number) {
    super(`${unread} shards of the outbox could not be read to their end: the next sweep tries again.`);
    this.unread = unread;
  }
}
