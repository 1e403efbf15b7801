import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** What the SDK calls for each attempt. */
export type Handle = (request: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>;

/** A client whose attempts go to a function. */
export const clientOf = (handle: Handle, config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    requestHandler: { handle: handle as never },
    ...config,
  });

/** A broken connection, which the SDK retries. */
export const broken = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A client on the same backend that loses the responses of its first attempts, after they took effect. */
export const losing = (client: DynamoDBClient, lost: number, config: DynamoDBClientConfig = {}): DynamoDBClient => {
  const { requestHandler } = client.config;
  let attempts = 0;
  const { region, credentials, endpoint } = client.config;
  return new DynamoDBClient({
    region,
    credentials,
    ...(endpoint !== undefined && { endpoint }),
    requestHandler: {
      handle: (async (request: never, options: never) => {
        const response = await requestHandler.handle(request, options);
        if (attempts++ < lost) throw broken();
        return response;
      }) as never,
    },
    ...config,
  });
};
