import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { LocalDynamoDBOptions } from '../../../lib/local/index.js';
import { table, type Table } from '../../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../../support/dynamodb.js';

type Handle = (request: { headers: Record<string, string> }, options?: unknown) => Promise<unknown>;

/** What a request of the faulty client meets: true loses the response after the write took effect. */
export type Fault = (operation: string) => boolean | 'before' | Promise<boolean | 'before'>;

/** A table with a client of its own for faults. */
export interface RecipeShop {
  readonly db: TestDynamoDB;
  readonly shop: Table;
  /** The same table through a client whose requests meet `fault`. */
  faulty(fault: Fault, maxAttempts?: number): Table;
  /** Operations and units of what `work` sends; units are undefined outside of the embedded database. */
  costOf(work: () => Promise<unknown>): Promise<{ operations: string[]; writeUnits: number; readUnits: number }>;
  close(): Promise<void>;
}

export const reset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

export const recipeShop = async (options: LocalDynamoDBOptions = {}): Promise<RecipeShop> => {
  const db = await testDynamoDB(options);
  const { client } = db;
  const TableName = uniqueTableName('recipes');
  await client.send(
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
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName });
  const clients: DynamoDBClient[] = [];
  return {
    db,
    shop: table({ name: TableName, client }),
    faulty(fault, maxAttempts = 4) {
      const inner = client.config.requestHandler as unknown as { handle: Handle };
      const handle: Handle = async (request, options) => {
        const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
        const meets = await fault(operation);
        if (meets === 'before') throw reset();
        const answer = await inner.handle(request, options);
        if (meets) throw reset();
        return answer;
      };
      const { region, credentials, endpoint } = client.config;
      const faulty = new DynamoDBClient({
        region,
        credentials,
        ...(endpoint && { endpoint }),
        maxAttempts,
        requestHandler: Object.assign(Object.create(inner) as object, { handle }) as never,
      });
      clients.push(faulty);
      return table({ name: TableName, client: faulty });
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
      for (const faulty of clients) faulty.destroy();
      await db.close();
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
