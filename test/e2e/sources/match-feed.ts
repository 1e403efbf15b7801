import type { PoisonReason } from '../../../lib/events/index.js';
import type { SeededRandom } from '../../../lib/local/simulation/random.js';

/** A record of the feed; twice in it where it is sent twice. */
export interface FeedRecord {
  /** Its place among the events, which poison is known by. */
  readonly id: number;
  readonly matchId: string;
  /** Undefined in a removal: Kafka's tombstone, or a message of its own in SQS. */
  readonly value: string | undefined;
  readonly at: string;
  /** Why it can't be handled. */
  readonly poison?: PoisonReason;
}

/** The state of a match after the whole feed, by the feed alone. */
export interface FinalMatch {
  readonly homeGoals: number;
  readonly awayGoals: number;
  readonly scoreAt?: string;
  readonly status?: string;
  readonly statusAt?: string;
  readonly deletedAt?: string;
  readonly deleted?: true;
}

/** A feed and what must come of it. */
export interface MatchFeed {
  readonly records: readonly FeedRecord[];
  readonly poison: ReadonlyMap<number, PoisonReason>;
  readonly matches: ReadonlyMap<string, FinalMatch>;
}

interface Change {
  readonly at: number;
  readonly score?: readonly [home: number, away: number];
  readonly status?: string;
  readonly removed?: true;
}

const statuses = ['SCHEDULED', 'LIVE', 'HALF_TIME', 'FINISHED', 'ABANDONED'];

/**
 * What stands for an event that no handler can make sense of. One that is late has a match of its own: a newer one in its batch would do for
 * it too.
 */
const poisons: readonly ((
  matchId: string,
  at: string,
) => readonly [value: string, reason: PoisonReason, of?: string])[] = [
  () => ['{"type":', 'json'],
  () => ['', 'json'],
  (matchId, at) => [JSON.stringify({ type: 'foul', matchId, at }), 'content'],
  (matchId, at) => [JSON.stringify({ type: 'score', matchId, home: -1, away: 0, at }), 'content'],
  (matchId) => [JSON.stringify({ type: 'score', matchId, home: 1, away: 0, at: 'yesterday' }), 'version'],
  (_, at) => {
    const matchId = `late-${at}`;
    return [JSON.stringify({ type: 'status', matchId, status: 'LIVE', at: '2020-01-01T00:00:00Z' }), 'late', matchId];
  },
];

/** Events of matches, in any order and some of them twice, with poison among them. */
export const matchFeed = (
  random: SeededRandom,
  { events = 10_000, keys = 200, poison = 60 }: { events?: number; keys?: number; poison?: number } = {},
): MatchFeed => {
  const start = Date.now() - 3_600_000;
  // As the state stores them: to the nanosecond.
  const timeOf = (n: number): string => new Date(start + n).toISOString().replace('Z', '000000Z');
  const changes = new Map<string, Change[]>();
  const records: FeedRecord[] = [];
  const reasons = new Map<number, PoisonReason>();
  for (let id = 0; id < events; id++) {
    const matchId = `m${random.integer(1, keys)}`;
    const at = timeOf(id);
    if (id % Math.ceil(events / poison) === 1) {
      const [value, poison, of = matchId] = random.pick(poisons)(matchId, at);
      reasons.set(id, poison);
      records.push({ ...{ id, matchId: of, value, at }, poison });
      continue;
    }
    const change: Change = random.chance(0.03)
      ? { at: id, removed: true }
      : random.chance(0.6)
        ? { at: id, score: [random.integer(0, 9), random.integer(0, 9)] }
        : { at: id, status: random.pick(statuses) };
    const known = changes.get(matchId);
    if (known === undefined) changes.set(matchId, [change]);
    else known.push(change);
    records.push({ id, matchId, value: bodyOf(matchId, change, at), at });
  }
  const twice = records.filter(() => random.chance(0.15));
  return {
    records: random.shuffle([...records, ...twice]),
    poison: reasons,
    matches: new Map([...changes].map(([matchId, list]) => [matchId, finalMatch(list, timeOf)])),
  };
};

const bodyOf = (matchId: string, { score, status, removed }: Change, at: string): string | undefined => {
  if (removed) return undefined;
  return JSON.stringify(
    score === undefined
      ? { type: 'status', matchId, status, at }
      : { type: 'score', matchId, home: score[0], away: score[1], at },
  );
};

const finalMatch = (changes: readonly Change[], timeOf: (n: number) => string): FinalMatch => {
  const removal = changes.findLast(({ removed }) => removed)?.at ?? -1;
  const score = changes.findLast(({ score, at }) => score !== undefined && at > removal);
  const status = changes.findLast(({ status, at }) => status !== undefined && at > removal);
  const isGone = removal >= 0 && score === undefined && status === undefined;
  return {
    homeGoals: score?.score?.[0] ?? 0,
    awayGoals: score?.score?.[1] ?? 0,
    ...(score !== undefined && { scoreAt: timeOf(score.at) }),
    ...(status?.status !== undefined && { status: status.status, statusAt: timeOf(status.at) }),
    ...(removal >= 0 && { deletedAt: timeOf(removal) }),
    ...(isGone && { deleted: true }),
  };
};
