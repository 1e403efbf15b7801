import { entity, integer, retryOnConflict, string, transactWrite, type Table } from '../../lib/commands/index.js';
import { LockNotAcquiredError } from '../../lib/recipes/lock/errors.js';
import { isHeld } from '../../lib/recipes/lock/is-held.js';
import type { Locks } from '../../lib/recipes/lock/locks.js';

export const Report = entity('REPORT', {
  pk: 'REPORT#{day}',
  sk: 'REPORT',
  attributes: { day: string(), total: integer() },
});

/**
 * Writes the report of a day, in one process at a time; false where another one is at it. The report is stored only while
 * the lock is held: a process that was paused for too long writes nothing over the one that took over.
 */
export const writeReport = async (
  shop: Table,
  locks: Locks,
  day: string,
  compute: (signal: AbortSignal) => Promise<number>,
): Promise<boolean> => {
  try {
    await locks.withLock(`report-${day}`, async ({ lock, signal }) => {
      const total = await compute(signal);
      const steps = () => ({ held: isHeld(lock), report: shop.of(Report).put({ day, total }) });
      // The check may meet a renewal of the lock.
      await retryOnConflict(() => transactWrite(shop, steps()).send({ signal }), { on: 'transactionConflict', signal });
    });
    return true;
  } catch (error) {
    if (error instanceof LockNotAcquiredError) return false;
    throw error;
  }
};
