import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** One request that the embedded DynamoDB has answered. */
export interface DynamoDBRequest {
  readonly operation: string;
  readonly items: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** `ok`, or the error's name. */
  readonly outcome: string;
}

/** Stands for the local server itself. */
const own = Symbol('own');

const channel = 'http.server.request.start';

/**
 * Tells which call a DynamoDB request belongs to, also when calls overlap.
 *
 * Inside Lambda the SDK puts the call's trace id on its requests. It is read where DynamoDB's HTTP server takes the
 * request in, and travels from there with the asynchronous context.
 */
export class DynamoDBRequests {
  readonly #trace = new AsyncLocalStorage<string | typeof own | undefined>();
  readonly #byTrace = new Map<string, DynamoDBRequest[]>();
  readonly #unclaimed: (request: DynamoDBRequest) => void;
  readonly #onRequestStart = (message: unknown): void => {
    const header = (message as { request: IncomingMessage }).request.headers['x-amzn-trace-id'];
    this.#trace.enterWith(typeof header === 'string' ? header : undefined);
  };

  /** @param unclaimed - takes the requests of no open call, such as those of a tool beside the app */
  constructor(unclaimed: (request: DynamoDBRequest) => void) {
    this.#unclaimed = unclaimed;
    subscribe(channel, this.#onRequestStart);
  }

  /** Collects the requests of one call until `end` is called. */
  begin(traceId: string): { end(): readonly DynamoDBRequest[] } {
    const requests: DynamoDBRequest[] = [];
    this.#byTrace.set(traceId, requests);
    return {
      end: () => {
        this.#byTrace.delete(traceId);
        return requests;
      },
    };
  }

  /** Runs what asks DynamoDB for the server's own sake, such as a poller: its requests in this process are not told. */
  own<T>(run: () => T): T {
    return this.#trace.run(own, run);
  }

  /** To be called as DynamoDB answers, in the request's own asynchronous context. */
  readonly add = (request: DynamoDBRequest): void => {
    const trace = this.#trace.getStore();
    if (trace === own) return;
    const call = this.#byTrace.get(trace ?? '');
    if (call === undefined) this.#unclaimed(request);
    else call.push(request);
  };

  close(): void {
    unsubscribe(channel, this.#onRequestStart);
  }
}
