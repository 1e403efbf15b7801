import { CreateTableCommand, waitUntilTableExists, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { table, type Table } from '../../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../../support/dynamodb.js';

/** A table of a test file's own, and what its requests went through. */
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

type Handle = (request: { headers: Record<string, string> }, options: unknown) => Promise<unknown>;

/** Opens a table before the tests of a file, and closes it after. */
export const testShop = (): TestShop => {
  let db: TestDynamoDB;
  let shop: Table;
  let sent: string[] = [];
  let units: number[] = [];
  const hooks: { operation: string; fn: () => Promise<void> }[] = [];

  beforeAll(async () => {
    db = await testDynamoDB();
    const TableName = uniqueTableName('recipe');
    await db.client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    );
    await waitUntilTableExists({ client: db.client, maxWaitTime: 60, minDelay: 1 }, { TableName });
    const handler = db.client.config.requestHandler as unknown as { handle: Handle };
    const handle = handler.handle.bind(handler);
    handler.handle = async (request, options) => {
      const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
      sent.push(operation);
      const response = await handle(request, options);
      const at = hooks.findIndex((hook) => hook.operation === operation);
      if (at >= 0) await hooks.splice(at, 1)[0]?.fn();
      return response;
    };
    db.local?.onRequest(({ writeUnits }) => units.push(writeUnits));
    shop = table({ name: TableName, client: db.client });
  });
  beforeEach(() => {
    sent = [];
    units = [];
  });
  afterAll(() => db.close());

  return {
    get shop() {
      return shop;
    },
    get client() {
      return db.client;
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

let names = 0;
/** A name that no other test uses. */
export const fresh = (): string => `n${(names += 1)}`;

/** Twenty at once. */
export const twenty = <R>(fn: (i: number) => Promise<R>): Promise<R[]> =>
  Promise.all(Array.from({ length: 20 }, (_, i) => fn(i)));
