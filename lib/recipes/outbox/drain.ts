import { invalid } from '../../commands/errors/errors.js';
import { pastThrottles, type PastThrottles } from '../../commands/retry/past-throttles.js';
import { isThrottled } from '../../commands/retry/shared-throttles.js';
import type { EntityTable } from '../../commands/index.js';
import { checkObject, checkTable } from '../arguments.js';
import { Batches } from './batches.js';
import { drainTerms, type DrainOptions, type DrainTerms } from './drain-options.js';
import type { OutboxPlace } from './outbox.js';
import { OutboxItem } from './outbox-item.js';
import { ParkedEvent } from './parked-event.js';
import type { Publisher } from './publisher.js';
import { checkShards } from './shard.js';

/** One drain at work: where it reads, where it sends, and how. */
export interface Drain {
  readonly place: OutboxPlace;
  readonly items: EntityTable<typeof OutboxItem>;
  readonly parked: EntityTable<typeof ParkedEvent>;
  readonly batches: Batches;
  readonly terms: DrainTerms;
  /** Sends a request again that was throttled. */
  readonly pastThrottles: PastThrottles;
  /** Runs the work on an aggregate when its turn comes. */
  readonly inTurn: <R>(work: () => Promise<R>) => Promise<R>;
}

export const drainOf = (place: OutboxPlace, publisher: Publisher, options: DrainOptions): Drain => {
  if (typeof publisher?.publish !== 'function') invalid('publisher', 'expected an object with publish()');
  const { table, shards } = checkObject(place, 'place', 'expected an outbox, or its table and shards');
  checkTable(table);
  checkShards(shards, 'shards');
  const terms = drainTerms(options);
  return {
    place,
    items: table.of(OutboxItem),
    parked: table.of(ParkedEvent),
    batches: new Batches(publisher),
    terms,
    pastThrottles: pastThrottles(terms.signal, isThrottled),
    inTurn: turns(terms.concurrency),
  };
};

const turns = (concurrency: number): Drain['inTurn'] => {
  let free = concurrency;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
};
