import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { ingestHandler } from '../../../lambdas/ingest/ingest-handler.js';
import { table } from '../../../lib/commands/index.js';
import type {
  BatchEvent,
  BatchResponse,
  IngestLine,
  KafkaEvent,
  PoisonRecord,
  SqsEvent,
} from '../../../lib/events/index.js';

/** What a batch took, and what is wrong with it. */
export interface CountedBatch {
  readonly records: number;
  /** Distinct pairs of key and group, for the matches of which the batch removes none. */
  readonly pairs: number;
  /** What was sent for these. */
  readonly writes: number;
  readonly poison: readonly { readonly id: number; readonly reason: string }[];
  readonly faults: readonly string[];
}

interface Read {
  readonly matchId: string;
  readonly group: 'score' | 'status' | 'removal';
}

const parsed = (body: string): { readonly matchId: string; readonly type: string } => JSON.parse(body) as never;

const groupOf = (type: string): Read['group'] => (type === 'score' || type === 'status' ? type : 'removal');

/** The marks that a test gives its records, for itself: the handler knows nothing of them. */
const readKafka = ({ records }: KafkaEvent): (Read | undefined)[] =>
  Object.values(records).flatMap((list) =>
    list.map(({ key, value, headers }) => {
      if (headers?.some((header) => 'test-poison' in header)) return undefined;
      if (value === null || value === undefined) {
        return { matchId: Buffer.from(key ?? '', 'base64').toString(), group: 'removal' };
      }
      const { matchId, type } = parsed(Buffer.from(value, 'base64').toString());
      return { matchId, group: groupOf(type) };
    }),
  );

const readSqs = ({ Records }: SqsEvent): (Read | undefined)[] =>
  Records.map(({ body, messageAttributes }) => {
    if (messageAttributes?.['test-poison'] !== undefined) return undefined;
    const { matchId, type } = parsed(body);
    return { matchId, group: groupOf(type) };
  });

const idOf = (poison: PoisonRecord): number => {
  if (poison.source === 'kafka') {
    const header = poison.record.headers?.find((given) => 'test-id' in given)?.['test-id'];
    return Number(Buffer.from(header ?? []).toString());
  }
  return poison.source === 'sqs' ? Number(poison.record.messageAttributes?.['test-id']?.stringValue) : NaN;
};

/**
 * The ingest function's handler, which counts the writes that leave its client: one for each distinct pair of key and group
 * of a batch. A batch that removes a match settles by what is stored, so its writes are bounded: two for the removal, one
 * for each group.
 */
export const countedIngest = (name: string, config: DynamoDBClientConfig, done: (batch: CountedBatch) => void) => {
  const client = new DynamoDBClient(config);
  const sent = new Map<string, number>();
  client.middlewareStack.add(
    (next) => (args) => {
      const key = (args.input as { readonly Key?: { readonly pk?: { readonly S?: string } } }).Key?.pk?.S ?? 'other';
      const matchId = key.replace(/^MATCH#/, '');
      sent.set(matchId, (sent.get(matchId) ?? 0) + 1);
      return next(args);
    },
    { step: 'initialize' },
  );
  const poison: { id: number; reason: string }[] = [];
  let line: IngestLine | undefined;
  const handler = ingestHandler(table({ name, client }), {
    partialResponses: true,
    failureDestination: (found) => void poison.push({ id: idOf(found), reason: found.reason }),
    log: (given) => (line = given),
  });
  return async (event: BatchEvent): Promise<BatchResponse> => {
    sent.clear();
    poison.length = 0;
    const response = await handler(event);
    const reads = 'records' in event ? readKafka(event) : readSqs(event as SqsEvent);
    const groups = new Map<string, Set<Read['group']>>();
    for (const read of reads) {
      if (read === undefined) continue;
      const known = groups.get(read.matchId);
      if (known === undefined) groups.set(read.matchId, new Set([read.group]));
      else known.add(read.group);
    }
    const faults: string[] = [];
    let [pairs, writes] = [0, 0];
    for (const [matchId, of] of groups) {
      const count = sent.get(matchId) ?? 0;
      sent.delete(matchId);
      if (!of.has('removal')) {
        pairs += of.size;
        writes += count;
        if (count !== of.size) faults.push(`${count} writes for ${of.size} groups`);
      } else if (count < 1 || count > 1 + of.size) {
        faults.push(`${count} writes for a removal and ${of.size - 1} groups`);
      }
    }
    for (const count of sent.values()) faults.push(`${count} writes for a match that is not in the batch`);
    if (line?.Records !== reads.length) faults.push(`its line tells of ${line?.Records} records`);
    if (response.batchItemFailures.length > 0) faults.push(`${response.batchItemFailures.length} failures`);
    done({ records: reads.length, pairs, writes, poison: [...poison], faults });
    return response;
  };
};
