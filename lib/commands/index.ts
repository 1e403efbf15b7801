/**
 * The command library: entities with inferred types, and DynamoDB's operations as chains on them.
 *
 * @packageDocumentation
 */
export type { AttributeMap, AttributeValue } from './attributes/attribute-value.js';
export type {
  AnyAttribute,
  Attribute,
  Attributes,
  Converter,
  DefaultAttribute,
  OptionalAttribute,
} from './attributes/attribute.js';
export { bigint } from './attributes/bigint.js';
export { binary } from './attributes/binary.js';
export { boolean } from './attributes/boolean.js';
export { calendarDate } from './attributes/calendar-date.js';
export { decimal, type DecimalClass } from './attributes/decimal.js';
export { instant } from './attributes/instant.js';
export { integer } from './attributes/integer.js';
export { list } from './attributes/list.js';
export { map } from './attributes/map.js';
export { number } from './attributes/number.js';
export { oneOf } from './attributes/one-of.js';
export { record } from './attributes/record.js';
export { binarySet, numberSet, stringSet } from './attributes/sets.js';
export { string } from './attributes/string.js';
export { timeToLive } from './attributes/time-to-live.js';
export { timestamp, toTimestamp, type Timestamp } from './attributes/timestamp.js';
export { uuid } from './attributes/uuid.js';
export { version } from './attributes/version.js';
export { itemSize } from './attributes/item-size.js';
export { batchGet, type BatchGet } from './batch-get/batch-get.js';
export type { BatchGot, BatchGotPart, BatchItems, BatchReads, UnprocessedRead } from './batch-get/results.js';
export { batchWrite, type BatchWrite, type BatchWritten, type BatchWrittenPart } from './batch-write/batch-write.js';
export { UnprocessedError, type Incomplete } from './batch/unprocessed-error.js';
export { collection, type Collection, type CollectionQuery, type Row } from './collection/collection.js';
export { createTable, type CreateTable, type CreateTableResult } from './create-table/create-table.js';
export type { IndexProjection } from './create-table/table-input.js';
export type { Delete, UnversionedDelete } from './delete/delete.js';
export {
  entity,
  type AnyEntity,
  type Entity,
  type EntityDefinition,
  type IndexDefinition,
  type Input,
  type Item,
  type UpdateText,
} from './entity/entity.js';
export {
  CommandUsedError,
  InvalidInputError,
  InvalidStoredItemError,
  LimitExceededError,
  SafeWritesError,
} from './errors/errors.js';
export { ValidationException } from './errors/validation-exception.js';
export {
  ConditionalCheckFailedException,
  OutcomeUnknownError,
  TransactionCanceledException,
  type CancellationCode,
  type StepFailure,
} from './errors/exceptions.js';
export type { Condition } from './expressions/condition.js';
export type {
  AttributeHandle,
  Comparisons,
  ListHandle,
  MapHandle,
  NumberHandle,
  RecordHandle,
  SetHandle,
  TextHandle,
  TypedValue,
  ValueHandle,
  Writable,
} from './expressions/handle.js';
export type { Get, GetSelect } from './get/get.js';
export type { Put, VersionedPut } from './put/put.js';
export type { Query, SelectQuery } from './query/query.js';
export type { Page } from './read/page.js';
export type { Found, NotFound, Selected } from './read/read-results.js';
export { retryOnConflict, type ConflictKind, type RetryOptions, type Run } from './retry/retry-on-conflict.js';
export { scan, type ParallelScan, type Scan, type SelectScan } from './scan/scan.js';
export type { SendOptions } from './send/send-options.js';
export {
  table,
  type EntityTable,
  type IndexTable,
  type Table,
  type TableIndex,
  type TableOptions,
  type VersionedEntityTable,
} from './table/table.js';
export { tracingChannelName, type CommandTrace } from './tracing/channel.js';
export {
  traceWithOpenTelemetry,
  type ContextLike,
  type SpanLike,
  type SpanStart,
  type TracerLike,
  type TracingOptions,
} from './tracing/open-telemetry.js';
export { transactGet, type TransactGet, type TransactGot, type TransactReads } from './transact-get/transact-get.js';
export { conditionCheck, type ConditionCheck } from './transact-write/condition-check.js';
export { joinSteps } from './transact-write/join-steps.js';
export {
  transactWrite,
  type BuiltTransaction,
  type Committed,
  type HasCapacities,
  type NotCommitted,
  type Steps,
  type TransactWrite,
} from './transact-write/transact-write.js';
export type { ReturningUpdate, UnversionedUpdate, Update, UpdateClauses } from './update/update.js';
export type { Batchable, Step } from './write/step.js';
export type { HasCapacity, HasItem, HasMetrics, HasVersion, NotMet, Written } from './write/write-results.js';
