/**
 * CDK constructs of the kit.
 *
 * @packageDocumentation
 */
export { IdempotentEndpoint } from './idempotent-endpoint.js';
export type { IdempotentEndpointProps } from './idempotent-endpoint.js';
export type { KitFunctionOptions } from './kit-function.js';
export { SafeWritesStack } from './safe-writes-stack.js';
export type { SafeWritesStackProps } from './safe-writes-stack.js';
export { SafeWritesTable } from './safe-writes-table.js';
export type { SafeWritesTableProps } from './safe-writes-table.js';
export type { TableAction, TransactWriteAction } from './table-action.js';
