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
  const { SQSClient } = await import('@aws-sdk/client-sqs');
  const { sqsFailureDestination } = await import('../../lib/events/targets/sqs/index.js');
  const requestHandler = { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true };
  const client = new SQSClient({ maxAttempts: 2, requestHandler });
  return { ...lateness, failureDestination: sqsFailureDestination({ client, queueUrl }) };
};
