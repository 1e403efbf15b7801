import { randomUUID } from 'node:crypto';
import type { Answer, Dispatcher } from './dispatcher.js';
import { turn } from './engine/turn.js';

/**
 * An SDK v3 HTTP handler that answers in this process, without a socket: pass it as a client's `requestHandler`.
 * A type rather than an interface, because only so it fits the SDK's open handler type.
 */
export type LocalRequestHandler = {
  readonly metadata: { readonly handlerProtocol: string };
  handle(
    request: { headers: Record<string, string>; body?: unknown },
    options?: { abortSignal?: AbortLike },
  ): Promise<{ response: { statusCode: number; headers: Record<string, string>; body: Uint8Array } }>;
  updateHttpClientConfig(key: string, value: unknown): void;
  httpHandlerConfigs(): Record<string, unknown>;
  destroy(): void;
};

/** Either kind of abort signal that the SDK passes on. */
interface AbortLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener?: (type: 'abort', listener: () => void, options?: { once: boolean }) => void;
  removeEventListener?: (type: 'abort', listener: () => void) => void;
}

export function createRequestHandler(dispatcher: Dispatcher): LocalRequestHandler {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request, { abortSignal } = {}) {
      if (abortSignal?.aborted) throw abortError(abortSignal);
      const running = dispatcher.dispatch(targetOf(request), textOf(request.body));
      const { statusCode, body } = await raceAbort(running.then(afterTurn), abortSignal);
      return {
        response: {
          statusCode,
          headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() },
          body: Buffer.from(body),
        },
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    // A client that is destroyed must not take the data with it: other clients share this handler.
    destroy: () => undefined,
  };
}

/** As from a network, an answer takes a turn of the event loop: a caller that polls leaves room for timers and others. */
async function afterTurn(answer: Answer): Promise<Answer> {
  await turn();
  return answer;
}

function header(headers: Record<string, string>, name: string): string | undefined {
  if (headers[name] !== undefined) return headers[name];
  const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
}

/** The service and operation that a request names. */
export const targetOf = (request: { readonly headers: Record<string, string> }): string =>
  header(request.headers, 'x-amz-target') ?? '';

export function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (body === undefined || body === null) return '';
  throw new TypeError('The request body must be text or bytes');
}

/** Gives up waiting when the signal fires; the request itself goes on, as it would on a server. */
export async function raceAbort<T>(running: Promise<T>, signal: AbortLike | undefined): Promise<T> {
  if (!signal?.addEventListener) return running;
  let listener: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    listener = () => reject(abortError(signal));
    signal.addEventListener?.('abort', listener, { once: true });
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    if (listener) signal.removeEventListener?.('abort', listener);
  }
}

function abortError(signal: AbortLike): Error {
  const error = new Error('Request aborted', { cause: signal.reason });
  error.name = 'AbortError';
  return error;
}
