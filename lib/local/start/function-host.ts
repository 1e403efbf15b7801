// Runs in a process of its own: loads one bundle as Lambda would, and calls its handler with what the server sends.
// It imports nothing of the house, so that the bundle meets only itself.
import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FunctionMessage, InvokeMessage } from './function-messages.js';

type Handler = (event: unknown, context: object) => unknown;

const [folder = '', handlerName = ''] = process.argv.slice(2);
const env = process.env;
const calls = new AsyncLocalStorage<Record<PropertyKey, unknown>>();
const traceKey = Symbol.for('_AWS_LAMBDA_X_RAY_TRACE_ID');

const send = (message: FunctionMessage): void => {
  process.send?.(message);
};

// Where the SDK looks for the trace id that it puts on its requests: by it the server tells whose requests they are.
const get = (key: PropertyKey): unknown => calls.getStore()?.[key];
Object.assign(globalThis, {
  awslambda: {
    InvokeStore: {
      run: <T>(context: Record<PropertyKey, unknown>, fn: () => T): T => calls.run(context, fn),
      getContext: () => calls.getStore(),
      hasContext: () => calls.getStore() !== undefined,
      get,
      set: (key: PropertyKey, value: unknown) => Object.assign(calls.getStore() ?? {}, { [key]: value }),
      getRequestId: () => get(Symbol.for('_AWS_LAMBDA_REQUEST_ID')) ?? '-',
      getXRayTraceId: () => get(traceKey),
      getTenantId: () => undefined,
      getTraceparent: () => undefined,
      getTracestate: () => undefined,
      getBaggage: () => undefined,
    },
  },
});

async function load(): Promise<Handler> {
  const [file = '', name = ''] = handlerName.split('.');
  const bundle = (await import(pathToFileURL(join(folder, `${file}.mjs`)).href)) as Record<string, unknown>;
  const handler = bundle[name];
  if (typeof handler !== 'function') throw new Error(`it exports no function "${name}"`);
  return handler as Handler;
}

async function invoke(handler: Handler, { id, event, traceId, deadline }: InvokeMessage): Promise<void> {
  const context = {
    awsRequestId: id,
    functionName: env['AWS_LAMBDA_FUNCTION_NAME'],
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${env['AWS_REGION']}:000000000000:function:${env['AWS_LAMBDA_FUNCTION_NAME']}`,
    memoryLimitInMB: env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
    logGroupName: env['AWS_LAMBDA_LOG_GROUP_NAME'],
    logStreamName: env['AWS_LAMBDA_LOG_STREAM_NAME'],
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    const result = await calls.run(
      { [traceKey]: traceId, [Symbol.for('_AWS_LAMBDA_REQUEST_ID')]: id },
      async () => await handler(event, context),
    );
    send({ type: 'result', id, result: JSON.stringify(result ?? null) });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    console.error(JSON.stringify({ level: 'ERROR', requestId: id, errorType: name, errorMessage: message, stack }));
    send({ type: 'failed', id });
  }
}

process.on('disconnect', () => process.exit(0));

try {
  const handler = await load();
  process.on('message', (message) => void invoke(handler, message as InvokeMessage));
  send({ type: 'ready' });
} catch (error) {
  send({ type: 'broken', reason: (error as Error).message });
}
