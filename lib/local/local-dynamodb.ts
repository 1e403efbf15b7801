import { CLOSED, Dispatcher } from './dispatcher.js';
import { loadDynalite } from './engine/dynalite.js';
import { Engine } from './engine/engine.js';
import { openJournal } from './engine/journal.js';
import { REGION } from './engine/overlay.js';
import { Store } from './engine/store.js';
import type { Faults } from './faults.js';
import { startServer } from './http-server.js';
import type { LocalServer } from './http-server.js';
import { createOperations } from './operations/index.js';
import { createRequestHandler } from './request-handler.js';
import type { LocalRequestHandler } from './request-handler.js';
import type { LocalRequest } from './request-log.js';
import { Streams } from './streams/streams.js';
import { sweepExpired } from './ttl-sweep.js';

export interface LocalDynamoDBOptions {
  /** A folder to keep everything in; without it, all data is in memory and gone at `close`. One process at a time. */
  dataDir?: string | undefined;
  /** The time in epoch milliseconds, for tests that move it; default `Date.now`. */
  clock?: (() => number) | undefined;
  /** How long a transaction holds its items before it commits; default one turn of the event loop. */
  transactionMs?: number | undefined;
  /** Decides what goes wrong with which request; see `setFaults`. */
  faults?: Faults | undefined;
  /** How many shards a new stream has; default 4, as the streams of new on-demand tables. */
  streamShards?: number | undefined;
}

/** A DynamoDB in this process. */
export interface LocalDynamoDB {
  /** Answers SDK v3 clients in process, without sockets. */
  readonly requestHandler: LocalRequestHandler;
  /** To spread into `new DynamoDBClient({ … })`. The endpoint is a name only: nothing connects to it. */
  readonly clientConfig: {
    readonly region: string;
    readonly endpoint: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly requestHandler: LocalRequestHandler;
  };
  /** Also serves HTTP on 127.0.0.1, for other processes; without a port, on a free one. */
  listen(options?: { port?: number | undefined }): Promise<{ endpoint: string; port: number }>;
  /** Calls the listener after each request; the result removes it. */
  onRequest(listener: (request: LocalRequest) => void): () => void;
  /** Makes requests go wrong from now on, as the hook decides; undefined ends it. */
  setFaults(faults: Faults | undefined): void;
  /** Deletes the items whose time to live has passed on the clock, and tells how many; nothing else ever does. */
  sweep(): Promise<number>;
  /** Splits each open shard of a table's stream in two, as a growing table does. */
  splitShards(tableName: string): Promise<void>;
  /** Stops serving and closes the data folder. */
  close(): Promise<void>;
}

/**
 * Starts an embedded DynamoDB: in memory, or in a folder with `dataDir`. It binds nothing until `listen()`.
 *
 * @throws Error where the folder can't be written, or another process has it open
 * @example
 * const dynamodb = await createLocalDynamoDB();
 * const shop = table({ name: 'shop', client: new DynamoDBClient(dynamodb.clientConfig) });
 * await createTable(shop);
 * await dynamodb.close();
 */
export async function createLocalDynamoDB(options: LocalDynamoDBOptions = {}): Promise<LocalDynamoDB> {
  const dynalite = await loadDynalite();
  const store = await Store.open(options.dataDir === undefined ? undefined : await openJournal(options.dataDir));
  const clock = options.clock ?? Date.now;
  const streams = new Streams(store, clock, options.streamShards ?? 4);
  const engine = new Engine(store, dynalite, clock, options.transactionMs ?? 0, streams);
  const dispatcher = new Dispatcher(engine, createOperations(engine));
  dispatcher.faults = options.faults;
  const requestHandler = createRequestHandler(dispatcher);
  const servers = new Set<LocalServer>();
  let closed: Promise<void> | undefined;
  return {
    requestHandler,
    clientConfig: {
      region: REGION,
      endpoint: 'http://127.0.0.1:8000',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler,
    },
    async listen({ port } = {}) {
      requireOpen();
      const server = await startServer(dispatcher, port);
      servers.add(server);
      if (closed) await server.close(Promise.resolve());
      requireOpen();
      return { endpoint: server.endpoint, port: server.port };
    },
    onRequest: (listener) => dispatcher.onRequest(listener),
    setFaults(faults) {
      dispatcher.faults = faults;
    },
    async sweep() {
      requireOpen();
      const deleted = sweepExpired(engine);
      await store.durable();
      return deleted;
    },
    async splitShards(tableName) {
      requireOpen();
      store.apply(streams.split(engine.table(tableName)));
      await store.durable();
    },
    close: () => (closed ??= closeAll()),
  };

  function requireOpen(): void {
    if (closed) throw new Error(CLOSED);
  }

  async function closeAll(): Promise<void> {
    const drained = dispatcher.close();
    await Promise.all([...servers].map((server) => server.close(drained)));
    await drained;
    await store.close();
  }
}
