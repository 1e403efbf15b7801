import type { IngestHandlerOptions } from './ingest-handler.js';

const days = 'SAFEWRITES_LATENESS_DAYS';

const latenessDays = (environment: NodeJS.ProcessEnv): number | undefined => {
  const value = environment[days] || undefined;
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!(number > 0 && Number.isFinite(number)))
    throw new Error(`The environment variable ${days} is no number of days.`);
  return number;
};

/** What the environment says: how late events may be, and where poison goes. SQS is loaded only where it is needed. */
export const ingestOptions = async (environment: NodeJS.ProcessEnv): Promise<IngestHandlerOptions> => {
  const lateness = { latenessDays: latenessDays(environment) };
  const queueUrl = environment['SAFEWRITES_FAILURE_QUEUE_URL'] || undefined;
  if (queueUrl === undefined) return lateness;
  // A module of ours: of a client's package that is imported on demand itself, nothing can be left out.
  const { failureQueue } = await import('./failure-queue.js');
  return { ...lateness, failureDestination: failureQueue(queueUrl) };
};
