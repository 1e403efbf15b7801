import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requestBody } from '../../request-body.js';
import type { LocalRequestHandler } from '../../request-handler.js';
import { eventPattern } from '../mapping/event-pattern.js';
import type { EventPattern } from '../mapping/event-pattern.js';
import { readPutEvents } from './put-events.js';
import type { LocalBusEvent } from './put-events.js';

/** An event, and the bus that it arrived on. */
export interface ArrivedEvent {
  readonly bus: string;
  readonly event: LocalBusEvent;
}

/** What {@link createLocalEventBridge} takes. */
export interface LocalEventBridgeOptions {
  /** Names of buses beside `default`. @default none */
  readonly buses?: readonly string[] | undefined;
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** EventBridge's buses in this process: they take PutEvents, and show what arrived. */
export interface LocalEventBridge {
  /** Makes another bus. */
  createBus(name: string): void;
  /** The last 1000 events, oldest first. */
  events(): readonly ArrivedEvent[];
  /** Calls the listener with each event; the result removes it. */
  onEvent(listener: (arrived: ArrivedEvent) => void): () => void;
  /**
   * Gives each event of a bus that matches the pattern to a target, such as a queue's `send`.
   *
   * @throws TypeError for a pattern that is not understood
   */
  rule(rule: {
    readonly bus?: string | undefined;
    readonly pattern: EventPattern;
    readonly target: (event: LocalBusEvent) => void;
  }): void;
  /** To spread into `new EventBridgeClient({ … })`: requests are answered in this process. */
  readonly clientConfig: {
    readonly region: string;
    readonly endpoint: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly requestHandler: LocalRequestHandler;
  };
  /** Also serves HTTP on 127.0.0.1; without a port, on a free one. */
  listen(options?: { port?: number | undefined }): Promise<{ endpoint: string; port: number }>;
  /** Stops serving. */
  close(): Promise<void>;
}

const keep = 1000;

/** Entries of 1 MB in all, and what their escapes and names add as JSON: a longer request can hold none that is taken. */
const maxRequestBytes = 8 * 1024 * 1024;

interface Answer {
  readonly statusCode: number;
  readonly body: string;
}

/**
 * Makes EventBridge buses in memory. They take PutEvents by its limits; an entry without source, detail type or JSON detail
 * fails alone. A bus that does not exist refuses the call, so that a wrong name is noticed.
 *
 * @example
 * import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
 *
 * const bridge = createLocalEventBridge({ buses: ['orders'] });
 * const client = new EventBridgeClient(bridge.clientConfig);
 * const entry = { EventBusName: 'orders', Source: 'shop', DetailType: 'OrderPaid', Detail: '{"id":"o1"}' };
 * await client.send(new PutEventsCommand({ Entries: [entry] }));
 * console.log(bridge.events().map(({ event }) => event['detail-type'])); // ['OrderPaid']
 */
export function createLocalEventBridge({
  buses = [],
  clock = Date.now,
}: LocalEventBridgeOptions = {}): LocalEventBridge {
  const names = new Set(['default', ...buses]);
  const events: ArrivedEvent[] = [];
  const listeners = new Set<(arrived: ArrivedEvent) => void>();
  const rules: { bus: string; matches: (event: unknown) => boolean; target: (event: LocalBusEvent) => void }[] = [];

  const take = (arrived: ArrivedEvent): void => {
    events.push(arrived);
    if (events.length > keep) events.shift();
    for (const listener of listeners) listener(arrived);
    for (const { bus, matches, target } of rules)
      if (bus === arrived.bus && matches(arrived.event)) target(arrived.event);
  };

  const answer = (target: string | undefined, body: string): Answer => {
    if (target !== 'AWSEvents.PutEvents') {
      return refusal('UnknownOperationException', 'A local bus takes PutEvents, and nothing else.');
    }
    let input: unknown;
    try {
      input = JSON.parse(body);
    } catch {
      return refusal('SerializationException', 'The request is no JSON.');
    }
    const read = readPutEvents(input, clock());
    if (!Array.isArray(read)) return refusal(read.type, read.message);
    if (read.some((entry) => 'bus' in entry && !names.has(entry.bus))) {
      return refusal('ResourceNotFoundException', 'There is no event bus of this name.');
    }
    try {
      for (const entry of read) if ('bus' in entry) take(entry);
    } catch (error) {
      // What a listener or a target throws must not end the process that serves others.
      const message = `A listener or a target of a rule failed: ${error instanceof Error ? error.message : String(error)}`;
      return { ...refusal('InternalException', message), statusCode: 500 };
    }
    const Entries = read.map((entry) => ('bus' in entry ? { EventId: entry.event.id } : entry));
    const FailedEntryCount = read.filter((entry) => !('bus' in entry)).length;
    return { statusCode: 200, body: JSON.stringify({ FailedEntryCount, Entries }) };
  };

  const server = createServer((request, response) => void serve(request, response, answer));
  return {
    createBus: (name) => void names.add(name),
    events: () => [...events],
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    rule({ bus = 'default', pattern, target }) {
      rules.push({ bus, matches: eventPattern(pattern), target });
    },
    clientConfig: {
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:4010',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: inProcess(answer),
    },
    async listen({ port = 0 } = {}) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
      });
      const { port: own } = server.address() as AddressInfo;
      return { endpoint: `http://127.0.0.1:${own}`, port: own };
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const contentType = 'application/x-amz-json-1.1';

const refusal = (type: string, message: string): Answer => ({
  statusCode: 400,
  body: JSON.stringify({ __type: type, message }),
});

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (target: string | undefined, body: string) => Answer,
): Promise<void> {
  let sent: Buffer | undefined;
  try {
    sent = await requestBody(request, maxRequestBytes);
  } catch {
    response.destroy();
    return;
  }
  const target = request.headers['x-amz-target'];
  const { statusCode, body } =
    sent === undefined
      ? { ...refusal('RequestEntityTooLargeException', 'The request is over the limit.'), statusCode: 413 }
      : answer(typeof target === 'string' ? target : undefined, sent.toString());
  response.writeHead(statusCode, { 'content-type': contentType, 'x-amzn-requestid': randomUUID() });
  response.end(body);
}

const inProcess = (answer: (target: string | undefined, body: string) => Answer): LocalRequestHandler => ({
  metadata: { handlerProtocol: 'http/1.1' },
  handle({ headers, body }) {
    const text = typeof body === 'string' ? body : bytes(body as Uint8Array);
    const { statusCode, body: answered } = answer(headers['x-amz-target'], text);
    return Promise.resolve({
      response: { statusCode, headers: { 'content-type': contentType }, body: Buffer.from(answered) },
    });
  },
  updateHttpClientConfig: () => undefined,
  httpHandlerConfigs: () => ({}),
  destroy: () => undefined,
});

const bytes = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
