import { createHash } from 'node:crypto';
import { SafeWritesError } from '../../commands/index.js';
import { isTraceparent, type RelayedEvent } from '../../recipes/index.js';
import { storedEvent } from '../../recipes/outbox/event.js';
import { poison, PoisonRecordError } from '../poison/poison-record-error.js';
import type { StreamEventRecord, StreamValue } from '../sources/stream-event.js';
import type { ChangeEvent } from './change-options.js';

const textOf = ({ S, N, B }: StreamValue): string => S ?? N ?? B ?? '';

/** The item by the values of its key, partition key first, as the record has it. */
const itemText = ({ dynamodb }: StreamEventRecord, names: readonly string[]): string =>
  names.flatMap((name) => (dynamodb?.Keys?.[name] ? [textOf(dynamodb.Keys[name])] : [])).join('#');

/** An id that is the same whenever the record comes: the stream's own, or where an emulator gives none, made of its place. */
const recordId = ({ eventID, dynamodb }: StreamEventRecord, item: string): string =>
  eventID ??
  createHash('sha256')
    .update(JSON.stringify([item, dynamodb?.SequenceNumber]))
    .digest('hex');

/**
 * What a change is mapped to, as events on their way to a target.
 *
 * @throws PoisonRecordError for what is no event, or none that the target takes; it quotes nothing
 */
export const changeEvents = (
  record: StreamEventRecord,
  map: () => ChangeEvent | readonly ChangeEvent[] | undefined,
  { names, source, maximumBytes }: { readonly names: readonly string[]; readonly source: string; maximumBytes: number },
): RelayedEvent[] => {
  const item = itemText(record, names);
  const id = recordId(record, item);
  const changedAt = new Date((record.dynamodb?.ApproximateCreationDateTime ?? 0) * 1000);
  const sequence = record.dynamodb?.SequenceNumber ?? '0';
  try {
    const mapped = map() ?? [];
    return [mapped].flat().map((event, position) => {
      const { aggregate = item, time = changedAt, traceparent, type, detail, source: own } = event;
      if (traceparent !== undefined && !isTraceparent(traceparent))
        return poison('content', 'its trace context has not the W3C form');
      if (typeof aggregate !== 'string') return poison('content', 'its aggregate is no text');
      if (Number.isNaN(time.getTime())) return poison('content', 'its time is none');
      const complete = {
        ...{ type, detail, ...(own !== undefined && { source: own }) },
        id: event.id ?? (position === 0 ? id : `${id}-${position}`),
        time,
      };
      const stored = storedEvent(complete, source, aggregate, maximumBytes);
      return { ...stored, aggregate, sequence, position, traceparent };
    });
  } catch (error) {
    if (error instanceof PoisonRecordError) throw error;
    // The kit's own errors quote nothing; what a user's function throws may.
    return poison('content', error instanceof SafeWritesError ? error.message : 'its map threw');
  }
};
