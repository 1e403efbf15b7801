/**
 * Handlers of event sources: batches by lane with failures reported in part, an ingest that keeps the newest state, and the
 * relay of the outbox.
 *
 * @packageDocumentation
 */
export type { Decoder, Decoders } from './decoders/decoder.js';
export { eventBridgeMessages, type EventBridgeEnvelope } from './decoders/event-bridge-messages.js';
export { bytes, json, text, type Data } from './decoders/formats.js';
export { kafkaMessages, type KafkaFormats, type KafkaMessage } from './decoders/kafka-messages.js';
export { snsMessages, type SnsEnvelope, type SnsMessage } from './decoders/sns-messages.js';
export { sqsMessages, type SqsMessage } from './decoders/sqs-messages.js';
export { streamChanges, type AnyStreamChange, type StreamChange } from './decoders/stream-changes.js';
export { BatchFailedError } from './handler/batch-failed-error.js';
export { batchHandler, type BatchHandlerOptions, type HandleContext } from './handler/batch-handler.js';
export type { BatchLine } from './handler/batch-line.js';
export type { ErrorLine } from './handler/error-line.js';
export type { BatchHandler, BatchOptions } from './handler/options.js';
export type { IngestCounts, IngestLine } from './ingest/ingest-line.js';
export type { Ingested, IngestEvent, OrderedIngestOptions, ReplaceEvent, TombstoneEvent } from './ingest/options.js';
export { orderedIngest } from './ingest/ordered-ingest.js';
export type { PoisonOptions, PoisonRecord } from './poison/failure-destination.js';
export { PoisonRecordError, type PoisonReason } from './poison/poison-record-error.js';
export { changeRelay } from './relay/change-relay.js';
export type { ChangeEvent, ChangeRelayOptions } from './relay/change-options.js';
export { outboxRelay } from './relay/outbox-relay.js';
export type { RelayCounts, RelayLine } from './relay/relay-line.js';
export type { OutboxRelayOptions, RelayHandler, RelayMetrics, ScheduledEvent } from './relay/relay-options.js';
export { SweepFailedError } from './relay/sweep-failed-error.js';
export type { BatchContext } from './run/deadline.js';
export type { AnyEventRecord, BatchEvent, EventSource, RecordOf } from './sources/delivery.js';
export type { BatchItemFailure, BatchResponse } from './sources/item-failures.js';
export type { KafkaEvent, KafkaEventRecord } from './sources/kafka-event.js';
export type { SqsEvent, SqsEventRecord } from './sources/sqs-event.js';
export type { StreamEvent, StreamEventRecord, StreamImage, StreamValue } from './sources/stream-event.js';
export type { CloudEvent } from './targets/cloud-event.js';
