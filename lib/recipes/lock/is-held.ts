import { invalid } from '../../commands/errors/errors.js';
import type { ConditionCheck } from '../../commands/index.js';
import type { Lock } from './lock.js';
import type { LockEntity } from './lock-entity.js';

/**
 * A step that lets a transaction commit only while the lock is this holder's: what makes work under a lock safe. It
 * compares the fencing token and the owner, and no clock: a holder that was paused past its lease fails as soon as
 * another one acquired, and not before, when there is nobody to collide with.
 *
 * It reads the lock's item, so it meets other transactions with the same check, and renewals: such a transaction may be
 * cancelled by a conflict. Run it by `retryOnConflict` with `on: 'transactionConflict'`.
 *
 * Cost in the transaction: two write units; no request of its own.
 *
 * @example
 * const locks = new Locks(shop);
 * await locks.withLock('stock', async ({ lock, signal }) => {
 *   await retryOnConflict(
 *     () =>
 *       transactWrite(shop, {
 *         held: isHeld(lock),
 *         product: products.update({ id: 'KB-01' }).set({ stock: 5 }),
 *       }).send({ signal }),
 *     { on: 'transactionConflict', signal },
 *   );
 * });
 */
export const isHeld = (lock: Lock): ConditionCheck<LockEntity, unknown> =>
  typeof (lock as Partial<Lock> | undefined | null)?.heldCheck === 'function'
    ? lock.heldCheck()
    : invalid('lock', 'expected a lock that was acquired');
