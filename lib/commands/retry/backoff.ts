import { setTimeout as wait } from 'node:timers/promises';

const base = 25;
const longest = 1000;

/**
 * Waits before the next run: a random part of a bound that doubles, so that writers which collided don't collide again.
 *
 * @param run the run that just failed, from 1
 */
export const backoff = async (run: number, signal?: AbortSignal): Promise<void> => {
  const delay = Math.random() * Math.min(longest, base * 2 ** Math.min(run, 10));
  await wait(delay, undefined, signal && { signal });
};
