/** What a response says of a batch: which records failed by their identifiers, or that all did. */
export type ReportedFailures = 'all' | readonly unknown[];

/**
 * Reads a partial batch response. An empty response or list means that all is done; an identifier that is empty, null or
 * missing, that nothing is
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html and services-ddb-batchfailurereporting.html).
 * What is no response at all, such as a text, is not documented: it fails the batch here, so that it is noticed.
 */
export function reportedFailures(response: unknown): ReportedFailures {
  if (response === null || response === undefined) return [];
  if (typeof response !== 'object' || Array.isArray(response)) return 'all';
  const list = (response as { batchItemFailures?: unknown }).batchItemFailures;
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return 'all';
  const identifiers: unknown[] = [];
  for (const entry of list as unknown[]) {
    const identifier = (entry as { itemIdentifier?: unknown } | null)?.itemIdentifier;
    if (identifier === undefined || identifier === null || identifier === '') return 'all';
    identifiers.push(identifier);
  }
  return identifiers;
}
