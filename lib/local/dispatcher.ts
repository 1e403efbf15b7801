import { tableNames } from './corrections/table-arns.js';
import {
  ApiError,
  errorName,
  internalError,
  isApiError,
  serializationError,
  validationError,
} from './engine/api-error.js';
import type { Engine } from './engine/engine.js';
import { DroppedConnection, faultReasons, playFault } from './faults.js';
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
    let input: Body | undefined;
    try {
      input = parse(body);
      const request: FaultRequest = { operation: name, input };
      const fault = this.faults?.(request);
      if (fault) await playFault(fault, 'before', request);
      const given = input;
      const result = await settled(async () => operation(this.engine, given, meter, faultReasons(fault)));
      // A refusal too may tell of an item that another request has just written.
      await this.engine.store.durable();
      if (fault) await playFault(fault, 'after', request);
      answer = { statusCode: 200, body: JSON.stringify(result()) };
    } catch (error) {
      if (error instanceof DroppedConnection) {
        this.#log(name, 'dropped', meter, performance.now() - started);
        throw error;
      }
      const known = isApiError(error) ? error : unexpected(error, input);
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

/** What no check refused: a null where a member is expected, which the engine's checks take for one, or a defect. */
function unexpected(error: unknown, input: Body | undefined): ApiError {
  if (holds(input, (_name, value) => value === null))
    return serializationError('A member of the request is null where a value is expected');
  return internalError(error instanceof Error ? error.message : String(error));
}

/** Whether any member, however deep, is such a one. */
function holds(value: unknown, is: (name: string, member: unknown) => boolean): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries(next)) {
      if (is(name, member)) return true;
      left.push(member);
    }
  }
  return false;
}

/** Refuses a name that the engine's objects would lose without a word. */
function refuseProto(input: Body): Body {
  const isProto = (name: string, member: unknown): boolean =>
    name === '__proto__' || (name.startsWith('#') && member === '__proto__');
  if (holds(input, isProto)) throw validationError('The embedded DynamoDB has no attribute of the name __proto__');
  return input;
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
  let input: Body | undefined;
  try {
    const parsed: unknown = JSON.parse(body || '{}');
    if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) {
      input = body.includes('arn:aws:dynamodb:') ? tableNames(parsed as Body) : (parsed as Body);
    }
  } catch {
    // Falls through to the same answer.
  }
  if (input === undefined) throw serializationError('The request is not a JSON object');
  return /proto__|\\u005f/i.test(body) ? refuseProto(input) : input;
}

/** An error as an answer. */
export function errorAnswer(error: { statusCode: number; body: Body }): Answer {
  return { statusCode: error.statusCode, body: JSON.stringify(error.body) };
}
