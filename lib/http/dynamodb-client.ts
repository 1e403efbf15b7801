import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/**
 * A client for a function behind HTTP: it gives up on a connection after 1 s and on a request after 3 s, and tries 3
 * times. The SDK's own default is to wait as long as the socket does, which outlives the function.
 *
 * @example const shop = table({ name: 'shop', client: dynamoDBClient() });
 */
export const dynamoDBClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts: 3,
    // Without throwOnRequestTimeout the SDK only warns.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    ...config,
  });
