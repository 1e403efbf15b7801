import type { Condition, Input } from '../../commands/index.js';
import { corrupt } from '../../commands/errors/errors.js';
import type { Answer } from './answer.js';
import type { Fingerprint } from './fingerprint.js';
import { isBetween, isWholeBetween } from '../arguments.js';
import { longestHorizon } from './bounds.js';
import { providerKeyOf } from './provider-key.js';
import { IdempotencyRecord, answerOf, inProgressFormat, isInProgress, recordOf } from './record.js';

export type LeaseState = NonNullable<IdempotencyRecord['lease']>;

/** The record of a call in progress. */
export interface Running extends IdempotencyRecord {
  readonly owner: string;
  readonly token: number;
  readonly lease: LeaseState;
}

/** What is known of an effect that may have happened. */
export interface Unknown {
  /** Names the state that was seen, so that a decision is about no later one. */
  readonly token: number;
  /** The effect. */
  readonly point: string;
  /** What the provider was given with it, to look it up by. */
  readonly providerKey: string;
  /** How many calls have had the lease. */
  readonly attempt: number;
  /** The effect was not begun before. */
  readonly since: Date;
  /** The results of the effects before it. */
  readonly points: Readonly<Record<string, string>>;
}

const { attrs } = IdempotencyRecord;

/**
 * The record as one in progress, or undefined where it is an answer.
 *
 * @throws InvalidStoredItemError for a record of a newer format
 */
export const runningOf = (found: IdempotencyRecord): Running | undefined => {
  if (!isInProgress(found)) {
    answerOf(found);
    return undefined;
  }
  const { owner, token, lease } = found;
  return owner === undefined || token === undefined || lease === undefined || !isPossible(token, lease)
    ? corrupt('IDEMPOTENCY.lease', 'a lease')
    : { ...found, owner, token, lease };
};

/** The next lease counts on from these, and no writer gives others. */
const isPossible = (token: number, { attempt, step, horizonSeconds }: LeaseState): boolean =>
  isWholeBetween(token, 0, mostCounted) &&
  isWholeBetween(attempt, 1, mostCounted) &&
  isWholeBetween(step, 0, mostCounted) &&
  isBetween(horizonSeconds, 1, longestHorizon);

/** Far from where counting on would not be exact. */
const mostCounted = Number.MAX_SAFE_INTEGER - 1_000;

/** Whether a lease runs: not any more in the millisecond in which it ends. */
export const isHeld = ({ lease: { until } }: Running, now: Date): boolean => until !== undefined && until > now;

/** What is known where an effect may have happened; undefined where nothing keeps the next call from going on. */
export const unknownOf = ({ key, token, lease }: Running): Unknown | undefined => {
  const { pending: point, attempt, since, points } = lease;
  if (point === undefined) return undefined;
  return { token, point, providerKey: providerKeyOf(key, point), attempt, since, points };
};

/** The lease is this call's, whatever was written under it. */
export const isOwn = (owner: string, token: number): Condition<'IDEMPOTENCY'> =>
  attrs.format.eq(inProgressFormat).and(attrs.token.eq(token)).and(attrs.owner.eq(owner));

/** The record is in the state that was seen: every write of a record in progress moves its step or its token on. */
export const isUnchanged = (owner: string, token: number, step: number): Condition<'IDEMPOTENCY'> =>
  isOwn(owner, token).and(attrs.lease.step.eq(step));

/**
 * When a record in progress expires. One with an effect that may have happened waits for its decision beyond the
 * horizon: forgotten, the effect would be done again.
 */
export const expiryOf = ({ pending, horizonSeconds }: LeaseState, now: Date): Date =>
  new Date(now.getTime() + (pending === undefined ? horizonSeconds : longestHorizon) * 1000);

/** The members of a record that a lease writes. */
export const leaseFields = (owner: string, token: number, lease: LeaseState, now: Date) => ({
  owner,
  token,
  lease,
  expiresAt: expiryOf(lease, now),
});

/** A record in progress. */
export const runningRecord = (
  key: string,
  { algorithm, hash }: Fingerprint,
  fields: ReturnType<typeof leaseFields>,
): Input<typeof IdempotencyRecord> => ({ key, format: inProgressFormat, algorithm, fingerprint: hash, ...fields });

/**
 * The record of the answer to a call that had a lease: what a transaction would have written, and whose it is, so that
 * the call knows its own again after a lost response.
 */
export const answeredRecord = (
  { key, algorithm, fingerprint: hash, token }: Running,
  owner: string,
  answer: Answer,
  expiresAt: Date,
): Input<typeof IdempotencyRecord> => ({
  ...recordOf(key, { algorithm, hash }, answer, expiresAt),
  owner,
  token,
});

/** The end of a horizon that starts now. */
export const horizonEnd = ({ lease: { horizonSeconds } }: Running, now: Date): Date =>
  new Date(now.getTime() + horizonSeconds * 1000);
