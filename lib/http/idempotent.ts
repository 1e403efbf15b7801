import middy from '@middy/core';
import { resultOf } from './answer.js';
import { callLine, currentCall, runCall, type CallLine } from './call-log.js';
import { endpoint } from './endpoint.js';
import type { HttpContext, HttpEvent, HttpResult } from './event.js';
import { failure } from './failure.js';
import type { IdempotentOptions } from './idempotent-options.js';
import { problem, problems } from './problem.js';
import { invalid } from '../commands/errors/errors.js';
import { checkFunction, checkObject, isBetween, longestTimer } from '../recipes/arguments.js';

type Hook = (request: never) => unknown;

/** A Lambda handler. */
export interface IdempotentHandler {
  (event: HttpEvent, context?: HttpContext): Promise<HttpResult>;
  /** Adds a middy middleware around the endpoint. What it changes in an event is what the fingerprint is made of. */
  use(middleware: { before?: Hook; after?: Hook; onError?: Hook }): IdempotentHandler;
}

/** As it is: with JSON logs Lambda wraps what `console.log` is given, and CloudWatch finds no metrics in it. */
const writeLine = (line: CallLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/**
 * A Lambda handler behind an HTTP API (payload format 2.0) or a function URL, which answers a repeat of a call as its
 * first time, and does the effect once. The client names a call by the header `Idempotency-Key`.
 *
 * First call: the handler's answer. Repeat: its status, body and allowed headers, with `Idempotent-Replayed: true`. The
 * key with another request: 422. Calls at the same time: one is done, others get its answer or 409 with `Retry-After`.
 * No key, or a malformed one: 400. Refused before the key is looked up and never stored: 400, 404, 405, 413, 415.
 * Throttled, out of time: 503 with `Retry-After`; the same request again is safe. Every problem is
 * `application/problem+json`. Cost: as `idempotentTransaction`, 1 DynamoDB request.
 *
 * @throws InvalidInputError for a route that is none, and options out of their bounds
 * @example
 * import { randomUUID } from 'node:crypto';
 *
 * export const handler = idempotent({
 *   table: shop,
 *   route: 'POST /accounts',
 *   handle: () => {
 *     const account = { id: randomUUID(), balance: 0 };
 *     return commit({ account: accounts.put(account) }, { status: 201, body: account });
 *   },
 * });
 */
export const idempotent = <B = unknown>(options: IdempotentOptions<B>): IdempotentHandler => {
  const { log = writeLine, now = Date.now, deadlineMarginMs = 500 } = checkObject(options, 'options');
  checkFunction(log, 'log');
  checkFunction(now, 'now');
  if (!isBetween(deadlineMarginMs, 0, longestTimer)) invalid('deadlineMarginMs', 'expected milliseconds');
  const answer = endpoint(options, now);
  const inner = middy<HttpEvent, HttpResult>({
    timeoutEarlyInMillis: deadlineMarginMs,
    timeoutEarlyResponse: () => {
      currentCall().outcome = 'unavailable';
      return resultOf(problem(problems.unavailable()));
    },
  })
    .handler((event: HttpEvent, _context: unknown, { signal }: { signal: AbortSignal }) => answer(event, signal))
    // Only where no middleware of the user's has answered.
    .onError((request) => {
      request.response ??= failure(request.error);
    });
  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  const handler = (event: HttpEvent, context?: HttpContext): Promise<HttpResult> =>
    runCall(async () => {
      const started = performance.now();
      const result = await inner(event, (context ?? {}) as never).catch(failure);
      log(callLine(currentCall(), result.statusCode, started, event?.requestContext?.requestId));
      return result;
    });
  const use: IdempotentHandler['use'] = (middleware) => {
    inner.use(middleware as never);
    return Object.assign(handler, { use });
  };
  return Object.assign(handler, { use });
};
