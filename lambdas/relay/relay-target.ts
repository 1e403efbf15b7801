import type { Publisher } from '../../lib/recipes/index.js';

/** The variables of which exactly one names the target. */
const variables = ['SAFEWRITES_EVENT_BUS_NAME', 'SAFEWRITES_TOPIC_ARN', 'SAFEWRITES_QUEUE_URL'] as const;

// As those of the table: the SDK's own default is to wait as long as the socket does, which outlives the function.
const terms = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
};

/** The target that the environment names; its client only is loaded. */
export const relayTarget = async (environment: NodeJS.ProcessEnv): Promise<Publisher> => {
  const given = variables.flatMap((variable) =>
    environment[variable] ? [{ variable, name: environment[variable] }] : [],
  );
  const [target] = given;
  if (target === undefined || given.length > 1)
    throw new Error(`Set exactly one of the environment variables ${variables.join(', ')}.`);
  const { variable, name } = target;
  switch (variable) {
    case 'SAFEWRITES_EVENT_BUS_NAME': {
      const { EventBridgeClient } = await import('@aws-sdk/client-eventbridge');
      const { eventBridgeTarget } = await import('../../lib/events/targets/eventbridge/index.js');
      return eventBridgeTarget({ client: new EventBridgeClient(terms), eventBusName: name });
    }
    case 'SAFEWRITES_TOPIC_ARN': {
      const { SNSClient } = await import('@aws-sdk/client-sns');
      const { snsTarget } = await import('../../lib/events/targets/sns/index.js');
      return snsTarget({ client: new SNSClient(terms), topicArn: name });
    }
    case 'SAFEWRITES_QUEUE_URL': {
      const { SQSClient } = await import('@aws-sdk/client-sqs');
      const { sqsTarget } = await import('../../lib/events/targets/sqs/index.js');
      return sqsTarget({ client: new SQSClient(terms), queueUrl: name });
    }
  }
};
