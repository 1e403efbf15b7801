/** What {@link UniqueClaims.register} gives; `N` is the name of a claim. */
export type Registration<I, N extends string> =
  | { readonly outcome: 'Registered' }
  /** A repeat: the record is there with these values, and they are its own. Other attributes are not compared. */
  | { readonly outcome: 'AlreadyRegistered'; readonly record: I }
  /** The record's key is in use, with other values. */
  | { readonly outcome: 'RecordExists'; readonly record: I }
  /** Others hold these values. */
  | { readonly outcome: 'Taken'; readonly taken: readonly N[] };

/**
 * What {@link UniqueClaims.change} gives. `Unchanged`: both values are one, and nothing was sent. `AlreadyChanged`: a
 * repeat, the new value is the owner's already. `Taken`: another holds the new value. `NotOwner`: the old value is not the
 * owner's. `NoRecord`: there is no record of the key.
 */
export type ClaimChange = 'Changed' | 'Unchanged' | 'AlreadyChanged' | 'Taken' | 'NotOwner' | 'NoRecord';

/** What {@link UniqueClaims.remove} gives; a repeat finds no record. */
export type ClaimsRemoval = 'Removed' | 'NoRecord';

/** What the methods of {@link UniqueClaims} take. */
export interface ClaimsRunOptions {
  /** Runs while a transaction is in the way, the first included. @default 5 */
  readonly maxAttempts?: number;
  readonly signal?: AbortSignal | undefined;
}
