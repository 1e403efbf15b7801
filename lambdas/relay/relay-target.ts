import type { Publisher } from '../../lib/recipes/index.js';

// Each a module of ours: of a client's package that is imported on demand itself, nothing can be left out.
const targets = {
  SAFEWRITES_EVENT_BUS_NAME: () => import('./targets/event-bridge.js'),
  SAFEWRITES_TOPIC_ARN: () => import('./targets/sns.js'),
  SAFEWRITES_QUEUE_URL: () => import('./targets/sqs.js'),
};
/** The variables of which exactly one names the target. */
const variables = Object.keys(targets) as (keyof typeof targets)[];

/** The target that the environment names; its client only is loaded. */
export const relayTarget = async (environment: NodeJS.ProcessEnv): Promise<Publisher> => {
  const given = variables.flatMap((variable) =>
    environment[variable] ? [{ variable, name: environment[variable] }] : [],
  );
  const [target] = given;
  if (target === undefined || given.length > 1)
    throw new Error(`Set exactly one of the environment variables ${variables.join(', ')}.`);
  const { targetOf } = await targets[target.variable]();
  return targetOf(target.name);
};
