import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  trace,
  type Context,
  type ContextManager,
} from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ConditionalCheckFailedException,
  batchGet,
  batchWrite,
  createTable,
  entity,
  integer,
  scan,
  string,
  table,
  traceWithOpenTelemetry,
  tracingChannelName,
  transactGet,
  transactWrite,
  type CommandTrace,
  type EntityTable,
  type Table,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';

const Note = entity('NOTE', {
  pk: 'NOTE#{id}',
  sk: 'NOTE',
  attributes: { id: string(), text: string(), count: integer().optional() },
});

/** What OpenTelemetry's Node SDK brings: contexts that follow asynchronous calls. */
class AsyncContexts implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    fn: F,
    _this?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(active, () => fn(...args));
  }
  bind<T>(_context: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

const exporter = new InMemorySpanExporter();
const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test');

let db: TestDynamoDB;
let shop: Table;
let notes: EntityTable<typeof Note>;
let stop: () => void = () => undefined;

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncContexts());
  db = await testDynamoDB();
  shop = table({ name: uniqueTableName('tracing'), client: db.client });
  notes = shop.of(Note);
  await createTable(shop).waitUntilActive();
});
afterAll(async () => {
  context.disable();
  await db.close();
});
beforeEach(() => exporter.reset());
afterEach(() => stop());

const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
const only = (): ReadableSpan => {
  expect(spans()).toHaveLength(1);
  return spans()[0]!;
};

