import type { BatchEvent, BatchResponse } from '../../../lib/events/index.js';
import { kafkaEvent, sqsEvent, streamEvent } from './events.js';

/** An event that a producer sent: its key, and its body as JSON text or, for a tombstone, null. */
export interface Sent {
  readonly key: string;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A source as Lambda polls it: what is not acknowledged comes again. */
export interface Source {
  /** The next batch, of at most so many records. */
  next(size: number): BatchEvent;
  /** Takes the answer to the last batch, or that it threw; gives the places of the events that are acknowledged. */
  answer(response: BatchResponse | undefined): number[];
  /** How many events are not acknowledged. */
  left(): number;
}

const identifiers = (response: BatchResponse): Set<string> =>
  new Set(response.batchItemFailures.flatMap(({ itemIdentifier: id }) => (typeof id === 'string' ? id : [])));

/** A queue; with groups, one by key, of which none is delivered past one that failed. */
export const queue = (sent: readonly Sent[], fifo: boolean): Source => {
  let waiting = sent.map((_, i) => i);
  let taken: number[] = [];
  return {
    next(size) {
      taken = waiting.slice(0, size);
      return sqsEvent(
        ...taken.map((i) => {
          const { key, body, headers = {} } = sent[i]!;
          return { id: `m-${i}`, body: body ?? 'null', headers: { ...headers, key }, ...(fifo && { group: key }) };
        }),
      );
    },
    answer(response) {
      const failed = response && identifiers(response);
      for (const id of failed ?? []) if (!taken.includes(Number(id.slice(2)))) throw new Error('unknown message id');
      const done = failed === undefined ? [] : taken.filter((i) => !failed.has(`m-${i}`));
      if (fifo) {
        for (const i of done) {
          const before = taken.filter((other) => other < i && sent[other]!.key === sent[i]!.key);
          if (before.some((other) => !done.includes(other))) throw new Error('acknowledged behind one that was not');
        }
      }
      const again = waiting.filter((i) => !done.includes(i));
      // A standard queue gives back in any order.
      waiting = fifo ? again : again.toReversed();
      return done;
    },
    left: () => waiting.length,
  };
};

const partitionOf = (key: string): number => key.length % 2;

/** A topic of two partitions, whose offsets are the places of the events. */
export const topic = (sent: readonly Sent[]): Source => {
  const partitions = [0, 1].map((p) => sent.flatMap(({ key }, i) => (partitionOf(key) === p ? [i] : [])));
  const committed = [0, 0];
  let taken: number[][] = [[], []];
  return {
    next(size) {
      taken = partitions.map((list, p) => list.slice(committed[p], committed[p]! + Math.ceil(size / 2)));
      return kafkaEvent(
        ...taken.flatMap((list, partition) =>
          list.map((offset) => {
            const { key, body, headers = {} } = sent[offset]!;
            return { partition, offset, key, value: body, headers: { ...headers, key } };
          }),
        ),
      );
    },
    answer(response) {
      if (response === undefined) return [];
      return taken.flatMap((list, p) => {
        const mine = response.batchItemFailures.flatMap(({ itemIdentifier: id }) =>
          typeof id === 'object' && id.partition === `orders-${p}` ? [id.offset] : [],
        );
        if (mine.length > 1 || mine.some((offset) => !list.includes(offset))) throw new Error('unknown offset');
        const done = list.filter((offset) => offset < (mine[0] ?? Infinity));
        committed[p]! += done.length;
        return done;
      });
    },
    left: () => partitions.reduce((sum, list, p) => sum + list.length - committed[p]!, 0),
  };
};

/** A shard of a stream, whose sequence numbers are of different lengths. */
export const shard = (sent: readonly Sent[]): Source => {
  const number = (i: number): string => String(10n ** 21n - 3n + BigInt(i));
  let [from, to] = [0, 0];
  return {
    next(size) {
      to = Math.min(from + size, sent.length);
      return streamEvent(
        ...sent.slice(from, to).map(({ key, body }, i) => ({
          pk: key,
          sequence: number(from + i),
          newImage: { body: { S: body ?? 'null' } },
        })),
      );
    },
    answer(response) {
      if (response === undefined) return [];
      const failed = [...identifiers(response)];
      const checkpoint = failed.length === 0 ? to : sent.findIndex((_, i) => number(i) === failed[0]);
      if (failed.length > 1 || checkpoint < from || checkpoint > to) throw new Error('unknown sequence number');
      const done = Array.from({ length: checkpoint - from }, (_, i) => from + i);
      from = checkpoint;
      return done;
    },
    left: () => sent.length - from,
  };
};
