import type { EventSource } from '../event-source.js';
import { maxPayloadBytes } from '../mapping/batch-lane.js';
import { reportedFailures } from '../mapping/batch-response.js';
import type { CallReport } from '../mapping/call-report.js';
import { eventPattern } from '../mapping/event-pattern.js';
import type { EventPattern } from '../mapping/event-pattern.js';
import { invokeHandler } from '../mapping/invoke.js';
import type { Invocation, Invoke, LocalHandler } from '../mapping/invoke.js';
import { checkSetting } from '../mapping/settings.js';
import { SourceLoop } from '../mapping/source-loop.js';
import { maxMessageBytes, payloadBytes } from '../queues/local-queue.js';
import type { LocalQueue, ReceivedLocalMessage } from '../queues/local-queue.js';
import { sqsRecord } from './sqs-record.js';

/** What {@link sqsSource} takes, by the names of Lambda's API. */
export interface SqsSourceOptions {
  readonly queue: LocalQueue;
  /** The function: a Lambda handler in this process. It gets a copy of the event. */
  readonly handler: LocalHandler;
  /** Messages of a call: 1 to 10,000, 1 to 10 of a FIFO queue. @default 10 */
  readonly batchSize?: number | undefined;
  /** How long messages of a standard queue are gathered: 0 to 300. @default 0 */
  readonly maximumBatchingWindowInSeconds?: number | undefined;
  /** Calls at once: 1 to 2,000; Lambda takes 2 at least. @default 5 */
  readonly maximumConcurrency?: number | undefined;
  /** Whether the handler's response names the messages that failed. @default false */
  readonly reportBatchItemFailures?: boolean | undefined;
  /** Messages that match none of these are deleted. The body counts as JSON where it is. @default none: all are handled */
  readonly filters?: readonly EventPattern[] | undefined;
  /** The queue's clock. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Takes what became of each call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
}

/**
 * Calls a handler with the messages of a queue, as Lambda's event source mapping does
 * (https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html): in batches, with partial responses, and nothing deleted that was not done.
 * What failed is visible again after the visibility timeout; the queue's redrive takes what failed too often. Of a FIFO
 * queue a call gets several messages of a group, in order, and the group waits while they are in flight.
 *
 * A response that is malformed or names a message of no batch fails the batch. A call gets at most 6 MB.
 *
 * @throws RangeError for settings that Lambda refuses
 * @example
 * const queues = createLocalQueues();
 * const scores = queues.create('scores.fifo', { contentBasedDeduplication: true });
 * scores.send({ body: '{"home":1}', groupId: 'm1' });
 * const source = sqsSource({
 *   queue: scores,
 *   handler: (event: { Records: { body: string }[] }) => console.log(event.Records.length),
 * });
 * await source.drain(); // or start() and, in the end, stop()
 */
export const sqsSource = ({ handler, ...options }: SqsSourceOptions): EventSource =>
  sqsMapping({ ...options, invoke: invokeHandler(handler) });

/** {@link sqsSource} for any way to call the function. */
export function sqsMapping({
  queue,
  invoke,
  batchSize = 10,
  maximumBatchingWindowInSeconds = 0,
  maximumConcurrency = 5,
  reportBatchItemFailures = false,
  filters = [],
  clock = Date.now,
  onCall,
}: Omit<SqsSourceOptions, 'handler'> & { readonly invoke: Invoke }): EventSource {
  checkSetting('batchSize', batchSize, 1, queue.fifo ? 10 : 10_000);
  checkSetting('maximumBatchingWindowInSeconds', maximumBatchingWindowInSeconds, 0, queue.fifo ? 0 : 300);
  checkSetting('maximumConcurrency', maximumConcurrency, 1, 2000);
  const patterns = filters.map(eventPattern);
  const wanted = (message: ReceivedLocalMessage) =>
    patterns.length === 0 || patterns.some((matches) => matches(filterable(message, queue.arn)));

  let gathered: ReceivedLocalMessage[] = [];
  let bytes = 0;
  let since = 0;
  let running = 0;

  const gather = (): void => {
    while (gathered.length < batchSize) {
      const messages = queue.receive(batchSize - gathered.length, { maxBytes: maxPayloadBytes - bytes });
      if (messages.length === 0) return;
      if (gathered.length === 0) since = clock();
      for (const message of messages) {
        if (!wanted(message)) queue.delete(message.receiptHandle);
        else {
          gathered.push(message);
          bytes += payloadBytes(message.body);
        }
      }
      if (queue.fifo && gathered.length > 0) return;
    }
  };
  const full = () => gathered.length >= batchSize || bytes + maxMessageBytes > maxPayloadBytes;
  const dueAt = () => (full() ? since : since + maximumBatchingWindowInSeconds * 1000);

  const call = async (messages: readonly ReceivedLocalMessage[]): Promise<void> => {
    running += 1;
    try {
      const invocation = await invoke({ Records: messages.map((message) => sqsRecord(message, queue.arn)) });
      const failed = failedIds(invocation, messages, reportBatchItemFailures);
      for (const { messageId, receiptHandle } of messages) if (!failed.has(messageId)) queue.delete(receiptHandle);
      onCall?.({ records: messages.length, failed: failed.size, invocation });
    } finally {
      running -= 1;
    }
  };

  const loop: SourceLoop = new SourceLoop({
    poll: () => undefined,
    begin() {
      const calls: Promise<void>[] = [];
      while (running < maximumConcurrency) {
        gather();
        if (gathered.length === 0 || dueAt() > clock()) break;
        // A window longer than the visibility timeout loses messages to others.
        const batch = gathered.filter(({ receiptHandle }) => queue.inFlight(receiptHandle) !== undefined);
        gathered = [];
        bytes = 0;
        if (batch.length > 0) calls.push(call(batch));
      }
      return calls;
    },
    nextDue: () => (gathered.length > 0 ? dueAt() : queue.nextVisibleAt()),
    clock,
    intervalMs: 1000,
    onError: (error) => process.emitWarning(error as Error),
  });

  let unsubscribe: (() => void) | undefined;
  return {
    start() {
      unsubscribe ??= queue.onMessage(loop.wake);
      loop.start();
    },
    async stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      await loop.stop();
      // What was gathered for a call that never began.
      for (const { receiptHandle } of gathered.splice(0)) queue.changeVisibility(receiptHandle, 0);
      bytes = 0;
    },
    drain: () => loop.drain(),
    nextDue: () => (gathered.length > 0 ? dueAt() : queue.nextVisibleAt()),
  };
}

function failedIds(
  invocation: Invocation,
  messages: readonly ReceivedLocalMessage[],
  reporting: boolean,
): ReadonlySet<string> {
  const all = new Set(messages.map(({ messageId }) => messageId));
  if ('functionError' in invocation) return all;
  if (!reporting) return new Set();
  const reported = reportedFailures(invocation.response);
  if (reported === 'all' || !reported.every((id) => typeof id === 'string' && all.has(id))) return all;
  return new Set(reported as string[]);
}

function filterable(message: ReceivedLocalMessage, arn: string): object {
  const record = sqsRecord(message, arn);
  try {
    return { ...record, body: JSON.parse(message.body) as unknown };
  } catch {
    return record;
  }
}
