import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { eventBridgeTarget } from '../../../lib/events/targets/eventbridge/index.js';
import type { Publisher } from '../../../lib/recipes/index.js';
import { clientTerms } from '../../client-terms.js';

export const targetOf = (eventBusName: string): Publisher =>
  eventBridgeTarget({ client: new EventBridgeClient(clientTerms), eventBusName });
