/**
 * SNS as the target of a relay. It loads `@aws-sdk/client-sns`.
 *
 * @packageDocumentation
 */
export { snsTarget, type SnsTargetOptions } from './sns-target.js';
