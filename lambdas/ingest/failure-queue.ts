import { SQSClient } from '@aws-sdk/client-sqs';
import type { PoisonOptions } from '../../lib/events/index.js';
import { sqsFailureDestination } from '../../lib/events/targets/sqs/index.js';

const requestHandler = { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true };

export const failureQueue = (queueUrl: string): PoisonOptions['failureDestination'] =>
  sqsFailureDestination({ client: new SQSClient({ maxAttempts: 2, requestHandler }), queueUrl });