describe('traceWithOpenTelemetry()', () => {
  it('makes a span of a call, without its key and values', async () => {
    stop = traceWithOpenTelemetry({ tracer });
    await notes.put({ id: 'secret-id', text: 'secret-text' });
    const span = only();
    expect([span.name, span.kind, span.status]).toEqual(['PutItem', SpanKind.CLIENT, { code: SpanStatusCode.UNSET }]);
    expect(span.attributes).toEqual({
      'db.system': 'dynamodb',
      'db.system.name': 'aws.dynamodb',
      'db.operation': 'PutItem',
      'db.operation.name': 'PutItem',
      'aws.dynamodb.table_names': [shop.name],
      'safewrites.entity': 'NOTE',
      'safewrites.outcome': 'ok',
    });
    expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain('secret');
  });

  it('makes one of every request', async () => {
    await notes.put({ id: 'a', text: 't' });
    stop = traceWithOpenTelemetry({ tracer });
    await notes.get({ id: 'a' }).item();
    await notes.query({ id: 'a' }).all();
    await scan(notes).segments(2).count();
    await transactGet(shop, { a: notes.get({ id: 'a' }) }).send();
    await batchGet(shop, { all: Array.from({ length: 101 }, (_, i) => notes.get({ id: `${i}` })) }).send();
    await batchWrite(shop, [notes.delete({ id: 'b' }), notes.delete({ id: 'c' })]);
    await transactWrite(shop, { a: notes.put({ id: 'a', text: 'u' }) });
    await createTable(shop).ifNotExists().timeToLive();
    expect(spans().map(({ name, attributes }) => [name, attributes['db.operation.batch.size']])).toEqual([
      ['GetItem', undefined],
      ['Query', undefined],
      ['Scan', undefined],
      ['Scan', undefined],
      ['TransactGetItems', 1],
      ['BatchGetItem', 100],
      ['BatchGetItem', 1],
      ['BatchWriteItem', 2],
      ['TransactWriteItems', 1],
      ['CreateTable', undefined],
      ['DescribeTable', undefined],
      ['DescribeTimeToLive', undefined],
      ['UpdateTimeToLive', undefined],
    ]);
  });

  it('takes what is thrown for an error', async () => {
    await notes.put({ id: 'a', text: 't' });
    stop = traceWithOpenTelemetry({ tracer });
    await expect(notes.unique({ id: 'a', text: 't' }).send()).rejects.toBeInstanceOf(ConditionalCheckFailedException);
    const span = only();
    expect(span.status).toEqual({
      code: SpanStatusCode.ERROR,
      message: 'The condition of a write of NOTE did not hold; nothing was written.',
    });
    expect(span.attributes['error.type']).toBe('ConditionalCheckFailedException');
    expect(span.attributes['safewrites.outcome']).toBeUndefined();
  });

  it("tells the name only of DynamoDB's own errors, whose messages may quote values", async () => {
    stop = traceWithOpenTelemetry({ tracer });
    const missing = table({ name: 'missing-table', client: db.client }).of(Note);
    await expect(missing.get({ id: 'a' }).item()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    expect(only().status).toEqual({ code: SpanStatusCode.ERROR, message: 'ResourceNotFoundException' });
  });

  it('takes an expected failed condition for no error', async () => {
    await notes.put({ id: 'a', text: 't' });
    stop = traceWithOpenTelemetry({ tracer });
    await notes.unique({ id: 'a', text: 't' }).trySend();
    await transactWrite(shop, { a: notes.unique({ id: 'a', text: 't' }) }).trySend();
    expect(spans().map(({ status, attributes }) => [status.code, attributes['safewrites.outcome']])).toEqual([
      [SpanStatusCode.UNSET, 'conditionNotMet'],
      [SpanStatusCode.UNSET, 'notCommitted'],
    ]);
  });

  it('makes a child of the span that is active', async () => {
    stop = traceWithOpenTelemetry({ tracer });
    const parent = tracer.startSpan('request');
    await context.with(trace.setSpan(context.active(), parent), () => notes.put({ id: 'a', text: 't' }).send());
    expect(only().parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
  });

  it('is active during the request, given the context of OpenTelemetry', async () => {
    stop = traceWithOpenTelemetry({ tracer, context, trace });
    const seen: (string | undefined)[] = [];
    const client = new Proxy(db.client, {
      get: (target, name) =>
        name === 'send'
          ? async (...args: [never]) => {
              await Promise.resolve();
              seen.push(trace.getActiveSpan()?.spanContext().spanId);
              return target.send(...args);
            }
          : (Reflect.get(target, name, target) as unknown),
    });
    const traced = table({ name: shop.name, client }).of(Note);
    const [first, second] = await Promise.all([
      traced.put({ id: 'a', text: 't' }).then(() => trace.getActiveSpan()),
      traced
        .get({ id: 'a' })
        .item()
        .then(() => trace.getActiveSpan()),
    ]);
    expect(new Set(seen).size).toBe(2);
    expect(new Set(seen)).toEqual(new Set(spans().map((span) => span.spanContext().spanId)));
    // The caller goes on in its own context.
    expect([first, second]).toEqual([undefined, undefined]);
  });

  it('makes no span after it was stopped, and ends those in flight', async () => {
    stop = traceWithOpenTelemetry({ tracer, context, trace });
    const put = notes.put({ id: 'a', text: 't' }).send();
    stop();
    await notes.put({ id: 'b', text: 't' });
    await put;
    expect(only().attributes['db.operation']).toBe('PutItem');
  });

  it('starts twice as two', async () => {
    const stopFirst = traceWithOpenTelemetry({ tracer });
    stop = traceWithOpenTelemetry({ tracer });
    stopFirst();
    await notes.put({ id: 'a', text: 't' });
    expect(spans()).toHaveLength(1);
  });
});

describe('the tracing channel', () => {
  it('tells nothing of what a call answers', async () => {
    await notes.put({ id: 'a', text: 'secret-text' });
    const seen: CommandTrace[] = [];
    const listen = (message: unknown): void => void seen.push(message as CommandTrace);
    const channel = `tracing:${tracingChannelName}:asyncEnd`;
    subscribe(channel, listen);
    const item = await notes.get({ id: 'a' }).item();
    unsubscribe(channel, listen);
    expect(item?.text).toBe('secret-text');
    expect(seen).toMatchObject([{ operation: 'GetItem', table: shop.name, entity: 'NOTE', outcome: 'ok' }]);
    expect(JSON.stringify(seen)).not.toContain('secret');
  });
});
