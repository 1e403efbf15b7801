import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { invalid } from '../../commands/errors/errors.js';
import { isNamed } from '../../commands/send/failures.js';
import { SafeWritesError, retryOnConflict, type Item, type SendOptions, type Table } from '../../commands/index.js';
import { checkFunction, checkObject, checkOptions, checkTable, isBetween, longestTimer } from '../arguments.js';
import { checkedClock } from '../clock.js';
import { LockNotAcquiredError } from './errors.js';
import { keepAlive } from './keep-alive.js';
import { checkLock, lastToken, Lock, type LockTerms } from './lock.js';
import { lockEntity, lockFormat, type LockEntity } from './lock-entity.js';

/** What {@link Locks} takes. */
export interface LocksOptions {
  /** How long a lock is held without renewal, which is how long a crashed holder keeps it. @default 30,000 */
  readonly leaseMs?: number;
  /** How far the clocks of two processes may be apart before one takes a lock that the other still holds. @default 2,000 */
  readonly skewMs?: number;
  /** How long a waiting caller pauses between attempts, half of it at random. @default 500 */
  readonly pollMs?: number;
  /** What the items' keys start with, and their type. @default 'LOCK' */
  readonly prefix?: string;
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
}

/** What {@link Locks.acquire} takes. */
export interface AcquireOptions extends SendOptions {
  /** How long to wait while another holder has it. @default 0, one attempt */
  readonly waitMs?: number;
}

/** What the work under a lock gets. */
export interface Held {
  readonly lock: Lock;
  /** Aborts when the lock is lost, with a {@link LockLostError}, or when the caller's own signal does. */
  readonly signal: AbortSignal;
}

type Stored = Item<LockEntity>;

/** Characters of an instant as it is stored. Text that is none, such as an empty one, could look like a time long ago. */
const instantLength = 24;

const checkMs = (value: number, path: string, least: number): number =>
  isBetween(value, least, longestTimer) ? value : invalid(path, `expected milliseconds from ${least} on`);

