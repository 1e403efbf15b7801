import { setTimeout as wait } from 'node:timers/promises';
import { LockLostError } from './errors.js';
import type { Lock } from './lock.js';

/** A lock that is renewed until it is stopped or lost. */
export interface KeptAlive {
  /** Aborts when the lock is lost: another holder took it, or its lease ended with no renewal through. */
  readonly lost: AbortSignal;
  /** Stops renewing. A renewal in flight that comes after the release meets a condition that fails. */
  stop(): void;
}

/** Renews a lock at intervals. A failed renewal is tried again as long as the lease runs. */
export const keepAlive = (lock: Lock, everyMs: number): KeptAlive => {
  const lost = new AbortController();
  const stopped = new AbortController();
  let ending: NodeJS.Timeout | undefined;

  const lose = (): void => {
    clearTimeout(ending);
    lost.abort(new LockLostError());
    stopped.abort();
  };
  // A timer, since a renewal that hangs must not outlive the lease.
  const loseAtEnd = (): void => {
    clearTimeout(ending);
    if (stopped.signal.aborted) return;
    ending = setTimeout(() => (lock.leftMs > 0 ? loseAtEnd() : lose()), Math.ceil(lock.leftMs));
    ending.unref();
  };

  const renewing = async (): Promise<void> => {
    const { signal } = stopped;
    for (let pause = everyMs; ;) {
      await wait(pause, undefined, { signal, ref: false });
      try {
        await lock.renew({ signal });
        loseAtEnd();
        pause = everyMs;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof LockLostError) return lose();
        pause = Math.min(everyMs, Math.max(10, lock.leftMs / 4));
      }
    }
  };

  loseAtEnd();
  renewing().catch(() => undefined);
  return {
    lost: lost.signal,
    stop: () => {
      clearTimeout(ending);
      stopped.abort();
    },
  };
};
