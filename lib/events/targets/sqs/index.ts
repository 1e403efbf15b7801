/**
 * SQS as the target of a relay, and as the failure destination of batches. It loads `@aws-sdk/client-sqs`.
 *
 * @packageDocumentation
 */
export { sqsTarget, type SqsTargetOptions } from './sqs-target.js';
export { readFailureMessage, type FailureMessage, type FailureOrigin } from './failure-message.js';
export { sqsFailureDestination, type SqsFailureDestinationOptions } from './sqs-failure-destination.js';
