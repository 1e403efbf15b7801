import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  boolean,
  entity,
  integer,
  string,
  table,
  timeToLive,
  timestamp,
  toTimestamp,
  type Table,
} from '../../../lib/commands/index.js';
import {
  json,
  kafkaMessages,
  orderedIngest,
  sqsMessages,
  type BatchEvent,
  type BatchOptions,
  type BatchResponse,
  type IngestLine,
  type Ingested,
  type PoisonRecord,
} from '../../../lib/events/index.js';
import { testTable, type TestTable } from '../../http/test-table.js';

/** State of two groups, with a deletion. */
export const Match = entity('MATCH', {
  pk: 'MATCH#{id}',
  sk: 'LIVE',
  attributes: {
    id: string(),
    goals: integer().default(0),
    scoreAt: timestamp().optional(),
    status: string().optional(),
    statusAt: timestamp().optional(),
    gone: boolean().optional(),
    goneAt: timestamp().optional(),
    expiresAt: timeToLive().optional(),
  },
});

export interface Body {
  readonly goals?: number;
  readonly status?: string;
  readonly at?: number | string;
  readonly ignored?: true;
}

/** Second n of a day. */
export const at = (n: number) => toTimestamp(new Date(Date.UTC(2026, 11, 1) + n * 1000));

/** An ingest of matches: the id is the header `key`, and what has neither goals nor status removes the match. */
export const matchIngest = (
  shop: Table,
  options: BatchOptions & { onOutcome?: (done: Ingested<unknown>) => void } = {},
) => {
  const lines: IngestLine[] = [];
  const aside: PoisonRecord[] = [];
  const handler = orderedIngest({
    partialResponses: true,
    failureDestination: (poison) => void aside.push(poison),
    ...options,
    log: (line) => lines.push(line),
    table: shop,
    entity: Match,
    groups: {
      score: { version: 'scoreAt', fields: ['goals'] },
      status: { version: 'statusAt', fields: ['status'] },
    },
    deletion: { flag: 'gone', version: 'goneAt', revives: true },
    decode: { sqs: sqsMessages(json<Body | null>()), kafka: kafkaMessages({ value: json<Body | null>() }) },
    versionOf: ({ header, body }) => {
      const time = header('at') ?? body?.at;
      return typeof time === 'number' ? at(time) : toTimestamp(time ?? '');
    },
    eventOf: ({ header, body }) => {
      const key = { id: header('key') ?? '' };
      if (body === undefined || body === null) return { key, deleted: true };
      if (body.ignored) return undefined;
      return {
        key,
        groups: {
          ...(body.goals !== undefined && { score: { goals: body.goals } }),
          ...(body.status !== undefined && { status: { status: body.status } }),
        },
      };
    },
  });
  return { handler, lines, aside };
};

/** An ingest on a table of its own, with what became of it. */
export interface MatchShop extends TestTable {
  readonly lines: IngestLine[];
  readonly aside: PoisonRecord[];
  readonly ingest: (event: BatchEvent) => Promise<BatchResponse>;
  /** What is stored of a match. */
  readonly stored: (id: string) => Promise<Record<string, unknown> | undefined>;
  /** The writes since the last call. */
  readonly writes: () => number;
}

export const matchShop = async (
  options: Parameters<typeof matchIngest>[1] = {},
  local: Parameters<typeof testTable>[0] = {},
): Promise<MatchShop> => {
  const test = await testTable(local);
  // Without the SDK's retries, so that each fault is seen.
  const { region, endpoint, credentials, requestHandler } = test.client.config;
  const client = new DynamoDBClient({
    ...{ region, credentials, requestHandler, maxAttempts: 1 },
    ...(endpoint && { endpoint }),
  });
  const { handler, lines, aside } = matchIngest(table({ name: test.table.name, client }), options);
  let counted = 0;
  return {
    ...test,
    lines,
    aside,
    ingest: handler,
    stored: (id) => test.table.of(Match).get({ id }).consistent().item(),
    writes: () => {
      const all = test.requests.filter(({ operation }) => operation === 'UpdateItem').length;
      const since = all - counted;
      counted = all;
      return since;
    },
  };
};
