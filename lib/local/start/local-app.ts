import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { requestBody } from '../request-body.js';
import { createLocalEventBridge } from '../sources/bus/local-event-bridge.js';
import { createLocalQueues, queueUrl } from '../sources/queues/local-queues.js';
import { callFunction, newTraceId } from './call-function.js';
import { callLine, dynamoDBRequestText } from './call-line.js';
import { createQueues } from './create-queues.js';
import { createTables } from './create-tables.js';
import { checkDataFolder, openDynamoDB } from './data-folder.js';
import { Drain } from './drain.js';
import { DynamoDBRequests } from './dynamodb-requests.js';
import type { DynamoDBRequest } from './dynamodb-requests.js';
import { eventSources } from './event-sources.js';
import type { KafkaSettings } from './event-sources.js';
import { FunctionProcess } from './function-process.js';
import { gatewayAnswer, handlerResponse, internalServerError } from './handler-response.js';
import type { HttpAnswer } from './handler-response.js';
import { answerLocal, isLocalPath } from './local-requests.js';
import type { LocalView } from './local-requests.js';
import { logLine } from './log-line.js';
import { matchRoute } from './match-route.js';
import { requestEvent, splitTarget } from './request-event.js';
import { showArrivals, showState } from './show-arrivals.js';
import { StartError } from './start-error.js';
import { readSynthesizedApp } from './synthesized-app.js';
import type { SynthesizedApp } from './synthesized-app.js';

const host = '127.0.0.1';

/** What API Gateway takes. */
const maxBody = 10 * 1024 * 1024;

/** What Lambda takes and gives. */
const maxPayload = 6 * 1024 * 1024;

// No document says what an HTTP API answers when a body within its own limit is too large for Lambda; this is the
// answer to a body above its own.
const tooLarge = gatewayAnswer(413, 'Request Entity Too Large');
const notFound = gatewayAnswer(404, 'Not Found');

/** Settings of a local app. */
export interface LocalAppOptions {
  readonly port: number;
  readonly dataDir: string | undefined;
  /** Whether the terminal shows what is stored and sent. @default true */
  readonly contents?: boolean | undefined;
  /** @default no broker */
  readonly kafka?: KafkaSettings | undefined;
  /** Gives the folder that `cdk synth` wrote; it is asked once the port and the data folder are known to be free. */
  readonly assembly: () => Promise<string>;
  readonly print: (line: string) => void;
}

/** A synthesized app that runs on this computer. */
export interface LocalApp {
  readonly url: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  readonly eventBridgeEndpoint: string;
  readonly app: SynthesizedApp;
  /** Lets the calls in progress end, then stops everything. */
  close(): Promise<void>;
}

/**
 * Serves a synthesized app: its routes over HTTP, its functions from their bundles, its tables in the embedded DynamoDB, its
 * queues, buses, event source mappings and schedules.
 */
