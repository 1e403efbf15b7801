/**
 * CDK constructs of the kit.
 *
 * @packageDocumentation
 */
export type { AlarmOptions, AlarmThreshold } from './alarms.js';
export { EndpointAuthorization, type JwtAuthorizationOptions } from './endpoint-authorization.js';
export type { FunctionAlarmThresholds } from './function-alarms.js';
export {
  IdempotentEndpoint,
  type EndpointAlarmThresholds,
  type EndpointMetric,
  type IdempotentEndpointProps,
} from './idempotent-endpoint.js';
export { InvalidPropError } from './invalid-prop-error.js';
export {
  type KafkaSource,
  type KafkaSourceProps,
  type MskSourceProps,
  type SelfManagedKafkaSourceProps,
} from './kafka-source.js';
export type { EntityShape } from './key-shapes.js';
export type { KitFunctionOptions, OwnHandlerOptions } from './kit-function.js';
export {
  OrderedIngest,
  type IngestAlarmThresholds,
  type IngestMetric,
  type OrderedIngestProps,
} from './ordered-ingest.js';
export { OutboxRelay, type OutboxRelayProps, type RelayAlarmThresholds, type RelayMetric } from './outbox-relay.js';
export { ReplicaPromise } from './replica-promise.js';
export { SafeWritesDashboard, type SafeWritesDashboardProps } from './safe-writes-dashboard.js';
export { SafeWritesStack, type SafeWritesStackProps } from './safe-writes-stack.js';
export { SafeWritesTable, type SafeWritesTableProps } from './safe-writes-table.js';
export type { SqsSource, SqsSourceProps } from './sqs-source.js';
export type { TableAction, TransactWriteAction } from './table-action.js';
