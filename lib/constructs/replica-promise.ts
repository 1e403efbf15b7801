/**
 * What the kit promises for a table in one Region, and can't for one with replicas: a replica gets each item later, on its
 * own, and the last writer wins.
 *
 * @example
 * ```ts
 * import { App, Stack } from 'aws-cdk-lib';
 * import { ReplicaPromise, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop', { env: { account: '111122223333', region: 'eu-west-1' } });
 * new SafeWritesTable(stack, 'Table', {
 *   replicas: [{ region: 'eu-central-1' }],
 *   promisesGivenUp: Object.values(ReplicaPromise),
 * });
 * ```
 */
export enum ReplicaPromise {
  /** A condition sees the copy of its own Region: a key used in two Regions at once takes effect twice. */
  CONDITIONS = 'conditions',

  /** A transaction arrives in other Regions piece by piece: a charge may be there without its record or event. */
  TRANSACTIONS = 'transactions',

  /** Of writes in two Regions the last by clock wins, whatever its version: counters, versions and locks lose updates. */
  VERSIONS = 'versions',

  /** A stream may merge a replicated item's writes, and each Region's stream tells of all: events are late, or sent twice. */
  EVENTS = 'events',
}