export async function startLocalApp({
  port,
  dataDir,
  contents = true,
  kafka = { brokers: [], topic: undefined },
  assembly,
  print,
}: LocalAppOptions): Promise<LocalApp> {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    // The port is taken first, so that a second start fails at once; early requests wait for the rest.
    let serve: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined = undefined;
    const early: (() => void)[] = [];
    const server = createServer();
    const drain = new Drain(server);
    server.on('request', (request, response) => {
      const run = (): void =>
        void serve!(request, response).catch(() => {
          // A client that went away, or a fault of this server.
          if (response.headersSent || response.destroyed) response.destroy();
          else write(response, internalServerError, true);
        });
      if (serve === undefined) early.push(run);
      else run();
    });
    const url = await listen(server, port);
    let running = false;
    // Nobody answers the early ones of a start that fails.
    closers.push(() => (running ? undefined : drain.stop(0)));

    if (dataDir !== undefined) await checkDataFolder(dataDir);
    const queues = createLocalQueues();
    const bridge = createLocalEventBridge();
    closers.push(async () => void (await Promise.all([queues.close(), bridge.close()])));
    const [sqs, eventBridge] = await Promise.all([queues.listen(), bridge.listen()]);
    const addressOf = (name: string) => queueUrl(sqs.endpoint, name);
    const [dynamodb, app] = await settleBoth(
      openDynamoDB(dataDir),
      assembly().then((directory) => readSynthesizedApp(directory, addressOf)),
      (opened) => closers.push(() => opened.close()),
    );
    await createTables(dynamodb.clientConfig, app.tables);
    createQueues(queues, app.queues);
    for (const bus of app.buses) bridge.createBus(bus);
    const { endpoint } = await dynamodb.listen({ port: 0 });
    const endpoints = {
      DYNAMODB: endpoint,
      SQS: sqs.endpoint,
      SNS: sqs.endpoint,
      EVENTBRIDGE: eventBridge.endpoint,
    };

    const requests = new DynamoDBRequests((request) => print(`DynamoDB: ${dynamoDBRequestText(request)}`));
    closers.push(() => requests.close());
    closers.push(dynamodb.onRequest(requests.add));

    const functions = new Map(
      app.functions.map((fn) => [
        fn.name,
        new FunctionProcess(fn, { endpoints, print: (line) => print(`  ${logLine(line)}`) }),
      ]),
    );
    closers.push(async () => void (await Promise.all([...functions.values()].map((fn) => fn.close()))));
    await Promise.all([...functions.values()].map((fn) => fn.start()));

    const view = { dynamodb, tables: app.tables.map(({ name }) => name), queues, bridge };
    const shown = { dynamodb, queues, bridge, contents, print };
    showArrivals(app, shown);
    const sources = await requests.own(async () => {
      const feeding = { dynamodb, queues, bridge, calls: { functions, requests }, kafka, print };
      const made = [...(await showState(app.tables, shown)), ...(await eventSources(app, feeding))];
      for (const source of made) source.start();
      return made;
    });
    closers.push(async () => void (await Promise.all(sources.map((source) => source.stop()))));

    serve = (request, response) => answer(request, response, { app, functions, requests, view, print });
    for (const run of early) run();
    running = true;
    // Calls in progress must end before what they use is closed; a function that hangs ends at its timeout.
    const longest = Math.max(0, ...app.functions.map(({ timeoutSeconds }) => timeoutSeconds));
    closers.push(() => drain.stop((longest + 1) * 1000));
    return {
      url,
      dynamodbEndpoint: endpoint,
      sqsEndpoint: sqs.endpoint,
      eventBridgeEndpoint: eventBridge.endpoint,
      app,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Serving {
  readonly app: SynthesizedApp;
  readonly functions: ReadonlyMap<string, FunctionProcess>;
  readonly requests: DynamoDBRequests;
  readonly view: LocalView;
  readonly print: (line: string) => void;
}

async function answer(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const started = performance.now();
  const method = request.method ?? 'GET';
  const { path, query } = splitTarget(request.url ?? '/');
  const match = isLocalPath(path) ? undefined : matchRoute(serving.app.routes, method, path);
  const body = await requestBody(request, maxBody);
  if (isLocalPath(path) && body !== undefined) {
    write(
      response,
      await serving.requests.own(() => answerLocal(serving.view, method, path, query, body.toString())),
      false,
    );
    return;
  }

  let result: { answer: HttpAnswer; requests?: readonly DynamoDBRequest[]; note?: string };
  if (body === undefined) result = { answer: tooLarge };
  else if (match === undefined) result = { answer: notFound };
  else {
    const traceId = newTraceId();
    const event = requestEvent(request, body, match, { traceId, now: new Date() });
    if (Buffer.byteLength(JSON.stringify(event)) > maxPayload) result = { answer: tooLarge };
    else {
      const { call, requests } = await callFunction(serving, match.route.function, event, traceId);
      if ('failure' in call) result = { answer: internalServerError, requests, note: `the function ${call.failure}` };
      else {
        const given = handlerResponse(call.result);
        result =
          given.body.length > maxPayload ? { answer: internalServerError, requests } : { answer: given, requests };
      }
    }
  }

  write(response, result.answer, body === undefined);
  // The route and not the path, which may hold someone's key.
  const name = match?.route.routeKey ?? `${method} to no route`;
  serving.print(callLine(name, result.answer, performance.now() - started, result.requests ?? [], result.note));
}

function write(response: ServerResponse, { status, headers, body }: HttpAnswer, last: boolean): void {
  response.statusCode = status;
  for (const [name, value] of headers) {
    try {
      response.appendHeader(name, value);
    } catch {
      // A header that HTTP cannot carry is dropped, as it would be on the way.
    }
  }
  if (last) response.setHeader('connection', 'close');
  response.setHeader('content-length', body.length);
  response.end(body);
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        reject(
          new StartError(
            `Port ${port} is in use: stop what runs there, or take another: PORT=${port < 65_535 ? port + 1 : 3000} npm start`,
          ),
        );
      } else if (error.code === 'EACCES') {
        reject(new StartError(`Port ${port} may not be used by you: take one above 1023: PORT=3000 npm start`));
      } else reject(error);
    });
    server.listen(port, host, () => resolve(`http://${host}:${(server.address() as AddressInfo).port}`));
  });
}

/** Waits for both also when one fails, so that `opened` can close what was opened. */
async function settleBoth<A, B>(first: Promise<A>, second: Promise<B>, opened: (value: A) => void): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'fulfilled') opened(a.value);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
