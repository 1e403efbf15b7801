import type { Incomplete } from '../batch/unprocessed-error.js';
import type { ReadStep } from '../read/read-step.js';

/** The reads of a batch, by names of the caller's: a get, or an array of them. */
export interface BatchReads {
  readonly [name: string]: ReadStep<unknown> | readonly ReadStep<unknown>[];
}

type Aligned<T extends readonly unknown[]> = {
  [J in keyof T]: (T[J] extends ReadStep<infer I> ? I : never) | undefined;
};

/** What each get found: the item or undefined, for an array in its order. */
export type BatchItems<S extends BatchReads> = {
  readonly [K in keyof S]: S[K] extends readonly unknown[]
    ? Aligned<S[K]>
    : S[K] extends ReadStep<infer I>
      ? I | undefined
      : never;
};

/** A batch that was read whole. */
export interface BatchGot<S extends BatchReads> {
  readonly complete: true;
  readonly items: BatchItems<S>;
  /** Requests that it took, repeats of what was left unprocessed included. */
  readonly requests: number;
}

/** A batch of which DynamoDB left some keys: their items are undefined too. */
export interface BatchGotPart<S extends BatchReads> extends Incomplete {
  readonly items: BatchItems<S>;
  /** The gets that got no answer. */
  readonly unprocessed: readonly UnprocessedRead<keyof S>[];
}

/** A get that got no answer. */
export interface UnprocessedRead<N> {
  readonly name: N;
  /** Its position, where the name has an array. */
  readonly index: number | undefined;
}
