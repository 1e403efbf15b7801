const variable = 'SAFEWRITES_SWEEP_AFTER_SECONDS';

/** How old events are that the schedule publishes: in seconds by the environment, 60 where it says nothing. */
export const sweepAfterMs = (environment: NodeJS.ProcessEnv): number => {
  const seconds = Number(environment[variable] || 60);
  if (!(seconds > 0 && Number.isFinite(seconds)))
    throw new Error(`The environment variable ${variable} is no number of seconds.`);
  return Math.max(1, seconds * 1000);
};
