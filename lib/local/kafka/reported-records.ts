import { reportedFailures } from '../sources/mapping/batch-response.js';
import { partitionName, type LocalKafkaRecord } from './kafka-event.js';

/**
 * What must come again by a response: of each partition all from the lowest offset on that is reported. A response that
 * names something else fails the batch
 * (https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html; whether the records behind a failed one
 * come again too is not said there: they do here, as those of a stream).
 */
export const reportedRecords = (
  response: unknown,
  records: readonly LocalKafkaRecord[],
): readonly LocalKafkaRecord[] => {
  const reported = reportedFailures(response);
  if (reported === 'all') return records;
  const known = new Set(records.map((record) => `${partitionName(record)}@${record.offset}`));
  const lowest = new Map<string, number>();
  for (const identifier of reported) {
    const { partition, offset } = identifier as { readonly partition?: unknown; readonly offset?: unknown };
    if (typeof partition !== 'string' || typeof offset !== 'number') return records;
    if (!known.has(`${partition}@${offset}`)) return records;
    lowest.set(partition, Math.min(offset, lowest.get(partition) ?? Infinity));
  }
  return records.filter((record) => record.offset >= (lowest.get(partitionName(record)) ?? Infinity));
};
