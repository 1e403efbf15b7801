import { SQSClient } from '@aws-sdk/client-sqs';
import type { PoisonOptions } from '../../lib/events/index.js';
import { sqsFailureDestination } from '../../lib/events/targets/sqs/index.js';
import { clientTerms } from '../client-terms.js';

export const failureQueue = (queueUrl: string): PoisonOptions['failureDestination'] =>
  sqsFailureDestination({ client: new SQSClient(clientTerms), queueUrl });
