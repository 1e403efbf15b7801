import type { Invocation } from './invoke.js';

/** What an event source tells of each call. */
export interface CallReport {
  /** The records that the function was called with. */
  readonly records: number;
  /** The records of them that come again, or are given up. */
  readonly failed: number;
  readonly invocation: Invocation;
}
