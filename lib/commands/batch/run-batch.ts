import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { backoff } from '../retry/backoff.js';
import { isThrottle } from '../send/failures.js';

/** Requests of a batch that are in flight at once. */
const atOnce = 8;

/** Requests in a row that got nothing done before a part is given up: about 2 s of waiting. */
const maximumStalled = 8;

/** What one request of a batch answered. */
export interface BatchAnswer<T> {
  /** What DynamoDB left, as it is sent again. */
  readonly left: T | undefined;
  readonly consumed: readonly ConsumedCapacity[] | undefined;
}

/** How a batch sends its requests. */
export interface BatchSender<T> {
  send(items: T): Promise<BatchAnswer<T>>;
  /** The number of actions in a request. */
  count(items: T): number;
  readonly signal: AbortSignal | undefined;
}

/** What all requests of a batch came to. */
export interface BatchRun<T> {
  readonly requests: number;
  readonly left: readonly T[];
  /** The sum by table. */
  readonly consumed: readonly ConsumedCapacity[];
  /** The last throttling error, where one stopped the retries. */
  readonly cause: unknown;
}

/**
 * Sends the requests of a batch, some at once, and what each leaves unprocessed again, after a wait of full jitter, as
 * long as something gets done. An error that is no throttle ends the batch once the requests in flight have ended.
 */
export const runBatch = async <T>(chunks: readonly T[], sender: BatchSender<T>): Promise<BatchRun<T>> => {
  const left: T[] = [];
  const consumed = new Map<string | undefined, ConsumedCapacity>();
  let requests = 0;
  let cause: unknown;
  let ended = false;

  const sendOnce = async (items: T): Promise<T | undefined> => {
    requests++;
    try {
      const answer = await sender.send(items);
      for (const one of answer.consumed ?? []) {
        const units = (consumed.get(one.TableName)?.CapacityUnits ?? 0) + (one.CapacityUnits ?? 0);
        consumed.set(one.TableName, { ...one, CapacityUnits: units });
      }
      return answer.left;
    } catch (error) {
      // DynamoDB throws where it could process nothing of a request.
      if (!isThrottle(error)) throw error;
      cause = error;
      return items;
    }
  };

  const sendAll = async (chunk: T): Promise<void> => {
    let items: T | undefined = chunk;
    for (let stalled = 0; ;) {
      const rest: T | undefined = await sendOnce(items);
      if (rest === undefined) return;
      stalled = sender.count(rest) < sender.count(items) ? 0 : stalled + 1;
      if (stalled === maximumStalled) {
        left.push(rest);
        return;
      }
      await backoff(stalled + 1, sender.signal);
      if (ended) return;
      items = rest;
    }
  };

  let next = 0;
  const worker = async (): Promise<void> => {
    try {
      while (next < chunks.length && !ended) await sendAll(chunks[next++] as T);
    } catch (error) {
      // The others send nothing more.
      ended = true;
      throw error;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, chunks.length) }, worker));
  for (const result of workers) if (result.status === 'rejected') throw result.reason;
  return { requests, left, consumed: [...consumed.values()], cause };
};
