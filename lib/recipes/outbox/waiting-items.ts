import type { Drain } from './drain.js';
import type { OutboxItem } from './outbox-item.js';
import { shardOf } from './shard.js';
import type { WakeUp } from './wake-up.js';

/** An aggregate to drain, and every shard that its items may be in. */
export interface Aggregate {
  readonly aggregate: string;
  readonly upTo: number;
  /** Sequences that were named of it: so many items, or fewer, are to be expected. */
  readonly wakeUps: number;
  readonly shards: ReadonlySet<number>;
}

/** Items of a page: few, since most aggregates have one or two, and a blocked one is read in vain. */
const pageItems = 25;

/** The wake-ups of the same aggregate, as one. */
export const aggregatesOf = ({ place, terms }: Drain, wakeUps: readonly WakeUp[]): Aggregate[] =>
  [...Map.groupBy(wakeUps, ({ aggregate }) => aggregate)].map(([aggregate, woken]) => {
    const shards = new Set([shardOf(aggregate, place.shards)]);
    if (terms.previousShards !== undefined) shards.add(shardOf(aggregate, terms.previousShards));
    for (const { shard } of woken) if (shard !== undefined) shards.add(shard);
    const sequences = new Set(woken.map(({ upTo }) => upTo));
    return { aggregate, upTo: Math.max(...sequences), wakeUps: sequences.size, shards };
  });

/**
 * An aggregate's items, lowest sequence first, a page at a time. Every one up to `upTo` was committed before this began,
 * so none can be missing between those that are found.
 */
export const waitingItems = (drain: Drain, of: Aggregate): AsyncGenerator<readonly OutboxItem[]> => {
  const pages = [...of.shards].map((shard) => itemsInShard(drain, of, shard));
  return pages.length === 1 ? (pages[0] as AsyncGenerator<readonly OutboxItem[]>) : inOneOrder(pages);
};

async function* itemsInShard(
  { items, pastThrottles, terms: { signal } }: Drain,
  { aggregate, upTo }: Aggregate,
  shard: number,
): AsyncGenerator<readonly OutboxItem[]> {
  let from: string | undefined;
  do {
    const page = await pastThrottles(() =>
      items
        .query({ shard, aggregate })
        .le({ sequence: upTo })
        .consistent()
        .limit(pageItems)
        .after(from)
        .page({ signal }),
    );
    yield page.items;
    from = page.next;
  } while (from !== undefined);
}

/** Merges shards by sequence: while their number changes, an aggregate has items in two. */
async function* inOneOrder(
  sources: readonly AsyncGenerator<readonly OutboxItem[]>[],
): AsyncGenerator<readonly OutboxItem[]> {
  const singles = sources.map(oneByOne);
  // All begin before any is published from.
  const heads = await Promise.all(singles.map((single) => single.next()));
  for (;;) {
    let least: OutboxItem | undefined;
    let from = -1;
    heads.forEach(({ done, value }, i) => {
      if (done === true || (least !== undefined && least.sequence <= value.sequence)) return;
      least = value;
      from = i;
    });
    if (least === undefined) return;
    yield [least];
    heads[from] = await (singles[from] as AsyncGenerator<OutboxItem, undefined>).next();
  }
}

async function* oneByOne(pages: AsyncGenerator<readonly OutboxItem[]>): AsyncGenerator<OutboxItem, undefined> {
  for await (const page of pages) yield* page;
  return undefined;
}
