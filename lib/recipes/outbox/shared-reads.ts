import { Buffer } from 'node:buffer';
import type { Page } from '../../commands/index.js';
import { isThrottle } from '../../commands/send/failures.js';
import type { Drain } from './drain.js';
import { OutboxItem } from './outbox-item.js';
import type { Aggregate } from './waiting-items.js';

/** Aggregates of one read at most, and wake-ups of theirs: a page is then some hundred items, which are at work at once. */
const mostAggregates = 25;
const mostWakeUps = 100;

/** An aggregate of one shard, by the bytes of the last key that it may have, which is how DynamoDB orders keys. */
interface Member {
  readonly of: Aggregate;
  readonly shard: number;
  readonly end: Buffer;
}

const endOf = (aggregate: string, sequence: number): Buffer => Buffer.from(OutboxItem.sk.of({ aggregate, sequence }));

const memberOf = (of: Aggregate): Member | undefined => {
  const [shard, other] = of.shards;
  if (shard === undefined || other !== undefined) return undefined;
  try {
    return { of, shard, end: endOf(of.aggregate, of.upTo) };
  } catch {
    // A name that makes no key: its own read tells, and stops no other.
    return undefined;
  }
};

/**
 * Reads the aggregates of a shard that are drained together by one query, from the first of them to the last: a query by
 * itself is paid as 4 KB at least, however small the event. What lies in between and is none of theirs is read in vain, so
 * a query asks for twice as many items as there are wake-ups. Where that does not reach over half of the aggregates, their
 * shard holds much that nobody asked for, and the drain goes on with a query for each.
 *
 * An aggregate is given only where the page reached past its last sequence, so that all of it was seen, and nothing of what
 * came after.
 */
export class SharedReads {
  /** The aggregates in the order in which they are to begin, so that those of one query are at work at once. */
  readonly inOrder: readonly Aggregate[];
  private readonly groups = new Map<Aggregate, Group>();
  private pays = true;

  constructor(
    private readonly drain: Drain,
    aggregates: readonly Aggregate[],
  ) {
    const members = aggregates.map(memberOf).filter((member) => member !== undefined);
    for (const ofShard of Map.groupBy(members, ({ shard }) => shard).values())
      for (const group of groupsOf(ofShard, Math.min(mostAggregates, drain.terms.concurrency)))
        for (const { of } of group.members) this.groups.set(of, group);
    // Groups by the first of theirs that was named.
    const begun = new Set<Aggregate>();
    for (const of of aggregates)
      for (const next of this.groups.get(of)?.members.map((member) => member.of) ?? [of]) begun.add(next);
    this.inOrder = [...begun];
  }

  /** All items of the aggregate up to its sequence, lowest first; undefined where it must be read by itself. */
  async itemsOf(of: Aggregate): Promise<readonly OutboxItem[] | undefined> {
    const group = this.groups.get(of);
    if (group === undefined) return undefined;
    const found = await (group.found ??= this.read(group.members));
    const items = found.get(of);
    found.delete(of);
    return items;
  }

  private async read(members: readonly Member[]): Promise<Map<Aggregate, OutboxItem[]>> {
    const found = new Map<Aggregate, OutboxItem[]>();
    for (let rest = members; rest.length > 1 && this.pays;) {
      const page = await this.page(rest);
      const last = page?.items.at(-1);
      const reached = page?.next === undefined ? undefined : last && endOf(last.aggregate, last.sequence);
      const isSeen = ({ end }: Member): boolean => reached === undefined || Buffer.compare(end, reached) <= 0;
      const seen = page === undefined || (page.next !== undefined && last === undefined) ? [] : rest.filter(isSeen);
      const byName = new Map(seen.map(({ of }) => [of.aggregate, of]));
      for (const { of } of seen) found.set(of, []);
      for (const item of page?.items ?? []) {
        const of = byName.get(item.aggregate);
        if (of !== undefined && item.sequence <= of.upTo) found.get(of)?.push(item);
      }
      if (seen.length * 2 < rest.length) this.pays = false;
      rest = rest.slice(seen.length);
    }
    return found;
  }

  /** Undefined where it failed for what it holds, which may be an item of one aggregate only. */
  private async page(members: readonly Member[]): Promise<Page<OutboxItem> | undefined> {
    const { items, pastThrottles, terms } = this.drain;
    const [{ of: first, shard }] = members as [Member];
    const { of: last } = members.at(-1) as Member;
    const wakeUps = members.reduce((sum, { of }) => sum + of.wakeUps, 0);
    try {
      return await pastThrottles(() =>
        items
          .query({ shard })
          .between({ aggregate: first.aggregate }, { aggregate: last.aggregate, sequence: last.upTo })
          .consistent()
          .limit(2 * wakeUps)
          .page({ signal: terms.signal }),
      );
    } catch (error) {
      if (isThrottle(error) || terms.signal?.aborted === true) throw error;
      return undefined;
    }
  }
}

interface Group {
  readonly members: readonly Member[];
  found?: Promise<Map<Aggregate, OutboxItem[]>>;
}

/** Neighbours of one shard, in the order of their keys. */
const groupsOf = (members: readonly Member[], most: number): Group[] => {
  const groups: Member[][] = [];
  let wakeUps = 0;
  for (const member of members.toSorted((a, b) => Buffer.compare(a.end, b.end))) {
    const group = groups.at(-1);
    wakeUps += member.of.wakeUps;
    if (group === undefined || group.length >= most || wakeUps > mostWakeUps) {
      groups.push([member]);
      wakeUps = member.of.wakeUps;
    } else group.push(member);
  }
  return groups.filter(({ length }) => length > 1).map((group) => ({ members: group }));
};
