/**
 * EventBridge as the target of a relay. It loads `@aws-sdk/client-eventbridge`.
 *
 * @packageDocumentation
 */
export { eventBridgeTarget, type EventBridgeTargetOptions } from './event-bridge-target.js';
