import { Server as NetServer } from 'node:net';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** How long clients with an open connection are told that it ends, before it does. */
const noticeMs = 100;

/** How long a connection may take to end once its last answer is written. */
const partingMs = 200;

/**
 * Ends a server so that its clients lose no call. A connection that just closes takes along the request which its client
 * is about to write on it; so each gets an answer with `Connection: close` first, where it asks for one.
 */
export class Drain {
  readonly #server: Server;
  readonly #calls = new Set<ServerResponse>();
  #stopping = false;
  #idle = (): void => undefined;

  /** To be made before the server has another listener for requests: this one sets a header. */
  constructor(server: Server) {
    this.#server = server;
    server.on('request', (_request, response) => {
      this.#calls.add(response);
      if (this.#stopping) response.setHeader('connection', 'close');
      response.once('close', () => {
        this.#calls.delete(response);
        if (this.#calls.size === 0) this.#idle();
      });
    });
  }

  /** Takes no new connection and lets the calls in progress end, at most as long as given; then cuts what is left. */
  async stop(callMs: number): Promise<void> {
    this.#stopping = true;
    for (const response of this.#calls) if (!response.headersSent) response.setHeader('connection', 'close');
    const closed = new Promise<void>((resolve) => {
      // The HTTP server's own also cuts the connections between two requests, at once.
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    await within(closed, noticeMs);
    this.#server.closeIdleConnections();
    await within(Promise.race([closed, this.#noCall()]), callMs);
    await within(closed, partingMs);
    this.#server.closeAllConnections();
    await closed;
    this.#server.close();
  }

  #noCall(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      if (this.#calls.size === 0) resolve();
    });
  }
}

/** Waits, but no longer than this. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([promise, wait(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
