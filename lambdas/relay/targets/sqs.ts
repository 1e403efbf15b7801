import { SQSClient } from '@aws-sdk/client-sqs';
import { sqsTarget } from '../../../lib/events/targets/sqs/index.js';
import type { Publisher } from '../../../lib/recipes/index.js';
import { clientTerms } from '../../client-terms.js';

export const targetOf = (queueUrl: string): Publisher => sqsTarget({ client: new SQSClient(clientTerms), queueUrl });