/** Whether the write may have taken effect though it failed. */
const isOutcomeUnknown = (error: unknown): boolean => {
  if (error instanceof SafeWritesError) return false;
  const status = (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
  return status === undefined || status < 400 || status >= 500;
};

/**
 * Locks between processes, by name. The lease, with a margin for clocks, only keeps a crashed holder from keeping the
 * lock for good. It is no guarantee: a holder that was paused can wake up after its lease and go on. What is guaranteed
 * comes from the fencing token, which grows with each acquisition: add {@link isHeld} to the transaction that does the
 * work, or hand `lock.token` to a store that refuses a smaller one than it saw. The table needs a sort key.
 *
 * - A release keeps the item, and the item has no time to live: a removed item would start its token again, and a paused
 *   holder's token would be valid once more. Each name ever locked keeps an item of some 100 bytes.
 * - An owner id in the item settles lost responses: whoever finds itself as the owner has the lock.
 * - An acquisition that was aborted, or failed for good, may still have taken the lock: nobody has it until the lease
 *   ends.
 * - Locks are neither fair nor reentrant.
 *
 * Cost: an acquisition, a renewal and a release are one request and one write unit each, also where they fail or are
 * repeated; a waiting caller pays one per attempt, every `pollMs`. A failure with unknown outcome takes one more read.
 *
 * @example
 * const locks = new Locks(shop, { leaseMs: 30_000 });
 * await locks.withLock('nightly-report', async ({ lock, signal }) => {
 *   const steps = () => ({ held: isHeld(lock), page: pages.put({ path: '/report', count: 0 }) });
 *   // The check may meet a renewal of the lock.
 *   await retryOnConflict(() => transactWrite(shop, steps()).send({ signal }), { on: 'transactionConflict', signal });
 * });
 */
export class Locks {
  private readonly terms: LockTerms;
  private readonly skewMs: number;
  private readonly pollMs: number;

  constructor(table: Table, options: LocksOptions = {}) {
    const { leaseMs = 30_000, skewMs = 2_000, pollMs = 500, prefix, clock } = checkObject(options, 'options');
    const entity = lockEntity(prefix);
    const items = checkTable(table).of(entity);
    this.terms = { entity, items, leaseMs: checkMs(leaseMs, 'leaseMs', 1), clock: checkedClock(clock, 'clock') };
    this.skewMs = checkMs(skewMs, 'skewMs', 0);
    this.pollMs = checkMs(pollMs, 'pollMs', 1);
  }

  /** One attempt. @returns undefined where another holder has it */
  async tryAcquire(name: string, options: SendOptions = {}): Promise<Lock | undefined> {
    return this.attempt(name, randomUUID(), checkOptions(options));
  }

  /**
   * Acquires the lock, waiting for it where asked to.
   * @throws LockNotAcquiredError where another holder kept it all the time
   */
  async acquire(name: string, options: AcquireOptions = {}): Promise<Lock> {
    const { waitMs = 0, signal } = checkOptions(options);
    const deadline = performance.now() + checkMs(waitMs, 'waitMs', 0);
    // One for all attempts, so that each recognizes what an earlier one took.
    const owner = randomUUID();
    for (;;) {
      const lock = await this.attempt(name, owner, { signal });
      if (lock !== undefined) return lock;
      const left = deadline - performance.now();
      if (left <= 0) throw new LockNotAcquiredError(waitMs);
      const pause = this.pollMs * (0.5 + Math.random() / 2);
      await wait(Math.min(pause, left), undefined, signal && { signal });
    }
  }

  /**
   * Runs `fn` under the lock, renews it meanwhile, and releases it. When the lock is lost, the signal of `fn` aborts;
   * what `fn` makes of it is its own: its result is passed on. A release that fails is not reported: the lease ends.
   * @throws LockNotAcquiredError as {@link Locks.acquire}; and what `fn` throws
   */
  async withLock<R>(name: string, fn: (held: Held) => Promise<R>, options: AcquireOptions = {}): Promise<R> {
    checkFunction(fn, 'fn');
    const lock = await this.acquire(name, options);
    const kept = keepAlive(lock, this.terms.leaseMs / 3);
    const { signal } = options;
    try {
      return await fn({ lock, signal: signal === undefined ? kept.lost : AbortSignal.any([signal, kept.lost]) });
    } finally {
      kept.stop();
      const { leftMs } = lock;
      // A lease that ended needs no release, and none is waited for beyond its end.
      if (leftMs > 0) await lock.release({ signal: AbortSignal.timeout(Math.ceil(leftMs)) }).catch(() => undefined);
    }
  }

  private async attempt(name: string, owner: string, { signal }: SendOptions): Promise<Lock | undefined> {
    const { entity, items, leaseMs, clock } = this.terms;
    const { attrs } = entity;
    const { heldUntil, token, format } = attrs;
    const askedAt = performance.now();
    const now = clock();
    // An item that lost some of this, by other hands, would give its token again, or be held by two.
    const isKnown = format.le(lockFormat).and(token.between(1, lastToken));
    const hasEnded = entity.text`size(${heldUntil}) = ${token.value(instantLength)}`.and(
      heldUntil.lt(new Date(now - this.skewMs)),
    );
    const isReleased = heldUntil.notExists().and(attrs.owner.notExists());
    const ask = () =>
      items
        .update({ name })
        .set({ owner, heldUntil: new Date(now + leaseMs) })
        .add(attrs.token, 1)
        .setIfNotExists(format, lockFormat)
        .if(attrs.name.notExists().or(isKnown.and(hasEnded.or(isReleased))))
        .returnNew()
        .returnOldOnFailure()
        .trySend({ signal });
    const mine = (item: Stored | undefined): Lock | undefined => {
      if (item?.heldUntil === undefined || item.owner !== owner) return undefined;
      const { token, heldUntil } = item;
      const endsAt = askedAt + heldUntil.getTime() - now;
      return new Lock(this.terms, { name, owner, token, heldUntil, endsAt });
    };
    try {
      const { conditionMet, item } = await retryOnConflict(ask, { on: 'transactionConflict', signal });
      if (!conditionMet) checkLock(item);
      // A failed condition that saw this owner met the client's first attempt, whose response was lost.
      return mine(item);
    } catch (error) {
      // Transactions with a holder's isHeld() keep the item busy: as good as held.
      if (isNamed(error, 'TransactionConflictException')) return undefined;
      if (signal?.aborted === true || !isOutcomeUnknown(error)) throw error;
      const lock = mine(
        await items
          .get({ name })
          .consistent()
          .item({ signal })
          .catch(() => undefined),
      );
      if (lock === undefined) throw error;
      return lock;
    }
  }
}
