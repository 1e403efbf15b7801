import { channel, tracingChannel } from 'node:diagnostics_channel';
import { rethrow } from '../send/failures.js';

/** What a subscriber of the tracing channel sees of one call. Never a key, a value or an item. */
export interface CommandTrace {
  /** DynamoDB's name of the operation, such as UpdateItem. */
  readonly operation: string;
  readonly table: string;
  /** The entity's name; of a transaction or batch, absent. */
  readonly entity?: string | undefined;
  /** Number of actions of a transaction or batch. */
  readonly actions?: number | undefined;
  /** Set when the call ended as its caller asked for: a failed condition of `trySend` is an answer, not an error. */
  outcome?: 'ok' | 'conditionNotMet' | 'notCommitted';
  /** Set where the call threw. */
  error?: unknown;
}

/**
 * The name under which calls are traced: `tracing:safewrites:command:asyncStart` and so on.
 *
 * @example
 * import { tracingChannel } from 'node:diagnostics_channel';
 * tracingChannel<CommandTrace, CommandTrace>(tracingChannelName).asyncEnd.subscribe((call) => {
 *   const { operation, outcome } = call as CommandTrace;
 *   console.log(operation, outcome);
 * });
 */
export const tracingChannelName = 'safewrites:command';
/** Found by name, so that a subscriber of any copy of the package sees the calls of all. */
export const calls = tracingChannel<CommandTrace, CommandTrace>(tracingChannelName);

/** Runs a call; costs one property read where nobody subscribed. What DynamoDB refused is thrown in words that quote no value. */
export const traced = <R>(trace: CommandTrace, run: (trace: CommandTrace) => Promise<R>): Promise<R> =>
  calls.hasSubscribers ? published(trace, run) : run(trace).catch(rethrow);

const published = async <R>(trace: CommandTrace, run: (trace: CommandTrace) => Promise<R>): Promise<R> => {
  let result: R;
  // The channel tells its subscribers what a call resolves to, and items are no business of theirs.
  await calls.tracePromise(async () => {
    result = await run(trace).catch(rethrow);
  }, trace);
  return result!;
};

/**
 * The life of command objects, for test kits that report commands which were built and never sent.
 * `from` is the command that a clause was called on.
 */
export interface CommandLife {
  readonly command: object;
  readonly event: 'created' | 'used';
  readonly from?: object | undefined;
  readonly what?: string;
}

/** The channel of {@link CommandLife}: plain, process-wide and found by name, so that it works across copies. */
export const lifeChannel = channel('safewrites:life');
