import { invalid } from '../../commands/errors/errors.js';
import { isWholeBetween } from '../arguments.js';
import { hashParts } from './hash-parts.js';

/** What a request is recognised by, so that a key used for another request is refused. */
export interface Fingerprint {
  /** Grows when other parts are hashed, or in another way: hashes of two algorithms can't be compared. */
  readonly algorithm: number;
  readonly hash: string;
}

/**
 * The fingerprint of a request: SHA-256 over its parts, told apart by their lengths.
 *
 * @param algorithm the number of the caller's choice of parts; a new one when the choice changes, so that records of the
 *   old one are replayed rather than refused
 * @example fingerprintOf(1, ['POST', '/users', JSON.stringify(user)]);
 */
export const fingerprintOf = (algorithm: number, parts: readonly (string | Uint8Array)[]): Fingerprint => {
  if (!isWholeBetween(algorithm, 0)) invalid('algorithm', 'expected a whole number');
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isPart))
    invalid('parts', 'expected texts or bytes, at least one');
  return { algorithm, hash: hashParts(parts) };
};

const isPart = (part: unknown): boolean => typeof part === 'string' || part instanceof Uint8Array;
