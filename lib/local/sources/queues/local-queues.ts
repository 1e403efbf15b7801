import type { AddressInfo } from 'node:net';
import type * as Fauxqs from 'fauxqs';
import type { LocalRequestHandler } from '../../request-handler.js';
import { FauxqsStore } from './fauxqs-store.js';
import { LocalQueue } from './local-queue.js';
import type { LocalQueueOptions } from './local-queue.js';

/** What {@link createLocalQueues} takes. */
export interface LocalQueuesOptions {
  /** The time in epoch milliseconds, for tests that move it. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** SQS in this process, without its network. */
export interface LocalQueues {
  /**
   * Makes a queue; a name that ends in `.fifo` makes a FIFO queue.
   *
   * @throws Error for a name that is taken or that SQS refuses, or a dead letter queue of the other kind
   */
  create(name: string, options?: LocalQueueOptions): LocalQueue;
  /** The queue of this name. */
  queue(name: string): LocalQueue | undefined;
  list(): LocalQueue[];
  /**
   * To spread into `new SQSClient({ … })` or `new SNSClient({ … })`: requests are answered in this process, by fauxqs, which
   * must be installed.
   */
  readonly clientConfig: {
    readonly region: string;
    readonly endpoint: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly requestHandler: LocalRequestHandler;
  };
  /** Serves the API of SQS, and of SNS, on 127.0.0.1 by fauxqs; without a port, on a free one. */
  listen(options?: { port?: number | undefined }): Promise<{ endpoint: string; port: number }>;
  /** Stops serving. */
  close(): Promise<void>;
}

/** The address of a queue below an endpoint. */
export const queueUrl = (endpoint: string, name: string): string => `${endpoint}/000000000000/${name}`;

/**
 * Makes SQS queues in memory, standard and FIFO, with redrive, on a clock that tests may hold. Handlers are fed from them by
 * {@link sqsSource}; code that sends uses an SDK client with `clientConfig`, or the endpoint of `listen`.
 *
 * @example
 * import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
 *
 * const queues = createLocalQueues();
 * const failed = queues.create('failed');
 * const orders = queues.create('orders', { redrive: { deadLetterQueue: failed, maxReceiveCount: 3 } });
 * const client = new SQSClient(queues.clientConfig);
 * await client.send(new SendMessageCommand({ QueueUrl: 'orders', MessageBody: '{"id":"o1"}' }));
 * console.log(orders.messages().length); // 1
 * await queues.close();
 */
export function createLocalQueues({ clock = Date.now }: LocalQueuesOptions = {}): LocalQueues {
  const queues = new Map<string, LocalQueue>();
  const create = (name: string, options: LocalQueueOptions = {}): LocalQueue => {
    if (!/^[\w-]{1,80}$/.test(name.replace(/\.fifo$/, '')) || name.length > 80) {
      throw new RangeError('A queue is named by 1 to 80 letters, digits, _ and -; a FIFO queue ends in .fifo.');
    }
    if (queues.has(name)) throw new Error(`There is a queue ${name} already.`);
    const dead = options.redrive?.deadLetterQueue;
    if (dead !== undefined && dead.fifo !== name.endsWith('.fifo')) {
      throw new Error(`The dead letter queue of ${name} must be of its kind: both FIFO, or both standard.`);
    }
    const queue = new LocalQueue(name, `arn:aws:sqs:us-east-1:000000000000:${name}`, options, clock);
    queues.set(name, queue);
    return queue;
  };
  const store = new FauxqsStore({
    queues: () => queues.values(),
    queue: (name) => queues.get(name),
    create,
    delete: (name) => void queues.delete(name),
  });
  let app: Promise<FauxqsApp> | undefined;
  const fauxqs = () => (app ??= loadFauxqs(store));
  return {
    create,
    queue: (name) => queues.get(name),
    list: () => [...queues.values()],
    clientConfig: {
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9324',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: injecting(fauxqs),
    },
    async listen({ port = 0 } = {}) {
      const served = await fauxqs();
      await served.listen({ host: '127.0.0.1', port });
      const authority = `127.0.0.1:${(served.server.address() as AddressInfo).port}`;
      store.listensOn(authority);
      return { endpoint: `http://${authority}`, port: (served.server.address() as AddressInfo).port };
    },
    async close() {
      await (await app)?.close();
    },
  };
}

type FauxqsApp = Awaited<ReturnType<typeof Fauxqs.buildApp>>;

async function loadFauxqs(store: FauxqsStore): Promise<FauxqsApp> {
  let module: typeof Fauxqs;
  try {
    module = await import('fauxqs');
  } catch (cause) {
    throw new Error('The API of SQS is answered by fauxqs, which is not installed: npm install -D fauxqs@2.4.1', {
      cause,
    });
  }
  // A store of ours in place of fauxqs's: its class has private members, so that no type can say so.
  return module.buildApp({ logger: false, defaultRegion: 'us-east-1', stores: { sqsStore: store } as never });
}

/** Answers SDK clients without a socket. */
function injecting(app: () => Promise<FauxqsApp>): LocalRequestHandler {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request) {
      const {
        headers,
        body,
        method = 'POST',
        path = '/',
      } = request as typeof request & { method?: string; path?: string };
      const answer = await (
        await app()
      ).inject({
        method: method as 'POST',
        url: path,
        headers,
        ...(body === undefined || body === null
          ? {}
          : { payload: typeof body === 'string' ? body : bytesOf(body as Uint8Array) }),
      });
      const answered = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
      return {
        response: {
          statusCode: answer.statusCode,
          headers: Object.fromEntries(answered) as Record<string, string>,
          body: answer.rawPayload,
        },
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  };
}

/** Not copied: the SDK's bytes warn whoever takes them for text. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);
