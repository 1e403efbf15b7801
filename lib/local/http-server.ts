import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { errorAnswer, type Dispatcher } from './dispatcher.js';
import { requestTooLarge } from './engine/api-error.js';
import { requestBody } from './request-body.js';

const MAX_BODY = 16 * 1024 * 1024;
const HOST = '127.0.0.1';

/** A server on this computer only, for clients in other processes. */
export interface LocalServer {
  endpoint: string;
  port: number;
  /** Takes no more connections; `drained` tells when the requests under way have their answers. */
  close(drained: Promise<void>): Promise<void>;
}

export async function startServer(dispatcher: Dispatcher, port = 0): Promise<LocalServer> {
  const server = createServer((request, response) => {
    serve(dispatcher, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await listening(server, port);
  const address = server.address() as AddressInfo;
  return {
    endpoint: `http://${HOST}:${address.port}`,
    port: address.port,
    close: async (drained) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await drained;
      // The last answers are on their way; clients that keep their connection open are not waited for.
      const impatient = setTimeout(() => server.closeAllConnections(), 100);
      await closed;
      clearTimeout(impatient);
    },
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `Port ${port} is in use: stop the process that listens on it, choose another port, or pass port 0 to get a free one.`,
              { cause: error },
            )
          : error,
      );
    });
    server.listen(port, HOST, resolve);
  });
}

async function serve(dispatcher: Dispatcher, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    send(response, 200, 'healthy: dynamodb.us-east-1.amazonaws.com ', 'text/plain');
    return;
  }
  const body = await requestBody(request, MAX_BODY);
  const target = request.headers['x-amz-target'];
  const { statusCode, body: answer } =
    body === undefined
      ? TOO_LARGE
      : await dispatcher.dispatch(typeof target === 'string' ? target : undefined, body.toString());
  send(response, statusCode, answer, 'application/x-amz-json-1.0');
}

const TOO_LARGE = errorAnswer(requestTooLarge());

function send(response: ServerResponse, statusCode: number, body: string, contentType: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(statusCode, {
    'content-type': contentType,
    'content-length': bytes.length,
    'x-amz-crc32': crc32(bytes),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(bytes);
}
