import type { Deadline } from './deadline.js';

/**
 * Runs tasks in their order, so many at once, until all are done or the deadline is near. Comes back when those that were
 * begun have ended, or can be waited for no longer; a task keeps its own record of how far it came.
 *
 * @throws what a task throws; the others are then not waited for
 */
export const runBounded = async (
  tasks: readonly (() => Promise<void>)[],
  limit: number,
  deadline: Deadline,
): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < tasks.length && !deadline.isNear) await tasks[next++]?.();
  };
  const workers = Promise.all(Array.from({ length: Math.min(limit, tasks.length) }, worker));
  await Promise.race([workers, deadline.over]);
};
