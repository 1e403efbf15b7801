import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { loggedFrames, loggedName } from '../commands/errors/logged-error.js';
import { SafeWritesError, tracingChannelName } from '../commands/index.js';

/** How a call ended, for logs and metrics. */
export type CallOutcome =
  'committed' | 'refused' | 'replayed' | 'mismatch' | 'conflict' | 'invalid' | 'unavailable' | 'failed';

/**
 * What is told of each call: nothing of its key, its caller, its body or its answer. It is also CloudWatch's embedded
 * metric format (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html):
 * a 1 by the outcome's name, such as `Replayed`, and the `Duration` in milliseconds, by the function's name.
 */
export interface CallLine extends Partial<Readonly<Record<Capitalize<CallOutcome>, number>>> {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: 'Count' | 'Milliseconds' }[];
    }[];
  };
  readonly function: string;
  readonly Duration: number;
  readonly timestamp: string;
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly message: 'idempotent call';
  readonly outcome: CallOutcome;
  readonly status: number;
  readonly replayed: boolean;
  /** The library's requests in this call, the handler's own reads included; the SDK's retries are not counted. */
  readonly dynamodbRequests: number;
  readonly durationMs: number;
  /** The gateway's id of the request. */
  readonly requestId?: string | undefined;
  readonly errorName?: string | undefined;
  /** Only of an error of the kit's own, whose messages hold no values. */
  readonly errorMessage?: string | undefined;
  /** Where an error that is not the kit's came from. */
  readonly errorAt?: readonly string[] | undefined;
}

/** What is learned of a call while it runs. */
export interface CallState {
  requests: number;
  outcome: CallOutcome;
  error: unknown;
}

const calls = new AsyncLocalStorage<CallState>();
let counting = false;

/** Runs a call, counting its requests. */
export const runCall = <R>(run: () => Promise<R>): Promise<R> => {
  // Not at load: importing the package has no effect.
  if (!counting) {
    counting = true;
    subscribe(`tracing:${tracingChannelName}:start`, () => {
      const call = calls.getStore();
      if (call) call.requests++;
    });
  }
  return calls.run({ requests: 0, outcome: 'failed', error: undefined }, run);
};

/** The call that is running. */
export const currentCall = (): CallState => calls.getStore() as CallState;

const levels = { failed: 'ERROR', unavailable: 'WARN' } as const;

/** The line of a call that ended. */
export const callLine = (
  { outcome, requests, error }: CallState,
  status: number,
  started: number,
  requestId: string | undefined,
): CallLine => {
  const now = new Date();
  const durationMs = Math.round(performance.now() - started);
  const metric = (outcome.charAt(0).toUpperCase() + outcome.slice(1)) as Capitalize<CallOutcome>;
  return {
    _aws: {
      Timestamp: now.getTime(),
      CloudWatchMetrics: [
        {
          Namespace: 'SafeWrites',
          Dimensions: [['function']],
          Metrics: [
            { Name: metric, Unit: 'Count' },
            { Name: 'Duration', Unit: 'Milliseconds' },
          ],
        },
      ],
    },
    function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'endpoint',
    [metric]: 1,
    Duration: durationMs,
    timestamp: now.toISOString(),
    level: levels[outcome as keyof typeof levels] ?? 'INFO',
    message: 'idempotent call',
    outcome,
    status,
    replayed: outcome === 'replayed',
    dynamodbRequests: requests,
    durationMs,
    requestId,
    ...(error instanceof Error && {
      errorName: loggedName(error),
      ...(error instanceof SafeWritesError ? { errorMessage: error.message } : { errorAt: loggedFrames(error) }),
    }),
  };
};
