import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table, type Table, type TableOptions } from '../../../lib/commands/index.js';

/** A client that fails whatever is sent: what is refused before sending never reaches it. */
export const offlineClient = (): DynamoDBClient & { readonly sent: number } => {
  let sent = 0;
  const client = new DynamoDBClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    requestHandler: {
      handle: () => {
        sent++;
        return Promise.reject(new Error('a request was sent'));
      },
    },
  });
  return Object.defineProperty(client, 'sent', { get: () => sent }) as DynamoDBClient & { readonly sent: number };
};

/** A table named `shop` on such a client. */
export const offlineTable = (options: Partial<TableOptions> = {}): Table =>
  table({ name: 'shop', client: offlineClient(), ...options });
