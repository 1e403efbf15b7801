/**
 * CDK constructs of the kit.
 *
 * @packageDocumentation
 */
export { EndpointAuthorization, type JwtAuthorizationOptions } from './endpoint-authorization.js';
export { IdempotentEndpoint, type IdempotentEndpointProps } from './idempotent-endpoint.js';
export { InvalidPropError } from './invalid-prop-error.js';
export {
  type KafkaSource,
  type KafkaSourceProps,
  type MskSourceProps,
  type SelfManagedKafkaSourceProps,
} from './kafka-source.js';
export type { EntityShape } from './key-shapes.js';
export type { KitFunctionOptions, OwnHandlerOptions } from './kit-function.js';
export { OrderedIngest, type OrderedIngestProps } from './ordered-ingest.js';
export { OutboxRelay, type OutboxRelayProps } from './outbox-relay.js';
export { ReplicaPromise } from './replica-promise.js';
export { SafeWritesStack, type SafeWritesStackProps } from './safe-writes-stack.js';
export { SafeWritesTable, type SafeWritesTableProps } from './safe-writes-table.js';
export type { SqsSource, SqsSourceProps } from './sqs-source.js';
export type { TableAction, TransactWriteAction } from './table-action.js';
