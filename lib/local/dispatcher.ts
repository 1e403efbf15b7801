import { tableNames } from './corrections/table-arns.js';
import { ApiError, errorName, internalError, isApiError, serializationError } from './engine/api-error.js';
import type { Engine } from './engine/engine.js';
import { DroppedConnection, playFault } from './faults.js';
import type { FaultRequest, Faults } from './faults.js';
import { Meter } from './engine/meter.js';
import type { Body } from './engine/types.js';
import type { Operation } from './operations/operation.js';
import type { LocalRequest } from './request-log.js';

/** An answer on its way to the wire. */
export interface Answer {
  statusCode: number;
  body: string;
}

/** What is said to whoever comes after `close`. */
export const CLOSED = 'This local DynamoDB has been closed';

const TARGETS = new Set(['DynamoDB_20120810', 'DynamoDBStreams_20120810']);
const UNKNOWN_OPERATION = new ApiError(400, { __type: 'com.amazon.coral.service#UnknownOperationException' });

/** Runs requests: finds the operation, counts, logs, and turns errors into answers. */
export class Dispatcher {
  readonly #listeners = new Set<(request: LocalRequest) => void>();
  readonly #running = new Set<Promise<Answer>>();
  #closed = false;
  /** Decides what goes wrong; tests set it. */
  faults: Faults | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly operations: ReadonlyMap<string, Operation>,
  ) {}

  onRequest(listener: (request: LocalRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs one request to its answer; it rejects only when a fault drops the connection. */
  dispatch(target: string | undefined, body: string): Promise<Answer> {
    if (this.#closed) return Promise.resolve(errorAnswer(internalError(CLOSED)));
    const running = this.#run(target, body);
    this.#running.add(running);
    const ended = (): unknown => this.#running.delete(running);
    running.then(ended, ended);
    return running;
  }

  /** Refuses new requests and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
  }

  async #run(target: string | undefined, body: string): Promise<Answer> {
    const [service = '', name = ''] = (target ?? '').split('.');
    const operation = TARGETS.has(service) ? this.operations.get(name) : undefined;
    if (!operation) return errorAnswer(UNKNOWN_OPERATION);
    const meter = new Meter();
    const started = performance.now();
    let answer: Answer;
    let outcome = 'ok';
    try {
      const input = parse(body);
      const request: FaultRequest = { operation: name, input };
      const fault = this.faults?.(request);
      if (fault) await playFault(fault, 'before', request);
      const result = await settled(async () => operation(this.engine, input, meter));
      // A refusal too may tell of an item that another request has just written.
      await this.engine.store.durable();
      if (fault) await playFault(fault, 'after', request);
      answer = { statusCode: 200, body: JSON.stringify(result()) };
    } catch (error) {
      if (error instanceof DroppedConnection) {
        this.#log(name, 'dropped', meter, performance.now() - started);
        throw error;
      }
      const known = isApiError(error) ? error : internalError(error instanceof Error ? error.message : String(error));
      outcome = errorName(known.body.__type);
      answer = errorAnswer(known);
    }
    this.#log(name, outcome, meter, performance.now() - started);
    return answer;
  }

  #log(operation: string, outcome: string, meter: Meter, durationMs: number): void {
    if (this.#listeners.size === 0) return;
    const { tables, items, writeUnits, readUnits } = meter;
    const request: LocalRequest = { operation, tables, items, writeUnits, readUnits, outcome, durationMs };
    for (const listener of this.#listeners) {
      try {
        listener(request);
      } catch (error) {
        // The request has had its effect, so its answer stands; the listener's fault is reported as an event handler's is.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

/** How something ended: the result gives its value, or throws its error. */
async function settled<T>(run: () => Promise<T>): Promise<() => T> {
  try {
    const value = await run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function parse(body: string): Body {
  try {
    const parsed: unknown = JSON.parse(body || '{}');
    if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) {
      return body.includes('arn:aws:dynamodb:') ? tableNames(parsed as Body) : (parsed as Body);
    }
  } catch {
    // Falls through to the same answer.
  }
  throw serializationError('The request is not a JSON object');
}

function errorAnswer(error: { statusCode: number; body: Body }): Answer {
  return { statusCode: error.statusCode, body: JSON.stringify(error.body) };
}
