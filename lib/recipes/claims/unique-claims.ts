import type { AnyEntity, EntityTable, VersionedEntityTable } from '../../commands/index.js';
import type { Claim } from './claim.js';
import { ClaimedRecords } from './claimed-records.js';
import type { ClaimChange, ClaimsRemoval, ClaimsRunOptions, Registration } from './outcomes.js';

/** Claims by the record's attribute that holds the value. */
export type Claims<E extends AnyEntity> = {
  readonly [K in Exclude<keyof E['~item'] & string, keyof E['~key']>]?: Claim<NonNullable<E['~item'][K]>>;
};

/** What {@link uniqueClaims} takes. */
export interface UniqueClaimsOptions<E extends AnyEntity, C extends Claims<E>> {
  /** Whose the claims of a record are: a value that no other record gives, and that never changes. */
  readonly owner: (key: E['~key']) => string;
  /** How the values of attributes are claimed; each kind by an entity of its own. */
  readonly claims: C;
}

/** Records with unique values. See {@link uniqueClaims}. */
export interface UniqueClaims<E extends AnyEntity, C> {
  /**
   * Writes a new record and the claims of its values, all or nothing. An optional value that is left out has no claim.
   *
   * Cost: one request of 1 + n steps for n values, twice their write units, also where it is refused.
   */
  register(record: E['~input'], options?: ClaimsRunOptions): Promise<Registration<E['~item'], keyof C & string>>;
  /**
   * Changes one value: releases the old one if it is the owner's, takes the new one, and updates the record if it exists.
   * `undefined` is no value, for an optional one. A change that leaves the claim, such as one of case, updates the record
   * alone.
   *
   * Cost: one request of 3 steps, twice their write units, also where it is refused; nothing for an equal value.
   *
   * @param values the old value, as it was read, and the new one
   */
  change<K extends keyof C & keyof E['~item'] & string>(
    key: E['~key'],
    name: K,
    values: { readonly from: E['~item'][K]; readonly to: E['~item'][K] },
    options?: ClaimsRunOptions,
  ): Promise<ClaimChange>;
  /**
   * Removes a record and releases its values; one that another holds is left.
   *
   * Cost: a consistent read and one request of 1 + n steps, twice their write units; again where a value changed since.
   */
  remove(key: E['~key'], options?: ClaimsRunOptions): Promise<ClaimsRemoval>;
}

/**
 * Keeps values of records unique, such as a mail address and a handle (seeds/000, Uniqueness constraints). DynamoDB keeps
 * only primary keys unique, so each value gets a claim item keyed by it, written in one transaction with the record.
 *
 * - A run is repeated only while another transaction is in the way (`transactionConflict`): a failed condition is the
 *   answer. It is told from the claim's owner, so a call made again after a lost response does not find its own values
 *   taken, but answers `AlreadyRegistered` or `AlreadyChanged`.
 * - The claims hold only if every write of these attributes goes through here: neither a put of the record, nor a time to
 *   live on it, releases a claim.
 * - Values that a record holds from before its claims were introduced have to be claimed once, by a migration.
 * - A claim is one item, limited to one partition's writes; a transaction takes 100 steps, so a record 99 values.
 *
 * @throws InvalidInputError for two claims by one entity: which of them a claim is for could not be told
 * @example
 * const users = uniqueClaims(registrants, {
 *   owner: ({ id }) => id,
 *   claims: {
 *     email: claimOn(mails, {
 *       item: (address: string, owner: string) => ({ address, owner }),
 *       owner: 'owner',
 *       normalize: (address) => address.toLowerCase(),
 *     }),
 *   },
 * });
 * const registration = await users.register(user);
 * if (registration.outcome === 'Taken') console.log(registration.taken); // ['email']
 * await users.change({ id: 'alice' }, 'email', { from: 'alice@example.ch', to: 'alice@example.org' });
 * await users.remove({ id: 'alice' });
 */
export const uniqueClaims = <E extends AnyEntity, const C extends Claims<E>>(
  table: EntityTable<E> | VersionedEntityTable<E>,
  options: UniqueClaimsOptions<E, C>,
): UniqueClaims<E, C> => new ClaimedRecords(table as never, options as never) as never;
