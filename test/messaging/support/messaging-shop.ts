import { CreateTableCommand, DynamoDBClient, paginateScan, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { AttributeMap, Table } from '../../../lib/commands/index.js';
import { table } from '../../../lib/commands/index.js';
import type { LocalDynamoDBOptions } from '../../../lib/local/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../../support/dynamodb.js';

type Handle = (request: HttpRequest, options?: unknown) => Promise<unknown>;
interface HttpRequest {
  readonly headers: Record<string, string>;
  body: string | Uint8Array;
}

/** The text of a request's body. */
export const bodyText = ({ body }: { readonly body: string | Uint8Array }): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();

/** What stands between a client and DynamoDB: sends the request, or not, and gives an answer, or none. */
export type Between = (request: HttpRequest & { readonly operation: string }, send: () => Promise<unknown>) => unknown;

export interface Stored {
  readonly inbox: readonly AttributeMap[];
  readonly outbox: readonly AttributeMap[];
  readonly others: readonly AttributeMap[];
}

export interface MessagingShop {
  readonly db: TestDynamoDB;
  readonly shop: Table;
  /** The same table through a client of its own, with something in between. */
  through(between: Between, maxAttempts?: number): Table;
  /** The items in which the text stands. */
  stored(text: string): Promise<Stored>;
  /** Operations and units of what `work` sends; units are 0 outside of the embedded database. */
  costOf(work: () => Promise<unknown>): Promise<{ operations: string[]; writeUnits: number; readUnits: number }>;
  close(): Promise<void>;
}

export const messagingShop = async (options: LocalDynamoDBOptions = {}): Promise<MessagingShop> => {
  const db = await testDynamoDB(options);
  const { client } = db;
  const TableName = uniqueTableName('messaging');
  const names = ['pk', 'sk'] as const;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: names.map((AttributeName, i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName });
  const clients: DynamoDBClient[] = [];
  return {
    db,
    shop: table({ name: TableName, client }),
    through(between, maxAttempts = 4) {
      const inner = client.config.requestHandler as unknown as { handle: Handle };
      const handle: Handle = (request, options) => {
        const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
        const send = (): Promise<unknown> => inner.handle(request, options);
        return Promise.resolve().then(() => between(Object.assign(request, { operation }), send));
      };
      const { region, credentials, endpoint } = client.config;
      const own = new DynamoDBClient({
        region,
        credentials,
        ...(endpoint && { endpoint }),
        maxAttempts,
        requestHandler: Object.assign(Object.create(inner) as object, { handle }) as never,
      });
      clients.push(own);
      return table({ name: TableName, client: own });
    },
    async stored(text) {
      const found: AttributeMap[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
        found.push(...Items.filter((item) => JSON.stringify(item).includes(text)));
      }
      const of = (type: string): AttributeMap[] => found.filter((item) => item['_type']?.S === type);
      const others = found.filter((item) => !['INBOX', 'OUTBOX'].includes(item['_type']?.S ?? ''));
      return { inbox: of('INBOX'), outbox: of('OUTBOX'), others };
    },
    async costOf(work) {
      const cost = { operations: [] as string[], writeUnits: 0, readUnits: 0 };
      const stop = db.local?.onRequest(({ operation, writeUnits, readUnits }) => {
        cost.operations.push(operation);
        cost.writeUnits += writeUnits;
        cost.readUnits += readUnits;
      });
      await work();
      stop?.();
      return cost;
    },
    async close() {
      for (const own of clients) own.destroy();
      await db.close();
    },
  };
};

export const lost = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'ECONNRESET' });

/** The error of a promise that must be rejected. */
export const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
};

/** A promise, and what settles it. */
export const deferred = (): { readonly promise: Promise<void>; readonly resolve: () => void } => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};
