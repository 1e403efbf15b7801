import { isFilledText } from '../commands/attributes/text.js';
import { invalid } from '../commands/errors/errors.js';
import { checkFunction, checkObject, checkTable, isArray, isBetween } from '../recipes/arguments.js';
import { checkBounds } from '../recipes/idempotency/idempotent-transaction.js';
import { idempotentTransaction, isTraceparent, type Answer, type Effect } from '../recipes/index.js';
import { replayedHeaders, replayedResult, resultOf, storedAnswer, type HttpAnswer } from './answer.js';
import { currentCall } from './call-log.js';
import { headerValues, type HttpEvent, type HttpResult } from './event.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import type { IdempotentOptions } from './idempotent-options.js';
import { bodyBytes, jsonBody } from './json-body.js';
import { principalOf } from './principal.js';
import { ProblemError, problems, type Problem } from './problem.js';
import { requestFingerprint } from './request-fingerprint.js';
import { parseRoute, routeOf } from './route.js';
import { validated } from './schema.js';

const traceparentOf = (event: HttpEvent): string | undefined => headerValues(event, 'traceparent').find(isTraceparent);

/** A call ended by a problem, whose outcome the log tells. */
const ended = (outcome: 'mismatch' | 'conflict', what: Problem): never => {
  currentCall().outcome = outcome;
  throw new ProblemError(what);
};

/** Whether it has the texts that are read, where it has them: anything may invoke a function. */
const isHttpEvent = (event: HttpEvent | undefined): boolean => {
  const { rawPath, rawQueryString = '', routeKey = '', body, requestContext } = event ?? ({} as Partial<HttpEvent>);
  const texts = [
    requestContext?.http?.method,
    rawPath,
    rawQueryString,
    routeKey,
    requestContext?.stage ?? '',
    body ?? '',
  ];
  return texts.every((text) => typeof text === 'string');
};

/** The answer to an event; problems are thrown. */
export const endpoint = <B>(options: IdempotentOptions<B>, now: () => number) => {
  const { table, schema, scope = principalOf, horizonSeconds = 86_400, maximumBodyBytes = 262_144 } = options;
  checkTable(table);
  checkFunction((options as { readonly handle: unknown }).handle, 'handle');
  checkFunction(scope, 'scope');
  if (schema !== undefined) checkObject(schema, 'schema', 'expected a Standard Schema, such as bodySchema() makes');
  if (!isBetween(maximumBodyBytes, 0, Infinity)) invalid('maximumBodyBytes', 'expected a number of bytes');
  // The construct says it too, since it sends other paths and methods here to be refused.
  const served = options.route ?? process.env['SAFEWRITES_ROUTE'];
  const route = typeof served === 'string' ? parseRoute(served) : undefined;
  if (served !== undefined && !route) invalid('route', 'expected a method and a path');
  checkBounds({ horizonSeconds, maxAttempts: options.maxAttempts });
  const { headers = replayedHeaders } = options;
  if (!isArray(headers) || !headers.every((name: unknown) => typeof name === 'string'))
    invalid('headers', 'expected an array of names');
  const allowed = headers.map((name) => name.toLowerCase());

  return async (event: HttpEvent, signal: AbortSignal): Promise<HttpResult> => {
    if (!isHttpEvent(event)) {
      invalid('event', 'expected payload format 2.0 of an HTTP API or function URL');
    }
    const matched = routeOf(event, route);
    const key = idempotencyKeyOf(event);
    const bytes = bodyBytes(event, maximumBodyBytes);
    const json = jsonBody(event, bytes);
    const body = schema === undefined ? (json as B) : await validated(schema, json, options.describeIssue);
    const owner = scope(event);
    if (!isFilledText(owner)) {
      return invalid('scope', 'nothing says whose key it is: add an IAM or JWT authorizer, or a scope function');
    }
    let first: HttpResult | undefined;
    const stored = (handled: HttpAnswer): Answer => storedAnswer((first = resultOf(handled)), allowed);
    const result = await idempotentTransaction(table, {
      scope: owner,
      route: matched,
      key,
      fingerprint: requestFingerprint(event, bytes),
      horizonSeconds,
      readFirst: options.readFirst,
      maxAttempts: options.maxAttempts,
      signal,
      now,
      run: async (attempt) => {
        const call = { ...attempt, event, signal, traceparent: traceparentOf(event) };
        return withAnswers(await options.handle(body, call), stored);
      },
    });
    if (result.outcome === 'mismatch') return ended('mismatch', problems.keyReused());
    if (result.outcome === 'conflict') return ended('conflict', problems.inProgress());
    currentCall().outcome = result.outcome;
    return result.replayed ? replayedResult(result.answer) : (first as HttpResult);
  };
};

/** An effect with its answers as they are stored. */
const withAnswers = (effect: Effect<HttpAnswer>, stored: (answer: HttpAnswer) => Answer): Effect<Answer> => {
  if (effect.kind === 'refuse') return { kind: 'refuse', answer: stored(effect.answer) };
  const { steps, answer, onFailed } = effect;
  return {
    kind: 'commit',
    steps,
    answer: stored(answer),
    onFailed:
      onFailed &&
      ((failed) => {
        const refusal = onFailed(failed);
        return refusal && stored(refusal);
      }),
  };
};
