import { isFilledText } from '../../commands/attributes/text.js';
import {
  LimitExceededError,
  entity,
  instant,
  integer,
  map,
  number,
  record,
  string,
  timeToLive,
  type Condition,
  type Input,
  type Item,
} from '../../commands/index.js';
import { corrupt, invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';
import { second } from '../time-to-live/second.js';
import type { Answer } from './answer.js';
import type { Fingerprint } from './fingerprint.js';
import { hashParts } from './hash-parts.js';

/**
 * The record of an idempotency key: the answer of the first call, until it expires (seeds/000, Idempotency keys). About
 * 300 bytes beside the answer.
 *
 * @example const records = shop.of(IdempotencyRecord);
 */
export const IdempotencyRecord = entity('IDEMPOTENCY', {
  pk: 'IDEMPOTENCY#{key}',
  sk: 'RECORD',
  attributes: {
    /** {@link idempotencyKey} */
    key: string(),
    /**
     * What the record is: 1 an answer, 2 a call in progress. A reader that knows only the first refuses the second, as any
     * newer one: it takes it neither for absent nor for an answer.
     */
    format: integer(),
    algorithm: integer(),
    fingerprint: string(),
    status: integer().optional(),
    headers: record(string()).optional(),
    body: string().optional(),
    /** Never before the end of a lease: whoever finds the record expired takes the key. */
    expiresAt: timeToLive(),
    /** Whose lease it is or was: an id of the call's own. Absent where a transaction alone wrote, as all below. */
    owner: string().optional(),
    /** The fencing token: grows with each lease. */
    token: integer().optional(),
    /** Of a call in progress, and only there. */
    lease: map({
      attempt: integer(),
      /** Grows with each write, so that one that arrives late does not undo a later one. */
      step: integer(),
      /** Absent where the lease was released. */
      until: instant().optional(),
      /** No effect whose result is not among the points was begun before. */
      since: instant(),
      /** The same for one effect, by a decision to do it again. */
      decided: record(instant()).optional(),
      /** The effect that was begun, and that must not be begun again unasked. */
      pending: string().optional(),
      points: record(string()),
      horizonSeconds: number(),
    }).optional(),
  },
});
export type IdempotencyRecord = Item<typeof IdempotencyRecord>;

const answered = 1;
export const inProgressFormat = 2;

/** What tells one idempotent call from all others. */
export interface CallIdentity {
  /** Whose key it is: two callers may choose the same one. */
  readonly scope: string;
  /** The operation, so that one key may be used for two of them. */
  readonly route: string;
  /** The client's own key. */
  readonly key: string;
}

/**
 * The stored key of a call: SHA-256 of scope, route and key, so that any text may be one and none is stored.
 *
 * @throws InvalidInputError for an empty part, or one with a lone surrogate
 * @example const key = idempotencyKey({ scope: 'tenant-1', route: 'register', key: 'request-1' });
 */
export const idempotencyKey = (call: CallIdentity): string => {
  const { scope, route, key } = checkObject(call, 'call');
  const parts = { scope, route, key };
  for (const [name, part] of Object.entries(parts)) {
    if (!isFilledText(part) || !part.isWellFormed()) invalid(name, 'expected text, not empty');
  }
  return hashParts([scope, route, key]);
};

/**
 * Whether a call may take the key: no record holds it, or one that has expired. On time and never on absence, since
 * DynamoDB deletes an expired item up to days later. A record without a time, which somebody took away, holds the key.
 */
export const claimable = (now: Date): Condition<'IDEMPOTENCY'> =>
  IdempotencyRecord.attrs.key.notExists().or(IdempotencyRecord.attrs.expiresAt.le(second(now)));

/** The same for a record that was read. */
export const isExpired = ({ expiresAt }: IdempotencyRecord, now: Date): boolean => expiresAt <= second(now);

/** The record of an answer. */
export const recordOf = (
  key: string,
  { algorithm, hash }: Fingerprint,
  { status, headers, body }: Answer,
  expiresAt: Date,
): Input<typeof IdempotencyRecord> => ({
  key,
  format: answered,
  algorithm,
  fingerprint: hash,
  status,
  headers,
  body,
  expiresAt,
});

/**
 * Whether the record is of another request than the fingerprint's. Hashes of two algorithms say nothing about each
 * other: then the key alone decides.
 */
export const isOfAnother = (found: IdempotencyRecord, { algorithm, hash }: Fingerprint): boolean =>
  found.algorithm === algorithm && found.fingerprint !== hash;

/**
 * The answer that a record holds.
 *
 * @throws InvalidStoredItemError for a record of a newer format: taken for none, it would let the effect happen twice
 */
export const answerOf = ({ format, status, headers, body }: IdempotencyRecord): Answer =>
  format === answered ? { status, headers, body } : corrupt('IDEMPOTENCY.format', `format ${answered}`);

/**
 * Whether the record is of a call that has a lease, or had one: there is no answer yet.
 *
 * @throws InvalidStoredItemError for one without its lease
 */
export const isInProgress = ({ format, lease }: IdempotencyRecord): boolean =>
  format === inProgressFormat && (lease !== undefined || corrupt('IDEMPOTENCY.lease', 'a lease'));

/** Makes the put of a record, and says it of the answer where it does not fit. */
export const fitting = <P>(put: () => P): P => {
  try {
    return put();
  } catch (error) {
    if (!(error instanceof LimitExceededError)) throw error;
    throw new LimitExceededError('answer', `does not fit the record that keeps it; ${error.message}`);
  }
};
