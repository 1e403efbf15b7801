import { invalid } from '../../commands/errors/errors.js';
import type { PastThrottles } from '../../commands/retry/past-throttles.js';
import { shareThrottles } from '../../commands/retry/shared-throttles.js';
import { checkFunction } from '../../recipes/arguments.js';
import { checkSource, decodeDelivery, type Decoders } from '../decoders/decoder.js';
import { poisonReasonOf, setAside } from '../poison/failure-destination.js';
import { Deadline } from '../run/deadline.js';
import { lanesOf } from '../run/lanes.js';
import { runBounded } from '../run/run-bounded.js';
import type { AnyEventRecord, Delivery } from '../sources/delivery.js';
import { readBatch } from '../sources/read-batch.js';
import { answerOf } from './answer.js';
import { batchLine, writeLine, type BatchLine } from './batch-line.js';
import { settledOptions, type BatchHandler, type BatchOptions } from './options.js';
import { Progress, type Ending } from './progress.js';

/** What a handler gets beside the message. */
export interface HandleContext {
  /** Aborts near the function's deadline: pass it to every request. */
  readonly signal: AbortSignal;
  readonly record: AnyEventRecord;
}

/** What {@link batchHandler} takes. */
export interface BatchHandlerOptions<Q, K, S> extends BatchOptions {
  /** How records become messages, by source. Records of another source are refused. */
  readonly decode: Decoders<Q, K, S>;
  /**
   * Handles a message. It is called at least once: after a failure, records that were done may come again. What it throws
   * makes the record fail, and ends its lane; PoisonRecordError sends it to the failure destination instead. Where it
   * throws that it was throttled, the record is decoded and handled again first, up to 8 times in a row.
   */
  handle(message: NoInfer<Q | K | S>, context: HandleContext): Promise<void> | void;
  /** Takes the line of each batch. @default writes it to standard output as JSON */
  readonly log?: ((line: BatchLine) => void) | undefined;
}

/**
 * A Lambda handler of batches of SQS, Kafka and DynamoDB streams: records of one lane one after the other, lanes at once up
 * to a bound, and the failures reported in the source's exact form. A lane ends at its first failure, and others go on;
 * nothing that failed or was not begun is acknowledged.
 *
 * | source | lane | reported |
 * |---|---|---|
 * | SQS | the message | message ids |
 * | SQS FIFO | the message group | the failed one and all after it in its group |
 * | Kafka | topic, partition and key; without key, the partition | the lowest offset of each partition |
 * | DynamoDB stream | the item | the lowest sequence number |
 *
 * Kafka and streams deliver all from the reported place on again, what was done among it. Memory is bounded by the batch,
 * 6 MB. It sends no request of its own. Of what was throttled a batch has 50 retries, and one more for each success
 * (docs/retries.md#throttled-batches).
 *
 * @throws InvalidInputError for options out of their bounds
 * @returns a handler that throws BatchFailedError where failures can't be told apart, and InvalidInputError for an event of
 *   a source without decoder; both make the whole batch come again
 * @example
 * export const handler = batchHandler({
 *   decode: { sqs: sqsMessages(json<{ id: string; points: number }>()) },
 *   handle: async ({ body }, { signal }) => {
 *     await accounts.update({ id: body.id }).set({ balance: body.points }).ignoreVersion().send({ signal });
 *   },
 *   failureDestination: ({ source, reason }) => console.log(source, reason),
 * });
 */
export const batchHandler = <Q = never, K = never, S = never>(options: BatchHandlerOptions<Q, K, S>): BatchHandler => {
  const settled = settledOptions(options);
  const { decode, log = writeLine } = options;
  checkFunction(log, 'log');
  if (typeof options.handle !== 'function') invalid('handle', 'expected a function');
  if (typeof decode !== 'object' || decode === null) invalid('decode', 'expected decoders by source');

  const handle = async (delivery: Delivery, signal: AbortSignal): Promise<void> => {
    const message = await decodeDelivery(delivery, decode);
    if (message !== undefined) {
      await options.handle(message as NoInfer<Q | K | S>, { signal, record: delivery.record });
    }
  };
  const run = async (delivery: Delivery, signal: AbortSignal, past: PastThrottles): Promise<Ending> => {
    try {
      await past(() => handle(delivery, signal));
      return { state: 'done' };
    } catch (error) {
      const reason = poisonReasonOf(error);
      if (reason === undefined) return { state: 'failed', error };
      return setAside(delivery, reason, error as Error, settled, signal, past);
    }
  };

  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  return async (event, context) => {
    const started = performance.now();
    const batch = readBatch(event);
    if (batch.deliveries.length > 0) checkSource(batch.source, decode);
    const deadline = new Deadline(context, settled.deadlineMarginMs);
    const progress = new Progress(batch);
    const past = shareThrottles(deadline.near, deadline.signal);
    const tasks = lanesOf(batch).map((lane) => async (): Promise<void> => {
      for (const delivery of lane) {
        if (deadline.isNear) return;
        const ending = await run(delivery, deadline.signal, past);
        progress.end(delivery, ending);
        if (ending.state === 'failed') return;
      }
    });
    await runBounded(tasks, settled.concurrency, deadline);
    deadline.end();
    progress.close();
    log(batchLine(batch, progress, started));
    return answerOf(batch, progress, settled.partial);
  };
};
