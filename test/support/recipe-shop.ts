import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { table, type Table } from '../../lib/commands/index.js';
import type { LocalDynamoDBOptions } from '../../lib/local/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from './dynamodb.js';

export interface HttpRequest {
  readonly headers: Record<string, string>;
  body: string | Uint8Array;
}
type Handle = (request: HttpRequest, options?: unknown) => Promise<unknown>;

/** What stands between a client and DynamoDB: sends the request, or not, and gives an answer, or none. */
export type Between = (request: HttpRequest & { readonly operation: string }, send: () => Promise<unknown>) => unknown;

/** What a request of the faulty client meets: true loses the response after the write took effect. */
export type Fault = (operation: string) => boolean | 'before' | Promise<boolean | 'before'>;

/** A table with keys `pk` and `sk`, and with clients of its own for faults. */
export interface RecipeShop {
  readonly db: TestDynamoDB;
  readonly shop: Table;
  /** The same table through a client of its own, with something in between. */
  through(between: Between, maxAttempts?: number): Table;
  /** The same table through a client whose requests meet `fault`. */
  faulty(fault: Fault, maxAttempts?: number): Table;
  /** Operations and units of what `work` sends; units are 0 outside of the embedded database. */
  costOf(work: () => Promise<unknown>): Promise<{ operations: string[]; writeUnits: number; readUnits: number }>;
  close(): Promise<void>;
}

const operationOf = (request: { headers: Record<string, string> }): string =>
  (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';

export const reset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

export const recipeShop = async (options: LocalDynamoDBOptions = {}): Promise<RecipeShop> => {
  const db = await testDynamoDB(options);
  const { client } = db;
  const TableName = uniqueTableName('recipes');
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
  const through: RecipeShop['through'] = (between, maxAttempts = 4) => {
    const inner = client.config.requestHandler as unknown as { handle: Handle };
    const handle: Handle = (request, options) => {
      const send = (): Promise<unknown> => inner.handle(request, options);
      return Promise.resolve().then(() => between(Object.assign(request, { operation: operationOf(request) }), send));
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
  };
  return {
    db,
    shop: table({ name: TableName, client }),
    through,
    faulty: (fault, maxAttempts) =>
      through(async ({ operation }, send) => {
        const meets = await fault(operation);
        if (meets === 'before') throw reset();
        const answer = await send();
        if (meets) throw reset();
        return answer;
      }, maxAttempts),
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

/** A table of a test file's own, and what the requests of its one client went through. */
export interface TestShop {
  readonly shop: Table;
  readonly client: DynamoDBClient;
  /** The operations of a test since the last call, retries of the client included. */
  operations(): string[];
  /** The write units of a test since the last call, by request; empty where the engine is another. */
  writeUnits(): number[];
  /** Lets the next request of the operation take effect, and loses its response. */
  loseResponseOf(operation: string): void;
  /** Runs once, after the next request of the operation was answered and before its caller sees that. */
  afterNext(operation: string, fn: () => Promise<void>): void;
}

/** Opens a {@link recipeShop} before the tests of a file, and closes it after. */
export const testShop = (): TestShop => {
  let here: RecipeShop;
  let sent: string[] = [];
  let units: number[] = [];
  const hooks: { operation: string; fn: () => Promise<void> }[] = [];

  beforeAll(async () => {
    here = await recipeShop();
    const handler = here.db.client.config.requestHandler as unknown as { handle: Handle };
    const handle = handler.handle.bind(handler);
    handler.handle = async (request, options) => {
      const operation = operationOf(request);
      sent.push(operation);
      const response = await handle(request, options);
      const at = hooks.findIndex((hook) => hook.operation === operation);
      if (at >= 0) await hooks.splice(at, 1)[0]?.fn();
      return response;
    };
    here.db.local?.onRequest(({ writeUnits }) => units.push(writeUnits));
  });
  beforeEach(() => {
    sent = [];
    units = [];
  });
  afterAll(() => here.close());

  return {
    get shop() {
      return here.shop;
    },
    get client() {
      return here.db.client;
    },
    operations() {
      const operations = sent;
      sent = [];
      return operations;
    },
    writeUnits() {
      const consumed = units;
      units = [];
      return consumed;
    },
    loseResponseOf(operation) {
      const lost = Object.assign(new Error('The response was lost'), { name: 'TimeoutError' });
      hooks.push({ operation, fn: () => Promise.reject(lost) });
    },
    afterNext(operation, fn) {
      hooks.push({ operation, fn });
    },
  };
};

/** A fault that loses the response of the first request of an operation. */
export const loseFirst = (operation: string): Fault => {
  let left = 1;
  return (sent) => sent === operation && left-- > 0;
};

/** The error of a promise that must be rejected. */
export const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
};

let names = 0;
/** A name that no other test of the file uses. */
export const fresh = (): string => `n${(names += 1)}`;

/** Twenty at once. */
export const twenty = <R>(fn: (i: number) => Promise<R>): Promise<R[]> =>
  Promise.all(Array.from({ length: 20 }, (_, i) => fn(i)));
