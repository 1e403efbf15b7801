import { SafeWritesError } from '../../commands/index.js';

/**
 * Another holder has the lock, and kept it for as long as the caller would wait.
 *
 * @example
 * await new Locks(shop).acquire('nightly-report').catch((error: unknown) => {
 *   if (error instanceof LockNotAcquiredError) console.log('another process does it');
 * });
 */
export class LockNotAcquiredError extends SafeWritesError {
  static override get kind(): string {
    return 'LockNotAcquiredError';
  }
  constructor(waitMs: number) {
    super(`The lock is held by another owner; waited ${waitMs} ms.`);
  }
}

/**
 * The lock is no longer this holder's: its lease ended, or it was released. Stop the work; writes that carry
 * {@link isHeld} fail from when another holder has it.
 *
 * @example
 * const locks = new Locks(shop);
 * await locks.withLock('nightly-report', async ({ signal }) => {
 *   signal.throwIfAborted();
 * }).catch((error: unknown) => {
 *   if (error instanceof LockLostError) console.log('the work stopped before its end');
 * });
 */
export class LockLostError extends SafeWritesError {
  static override get kind(): string {
    return 'LockLostError';
  }
  constructor() {
    super('The lock is no longer held by this owner.');
  }
}
