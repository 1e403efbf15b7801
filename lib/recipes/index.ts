/**
 * The safe-write patterns, as functions on the command library.
 *
 * @packageDocumentation
 */
export type { Answer } from './idempotency/answer.js';
export { commit, refuse, type Commit, type Effect, type Refuse } from './idempotency/effect.js';
export { fingerprintOf, type Fingerprint } from './idempotency/fingerprint.js';
export {
  idempotentTransaction,
  type Attempt,
  type IdempotentCall,
  type IdempotentOutcome,
} from './idempotency/idempotent-transaction.js';
export { IdempotencyRecord, idempotencyKey, type CallIdentity } from './idempotency/record.js';
export type { OutboxEvent } from './outbox/event.js';
export { OutboxItem } from './outbox/outbox-item.js';
export { isTraceparent, outbox, type Outbox, type OutboxOptions, type Publication } from './outbox/outbox.js';
export { shardOf } from './outbox/shard.js';
export type { OutboxTarget } from './outbox/target.js';
