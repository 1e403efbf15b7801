/**
 * The safe-write patterns, as functions on the command library.
 *
 * @packageDocumentation
 */
export { claimOn, type Claim, type ClaimOptions } from './claims/claim.js';
export type { ClaimChange, ClaimsRemoval, ClaimsRunOptions, Registration } from './claims/outcomes.js';
export { uniqueClaims, type Claims, type UniqueClaims, type UniqueClaimsOptions } from './claims/unique-claims.js';
export { counterShardEntity } from './counters/counter-shard.js';
export { increment } from './counters/increment.js';
export { ShardedCounter, type ShardOptions, type ShardedCounterOptions } from './counters/sharded-counter.js';
export { tallyEntity } from './counters/tally.js';
export type { Window } from './counters/window.js';
export { WindowFullError } from './counters/window-full-error.js';
export {
  WindowedCounter,
  type CountOutcome,
  type CountReadOptions,
  type CountedEvent,
  type WindowExpiry,
  type WindowedCounterOptions,
} from './counters/windowed-counter.js';
export { SequenceContentionError, SequenceMovedBackError } from './gapless/errors.js';
export {
  GaplessSequence,
  type AssignOptions,
  type Assigned,
  type GaplessSequenceOptions,
  type NumberMember,
  type RecordTable,
} from './gapless/gapless-sequence.js';
export { sequenceEntity } from './gapless/sequence-entity.js';
export { hiLo, hiLoBigint, type HiLo, type HiLoOptions } from './hi-lo/hi-lo.js';
export { hiLoEntity } from './hi-lo/hi-lo-entity.js';
export { NumbersExhaustedError } from './hi-lo/numbers-exhausted-error.js';
export type { Answer } from './idempotency/answer.js';
export { commit, refuse, type Commit, type Effect, type Refuse } from './idempotency/effect.js';
export { fingerprintOf, type Fingerprint } from './idempotency/fingerprint.js';
export { idempotentLease, type LeaseOutcome, type LeasedCall } from './idempotency/idempotent-lease.js';
export {
  idempotentTransaction,
  type Attempt,
  type IdempotentCall,
  type IdempotentOutcome,
} from './idempotency/idempotent-transaction.js';
export { EffectUndecidedError, LeaseLostError } from './idempotency/lease-errors.js';
export type { EffectCall, EffectTerms, Lease } from './idempotency/lease.js';
export type { Unknown } from './idempotency/lease-record.js';
export { IdempotencyRecord, idempotencyKey, type CallIdentity } from './idempotency/record.js';
export {
  findUnknown,
  resolveUnknown,
  type Decision,
  type ResolveOutcome,
  type UnknownOptions,
} from './idempotency/resolve-unknown.js';
export { LockLostError, LockNotAcquiredError } from './lock/errors.js';
export { isHeld } from './lock/is-held.js';
export { Lock } from './lock/lock.js';
export { lockEntity, type LockEntity } from './lock/lock-entity.js';
export { Locks, type AcquireOptions, type Held, type LocksOptions } from './lock/locks.js';
export { ItemMissingError } from './locking/item-missing-error.js';
export {
  readModifyUpdate,
  readModifyWrite,
  type ModifyOptions,
  type ModifyWriteOptions,
} from './locking/read-modify-write.js';
export { retryOnConflictWithin } from './locking/retry-within.js';
export { coalesce, type Candidate, type Contest } from './ordered-state/coalesce.js';
export type { Deletion } from './ordered-state/deletion.js';
export { EventTooLateError } from './ordered-state/event-too-late-error.js';
export type { EventVersion } from './ordered-state/names.js';
export {
  orderedGroups,
  type DeleteEvent,
  type FieldGroup,
  type FieldGroups,
  type GroupsDeletion,
  type GroupsEvent,
  type GroupValues,
  type OrderedGroupsOptions,
} from './ordered-state/ordered-groups.js';
export { orderedItems, type ItemEvent, type OrderedItemsOptions } from './ordered-state/ordered-items.js';
export type {
  ApplyOptions,
  EventOutcome,
  EventResult,
  GroupOutcome,
  Lane,
  OrderedState,
} from './ordered-state/outcome.js';
export { drainAggregate, drainAggregates } from './outbox/drain-aggregate.js';
export { drainAll, type DrainAllOptions, type DrainedAll } from './outbox/drain-all.js';
export type { AggregateDrain, DrainCounts } from './outbox/drain-lane.js';
export type { DrainOptions, ParkAfter } from './outbox/drain-options.js';
export type { OutboxEvent } from './outbox/event.js';
export { OutboxItem } from './outbox/outbox-item.js';
export {
  isTraceparent,
  outbox,
  type Outbox,
  type OutboxOptions,
  type OutboxPlace,
  type Publication,
} from './outbox/outbox.js';
export { parkedEvents, retryParked, skipParked, type ParkedOutcome } from './outbox/parked.js';
export { ParkedEvent } from './outbox/parked-event.js';
export { pollOutbox, type PollOptions } from './outbox/poll-outbox.js';
export { publishEach } from './outbox/publish-each.js';
export type { PublishAnswer, Publisher, RelayedEvent } from './outbox/publisher.js';
export { isDrainedOf } from './outbox/resharding.js';
export { shardOf } from './outbox/shard.js';
export type { OutboxTarget } from './outbox/target.js';
export { wakeUpOf, type WakeUp } from './outbox/wake-up.js';
export { isLive, live, liveItem } from './time-to-live/live.js';
