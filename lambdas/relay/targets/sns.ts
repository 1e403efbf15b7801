import { SNSClient } from '@aws-sdk/client-sns';
import { snsTarget } from '../../../lib/events/targets/sns/index.js';
import type { Publisher } from '../../../lib/recipes/index.js';
import { clientTerms } from '../../client-terms.js';

export const targetOf = (topicArn: string): Publisher => snsTarget({ client: new SNSClient(clientTerms), topicArn });
