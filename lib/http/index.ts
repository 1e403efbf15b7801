/**
 * Endpoints whose calls may be repeated: each is done once, and answered alike.
 *
 * @packageDocumentation
 */
export { commit, refuse, type Effect } from '../recipes/index.js';
export type { HttpAnswer } from './answer.js';
export { bodySchema, type BodyRule, type BodyRules } from './body-schema.js';
export type { CallLine, CallOutcome } from './call-log.js';
export { dynamoDBClient } from './dynamodb-client.js';
export type { HttpContext, HttpEvent, HttpResult } from './event.js';
export { idempotencyKeyOf } from './idempotency-key.js';
export type { HttpCall, IdempotentOptions } from './idempotent-options.js';
export { idempotent, type IdempotentHandler } from './idempotent.js';
export { principalOf } from './principal.js';
export { ProblemError, problem, type Problem } from './problem.js';
export type { DescribeIssue, Schema, SchemaIssue, SchemaResult } from './schema.js';
