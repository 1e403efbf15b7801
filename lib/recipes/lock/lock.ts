import {
  conditionCheck,
  retryOnConflict,
  type Condition,
  type ConditionCheck,
  type EntityTable,
  type Item,
  type SendOptions,
} from '../../commands/index.js';
import { corrupt } from '../../commands/errors/errors.js';
import { checkOptions, isWholeBetween } from '../arguments.js';
import { newerFormat } from '../newer-format.js';
import { LockLostError } from './errors.js';
import { lockFormat, type LockEntity } from './lock-entity.js';

/** How the locks of one {@link Locks} are kept. */
export interface LockTerms {
  readonly entity: LockEntity;
  readonly items: EntityTable<LockEntity>;
  readonly leaseMs: number;
  readonly clock: () => number;
}

/** What an acquisition stored. */
export interface Acquisition {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  readonly heldUntil: Date;
  /** When the lease ends, on the clock that never jumps. */
  readonly endsAt: number;
}

/** The last token that another one can follow. */
export const lastToken = Number.MAX_SAFE_INTEGER - 1;

/**
 * Refuses an item that newer code wrote, which may mean something else, and one that no code of the kit wrote: it would
 * look held for good.
 */
export const checkLock = (item: Item<LockEntity> | undefined): void => {
  if (item === undefined) return;
  const { format, token, owner, heldUntil } = item;
  if (format > lockFormat) newerFormat('the lock was written');
  if (!isWholeBetween(token, 1, lastToken)) corrupt('token', 'the token of a lock');
  if ((owner === undefined) !== (heldUntil === undefined)) corrupt('owner', 'an owner with its time');
};

/**
 * A lock that was acquired: who holds it, until when, and its fencing token, which grows with each acquisition. Hand the
 * token to any store that can refuse a smaller one than it saw; for writes in DynamoDB, {@link isHeld} compares it.
 *
 * @example
 * const lock: Lock = await new Locks(shop).acquire('nightly-report', { waitMs: 5_000 });
 * if (lock.leftMs < 10_000) await lock.renew();
 * await lock.release();
 */
export class Lock {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  private until: Date;
  private endsAt: number;

  /** @internal */
  constructor(
    private readonly terms: LockTerms,
    { name, owner, token, heldUntil, endsAt }: Acquisition,
  ) {
    this.name = name;
    this.owner = owner;
    this.token = token;
    this.until = heldUntil;
    this.endsAt = endsAt;
  }

  /** When the lease ends, as it is stored. */
  get heldUntil(): Date {
    return this.until;
  }

  /** How long the lease still runs by this process's own time; 0 where it ended. */
  get leftMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  private isOwn(): Condition<LockEntity['name']> {
    const { token, owner } = this.terms.entity.attrs;
    return token.eq(this.token).and(owner.eq(this.owner));
  }

  /**
   * Starts the lease anew, also one that ended and that nobody took since. Safe to repeat. Cost: one request, one write
   * unit.
   * @throws LockLostError where another holder took it, or it was released
   */
  async renew(options: SendOptions = {}): Promise<void> {
    const { signal } = checkOptions(options);
    const { entity, items, leaseMs, clock } = this.terms;
    const askedAt = performance.now();
    const heldUntil = new Date(clock() + leaseMs);
    const result = await retryOnConflict(
      () =>
        items
          .update({ name: this.name })
          .set(entity.attrs.heldUntil, heldUntil)
          .if(this.isOwn())
          // An attempt that arrives after a later renewal must not take back what that one promised.
          .if(entity.attrs.heldUntil.notExistsOrLe(heldUntil))
          .returnOldOnFailure()
          .trySend({ signal }),
      { on: 'transactionConflict', signal },
    );
    if (result.conditionMet) this.until = heldUntil;
    else {
      const { token, owner, heldUntil: later } = result.item ?? {};
      if (token !== this.token || owner !== this.owner || later === undefined) throw new LockLostError();
      this.until = later;
    }
    this.endsAt = Math.max(this.endsAt, askedAt + leaseMs);
  }

  /**
   * Gives the lock back. The item stays, with its token. Safe to repeat, and after a lost response. Cost: one request,
   * one write unit.
   * @returns whether it was this holder's until now; false where another holder has had it since
   */
  async release(options: SendOptions = {}): Promise<boolean> {
    const { signal } = checkOptions(options);
    const { entity, items } = this.terms;
    const { owner, heldUntil } = entity.attrs;
    const result = await retryOnConflict(
      () =>
        items
          .update({ name: this.name })
          .remove(owner, heldUntil)
          .if(this.isOwn())
          .returnOldOnFailure()
          .trySend({ signal }),
      { on: 'transactionConflict', signal },
    );
    this.endsAt = 0;
    if (result.conditionMet) return true;
    // Nobody's, under this token: an earlier attempt, whose response was lost, released it.
    return result.item?.token === this.token && result.item.owner === undefined;
  }

  /** @internal The step behind {@link isHeld}. */
  heldCheck(): ConditionCheck<LockEntity, unknown> {
    return conditionCheck(this.terms.items, { name: this.name }).if(this.isOwn());
  }
}
