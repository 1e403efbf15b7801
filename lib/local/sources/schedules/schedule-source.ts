import { randomUUID } from 'node:crypto';
import type { EventSource } from '../event-source.js';
import type { CallReport } from '../mapping/call-report.js';
import { invokeHandler } from '../mapping/invoke.js';
import type { Invoke, LocalHandler } from '../mapping/invoke.js';
import { SourceLoop } from '../mapping/source-loop.js';
import { scheduleExpression } from './schedule-expression.js';

/** What {@link scheduleSource} takes. */
export interface ScheduleSourceOptions {
  /** `rate(…)` or `cron(…)`, in UTC. */
  readonly expression: string;
  /** The function: a Lambda handler in this process. */
  readonly handler: LocalHandler;
  /** What the function gets. @default a `Scheduled Event` of EventBridge */
  readonly input?: object | undefined;
  /** @default a rule named local */
  readonly ruleArn?: string | undefined;
  /** @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Takes what became of each call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
}

/**
 * Calls a handler on a schedule, as a rule of EventBridge does, with its `Scheduled Event`. A clock that is moved past several
 * times makes a call for each. A call that fails is not repeated.
 *
 * @throws RangeError for an expression that is not understood
 * @example
 * const clock = manualClock();
 * const sweep = scheduleSource({
 *   expression: 'rate(1 minute)',
 *   clock,
 *   handler: (event: { time: string }) => console.log(event.time),
 * });
 * clock.advance(60_000);
 * await sweep.drain();
 */
export const scheduleSource = ({ handler, ...options }: ScheduleSourceOptions): EventSource =>
  schedule({ ...options, invoke: invokeHandler(handler) });

/** {@link scheduleSource} for any way to call the function. */
export function schedule({
  expression,
  invoke,
  input,
  ruleArn = 'arn:aws:events:us-east-1:000000000000:rule/local',
  clock = Date.now,
  onCall,
}: Omit<ScheduleSourceOptions, 'handler'> & { readonly invoke: Invoke }): EventSource {
  const after = scheduleExpression(expression);
  let next = after(clock());
  const call = async (at: number): Promise<void> => {
    const invocation = await invoke(input ?? scheduledEvent(at, ruleArn));
    onCall?.({ records: 1, failed: 'functionError' in invocation ? 1 : 0, invocation });
  };
  const loop = new SourceLoop({
    poll: () => undefined,
    begin() {
      if (next === undefined || next > clock()) return [];
      const at = next;
      next = after(at);
      return [call(at)];
    },
    nextDue: () => next,
    clock,
    // A timer cannot wait for months.
    intervalMs: 60_000,
    onError: (error) => process.emitWarning(error as Error),
  });
  return {
    start: () => loop.start(),
    stop: () => loop.stop(),
    drain: () => loop.drain(),
    nextDue: () => next,
  };
}

const scheduledEvent = (at: number, ruleArn: string) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: ruleArn.split(':')[4]!,
  time: new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z'),
  region: ruleArn.split(':')[3]!,
  resources: [ruleArn],
  detail: {},
});
