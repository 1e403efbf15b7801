import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { invalid } from '../errors/errors.js';

/** Overrides the client's own retry middleware for one command. */
const override = {
  name: 'retryMiddleware',
  tags: ['RETRY'],
  step: 'finalizeRequest',
  priority: 'high',
  override: true,
} as const;

interface MiddlewareStack {
  add(middleware: unknown, options: unknown): void;
  use(plugin: unknown): void;
}

type Next = (request: unknown) => Promise<unknown>;

/** Sends once, whatever comes back. */
const once = (next: Next): Next => next;

const plugins = new WeakMap<object, Map<number, Promise<unknown>>>();

const pluginFor = (client: DynamoDBClient, attempts: number): Promise<unknown> => {
  let byAttempts = plugins.get(client);
  if (!byAttempts) plugins.set(client, (byAttempts = new Map<number, Promise<unknown>>()));
  let plugin = byAttempts.get(attempts);
  if (!plugin) {
    // Loaded when first used: at init it would cost every cold start several milliseconds.
    plugin = import('@smithy/core/retry').then(({ getRetryPlugin, StandardRetryStrategy }) => {
      const strategy = new StandardRetryStrategy(attempts);
      return getRetryPlugin({
        ...client.config,
        maxAttempts: () => Promise.resolve(attempts),
        retryStrategy: () => Promise.resolve(strategy),
      });
    });
    byAttempts.set(attempts, plugin);
  }
  return plugin;
};

/** Refuses what is no number of attempts. */
export const checkAttempts = (attempts: number): number =>
  Number.isSafeInteger(attempts) && attempts > 0
    ? attempts
    : invalid('maxAttempts', 'expected a whole number from 1 on');

/** Limits the attempts of one SDK command on the caller's own client. */
export const limitAttempts = async (
  client: DynamoDBClient,
  command: { readonly middlewareStack: unknown },
  attempts: number,
): Promise<void> => {
  // A client that caches its middleware would ignore the command's, or keep it for the commands after.
  if ((client.config as { cacheMiddleware?: boolean }).cacheMiddleware === true) {
    invalid('maxAttempts', 'the client has cacheMiddleware on, which ignores attempts per command: switch it off');
  }
  const stack = command.middlewareStack as MiddlewareStack;
  if (attempts === 1) stack.add(once, override);
  else stack.use(await pluginFor(client, attempts));
};
