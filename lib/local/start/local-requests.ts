import { randomUUID } from 'node:crypto';
import type { LocalDynamoDB } from '../local-dynamodb.js';
import type { LocalEventBridge } from '../sources/bus/local-event-bridge.js';
import { LocalQueueError } from '../sources/queues/local-queue.js';
import type { LocalQueues } from '../sources/queues/local-queues.js';
import type { HttpAnswer } from './handler-response.js';
import { plainItem } from './short-json.js';

/** What `/_local/…` shows and takes. */
export interface LocalView {
  readonly dynamodb: LocalDynamoDB;
  readonly tables: readonly string[];
  readonly queues: LocalQueues;
  readonly bridge: LocalEventBridge;
}

/** Paths of the local server's own, beside the app's routes. */
export const isLocalPath = (path: string): boolean => path === '/_local' || path.startsWith('/_local/');

const help = `GET  /_local/items            the items of all tables
GET  /_local/queues           the queues
GET  /_local/queues/NAME      the messages of a queue
POST /_local/queues/NAME      sends the body as a message; ?group=… of a FIFO queue, ?deduplicationId=… (default: a new one)
GET  /_local/events           the events that buses have taken
`;

/** Answers a request for `/_local/…`. */
export async function answerLocal(
  view: LocalView,
  method: string,
  path: string,
  query: string,
  body: string,
): Promise<HttpAnswer> {
  const [, , kind, name] = path.split('/').map(decoded);
  if (method === 'GET' && kind === undefined) return text(200, help);
  if (method === 'GET' && kind === 'items') return json(200, await items(view));
  if (method === 'GET' && kind === 'events') return json(200, view.bridge.events());
  if (method === 'GET' && kind === 'queues' && name === undefined) {
    return json(
      200,
      view.queues.list().map((queue) => ({ name: queue.name, messages: queue.messages().length })),
    );
  }
  const queue = kind === 'queues' && name !== undefined ? view.queues.queue(name) : undefined;
  if (kind === 'queues' && queue === undefined)
    return json(404, { message: 'There is no queue of this name: GET /_local/queues names them all.' });
  if (queue === undefined) return text(404, help);
  if (method === 'GET') return json(200, queue.messages());
  if (method !== 'POST') return text(405, help);
  if (body === '') return json(400, { message: 'A message needs a body.' });
  const parameters = new URLSearchParams(query);
  const group = parameters.get('group') ?? undefined;
  if (queue.fifo && group === undefined) return json(400, { message: 'A FIFO queue needs a group: ?group=…' });
  // As sent twice is meant here: a second copy with the same id would be dropped by the queue.
  const deduplicationId = queue.fifo ? (parameters.get('deduplicationId') ?? randomUUID()) : undefined;
  try {
    return json(200, queue.send({ body, groupId: queue.fifo ? group : undefined, deduplicationId }));
  } catch (error) {
    if (!(error instanceof LocalQueueError)) throw error;
    return json(400, { message: error.message });
  }
}

async function items({ dynamodb, tables }: LocalView): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const TableName of tables) {
    const rows: unknown[] = [];
    let ExclusiveStartKey: unknown;
    do {
      const { response } = await dynamodb.requestHandler.handle({
        headers: { 'x-amz-target': 'DynamoDB_20120810.Scan' },
        body: JSON.stringify({ TableName, ConsistentRead: true, ExclusiveStartKey }),
      });
      const page = JSON.parse(Buffer.from(response.body).toString()) as { Items: object[]; LastEvaluatedKey?: unknown };
      rows.push(...page.Items.map(plainItem));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    found[TableName] = rows;
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const json = (status: number, value: unknown): HttpAnswer => ({
  status,
  headers: [['content-type', 'application/json']],
  body: Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`),
});

const text = (status: number, body: string): HttpAnswer => ({
  status,
  headers: [['content-type', 'text/plain;charset=utf-8']],
  body: Buffer.from(body),
});
