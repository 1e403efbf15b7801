import type { Table } from '../commands/index.js';
import type { Effect } from '../recipes/index.js';
import type { HttpAnswer } from './answer.js';
import type { CallLine } from './call-log.js';
import type { HttpEvent } from './event.js';
import type { DescribeIssue, Schema } from './schema.js';

/** One run of an endpoint's handler. */
export interface HttpCall {
  readonly event: HttpEvent;
  /** Aborts shortly before the function's deadline: pass it to every request. */
  readonly signal: AbortSignal;
  /** When the run began. */
  readonly now: Date;
  /** 1 for the first; a call that met another one runs again. */
  readonly attempt: number;
  /** The request's W3C trace context, where it sent a valid one. */
  readonly traceparent: string | undefined;
}

/** What {@link idempotent} takes. */
export interface IdempotentOptions<B> {
  readonly table: Table;
  /**
   * Builds the effect: `commit(steps, answer, onFailed)` or `refuse(answer)`. It runs again after a conflict, so its
   * only writes are the steps. What it throws is not stored: `ProblemError` for a problem of the request, anything else
   * is answered with 500 or, where DynamoDB is not to be reached, 503.
   */
  handle(body: B, call: HttpCall): Effect<HttpAnswer> | Promise<Effect<HttpAnswer>>;
  /** Checks the body, of any library that follows the Standard Schema. Without it, the body is any JSON or undefined. */
  readonly schema?: Schema<B>;
  /** The text of a schema's issue, if it quotes nothing of the request. @default none: only the place is told */
  readonly describeIssue?: DescribeIssue;
  /**
   * What is served, such as `POST /orders/{id}`; other methods and paths are refused. @default the environment
   * variable SAFEWRITES_ROUTE, which the construct sets; without it, whatever arrives
   */
  readonly route?: string;
  /**
   * Whose key it is: two callers may choose the same one. Required where no authorizer of IAM or JWT names the caller.
   * @default principalOf
   */
  readonly scope?: (event: HttpEvent) => string | undefined;
  /** How long an answer is replayed, in seconds; longer than clients retry. @default 86,400: a day */
  readonly horizonSeconds?: number;
  /** For traffic with many repeats: see `idempotentTransaction`. @default false */
  readonly readFirst?: boolean;
  /** Runs of a call that meets others, the first included. @default 5 */
  readonly maxAttempts?: number;
  /** Headers that are stored and replayed. @default content-type, content-language, etag, link, location */
  readonly headers?: readonly string[];
  /** @default 262,144: 256 KiB */
  readonly maximumBodyBytes?: number;
  /** Milliseconds before the function's deadline at which a call is answered with 503. @default 500 */
  readonly deadlineMarginMs?: number;
  /** Takes the line of each call. @default writes it to standard output as JSON */
  readonly log?: (line: CallLine) => void;
  /** @default Date.now */
  readonly now?: () => number;
}
