import { SafeWritesError } from '../errors/errors.js';
import { calls, type CommandTrace } from './channel.js';

/** What the bridge needs of a span of OpenTelemetry. */
export interface SpanLike {
  setAttribute(name: string, value: string): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

/** What a span starts with. */
export interface SpanStart {
  kind?: number;
  attributes?: Record<string, string | number | string[]>;
}

/** What the bridge needs of a tracer of OpenTelemetry; `S` is its span. */
export interface TracerLike<S extends SpanLike> {
  startSpan(name: string, options?: SpanStart): S;
}

/** What the bridge needs of `context` and `trace` of `@opentelemetry/api`; `C` is a context. */
export interface ContextLike<S extends SpanLike, C> {
  readonly context: { active(): C; with<R>(context: C, fn: () => R): R };
  readonly trace: { setSpan(context: C, span: S): C };
}

/** What {@link traceWithOpenTelemetry} takes. */
export type TracingOptions<S extends SpanLike, C> = { readonly tracer: TracerLike<S> } & Partial<ContextLike<S, C>>;

// SpanKind.CLIENT and SpanStatusCode.ERROR of @opentelemetry/api, which is not loaded for two numbers.
const client = 2;
const failed = 2;

const attributesOf = ({
  operation,
  table,
  entity,
  actions,
}: CommandTrace): Record<string, string | number | string[]> => ({
  'db.system': 'dynamodb',
  'db.system.name': 'aws.dynamodb',
  'db.operation': operation,
  'db.operation.name': operation,
  'aws.dynamodb.table_names': [table],
  ...(entity !== undefined && { 'safewrites.entity': entity }),
  ...(actions !== undefined && { 'db.operation.batch.size': actions }),
});

const finish = (span: SpanLike, { error, outcome }: CommandTrace): void => {
  if (outcome !== undefined) span.setAttribute('safewrites.outcome', outcome);
  if (error !== undefined) {
    const { name } = error as { name?: unknown };
    const type = typeof name === 'string' ? name : 'Error';
    span.setAttribute('error.type', type);
    // Our own messages hold no key or value; DynamoDB's may quote one.
    span.setStatus({ code: failed, message: error instanceof SafeWritesError ? error.message : type });
  }
  span.end();
};

/**
 * Makes a span of every request, named by its operation, with the semantic conventions' `db.*` and `aws.dynamodb.*`
 * attributes and never a key or a value. What throws is an error on its span; a failed condition that `trySend`
 * answers is none, and stands in `safewrites.outcome`. A span is a child of the one that is active when the command is
 * sent. With `context` and `trace` of `@opentelemetry/api` it is active during the request too, so that spans of the
 * HTTP client become its children. Works for all copies of the package in the process, and needs none of OpenTelemetry.
 *
 * @returns stops making spans; calls in flight still end theirs
 * @example
 * import { context, trace } from '@opentelemetry/api';
 * const stop = traceWithOpenTelemetry({ tracer: trace.getTracer('shop'), context, trace });
 */
export const traceWithOpenTelemetry = <S extends SpanLike, C = never>({
  tracer,
  context,
  trace,
}: TracingOptions<S, C>): (() => void) => {
  const spans = new WeakMap<object, S>();
  const spanOf = (call: CommandTrace): S => {
    let span = spans.get(call);
    if (span === undefined) {
      span = tracer.startSpan(call.operation, { kind: client, attributes: attributesOf(call) });
      spans.set(call, span);
    }
    return span;
  };
  let open = 0;
  let stopped = false;
  const start = (call: unknown): void => {
    spanOf(call as CommandTrace);
    open++;
  };
  const asyncEnd = (call: unknown): void => {
    const span = spans.get(call as CommandTrace);
    if (span === undefined) return;
    spans.delete(call as CommandTrace);
    finish(span, call as CommandTrace);
    if (--open === 0 && stopped) calls.asyncEnd.unsubscribe(asyncEnd);
  };
  // Of a store, the channel asks only that it runs a function with a value.
  const store = { run: (active: C, fn: () => unknown) => context?.with(active, fn) } as never;
  calls.start.subscribe(start);
  calls.asyncEnd.subscribe(asyncEnd);
  if (context !== undefined && trace !== undefined) {
    calls.start.bindStore(store, ((call: CommandTrace) => trace.setSpan(context.active(), spanOf(call))) as never);
  }
  return () => {
    stopped = true;
    calls.start.unsubscribe(start);
    calls.start.unbindStore(store);
    if (open === 0) calls.asyncEnd.unsubscribe(asyncEnd);
  };
};
