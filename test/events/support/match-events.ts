import type { Faults } from '../../../lib/local/index.js';
import type { Kafka, Sqs } from './events.js';
import { at, type Body } from './matches.js';

/** A message about a match; null removes it, at the time that its id says. */
export const sqs = (id: string, key: string, body: Body | null, group?: string): Sqs => ({
  id,
  body: JSON.stringify(body),
  headers: { key, ...(body === null && { at: at(Number(id.replace(/\D/g, ''))) }) },
  ...(group !== undefined && { group }),
});
/** A record about a match; null is a tombstone. */
export const kafka = (offset: number, key: string, body: Body | null, time?: string): Kafka => ({
  ...{ offset, key, value: body },
  headers: { key, ...(time !== undefined && { at: time }) },
});
/** What an answer says must come again. */
export const failed = ({ batchItemFailures }: { batchItemFailures: readonly { itemIdentifier: unknown }[] }) =>
  batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

/** Refuses writes of a match. */
export const failing =
  (id: string, error: 'TransactionConflict' | { type: string; message: string } = 'TransactionConflict'): Faults =>
  ({ operation, input }) =>
    operation === 'UpdateItem' && JSON.stringify(input['Key']).includes(`MATCH#${id}"`)
      ? { at: 'before', error }
      : undefined;
