import type { Table } from '../../lib/commands/index.js';
import {
  json,
  kafkaMessages,
  orderedIngest,
  sqsMessages,
  type BatchHandler,
  type BatchOptions,
  type IngestLine,
} from '../../lib/events/index.js';
import { liveEvent, occurredAt } from './live-event.js';
import { LiveMatch } from './live-match.js';

/** What {@link ingestHandler} takes beside the table. */
export interface IngestHandlerOptions extends BatchOptions {
  /** How late an event may be, in days: more than the longest retention and redrive of its sources. @default 30 */
  readonly latenessDays?: number | undefined;
  readonly log?: ((line: IngestLine) => void) | undefined;
}

/**
 * Keeps the latest state of matches from events of SQS, standard or FIFO, and Kafka: 1 request and 1 write unit for each
 * match and group, score or status, of a batch. A removed match keeps its item until its time to live, so that a late
 * event does not bring it back; a newer one does.
 */
export const ingestHandler = (
  table: Table,
  { latenessDays = 30, log, ...options }: IngestHandlerOptions = {},
): BatchHandler =>
  orderedIngest({
    ...options,
    log,
    table,
    entity: LiveMatch,
    groups: {
      score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] },
      status: { version: 'statusAt', fields: ['status'] },
    },
    deletion: { flag: 'deleted', version: 'deletedAt', revives: true, lateness: latenessDays * 86_400_000 },
    decode: { sqs: sqsMessages(json()), kafka: kafkaMessages({ value: json() }) },
    versionOf: occurredAt,
    eventOf: liveEvent,
  });
