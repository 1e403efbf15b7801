import {
  boolean,
  entity,
  integer,
  string,
  timeToLive,
  timestamp,
  type Item,
  type Table,
  type Timestamp,
} from '../../lib/commands/index.js';
import { orderedGroups } from '../../lib/recipes/ordered-state/ordered-groups.js';
import { orderedItems } from '../../lib/recipes/ordered-state/ordered-items.js';
import type { EventOutcome } from '../../lib/recipes/ordered-state/outcome.js';

/** A match as its events left it: each kind of event changes a group of fields, with its time beside it. */
export const LiveMatch = entity('LIVE_MATCH', {
  pk: 'MATCH#{id}',
  sk: 'LIVE',
  attributes: {
    id: string(),
    homeGoals: integer().default(0),
    awayGoals: integer().default(0),
    scoreAt: timestamp().optional(),
    status: string().optional(),
    statusAt: timestamp().optional(),
    deleted: boolean().optional(),
    deletedAt: timestamp().optional(),
    expiresAt: timeToLive().optional(),
  },
});
export type LiveMatch = Item<typeof LiveMatch>;

const day = 86_400_000;

export const liveMatches = (shop: Table) =>
  orderedGroups(shop.of(LiveMatch), {
    groups: {
      score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] },
      status: { version: 'statusAt', fields: ['status'] },
    },
    // The topic keeps events for 7 days, and its failures for 14: nothing older arrives.
    deletion: { flag: 'deleted', version: 'deletedAt', revives: true, lateness: 22 * day },
    several: 'each',
  });

export interface ScoreChanged {
  readonly matchId: string;
  readonly home: number;
  readonly away: number;
  readonly at: Timestamp;
}

/** Applies one event, whenever it arrives. */
export const applyScore = async (shop: Table, change: ScoreChanged): Promise<EventOutcome> => {
  const score = { homeGoals: change.home, awayGoals: change.away, scoreAt: change.at };
  const { outcome } = await liveMatches(shop).apply({ key: { id: change.matchId }, groups: { score } });
  return outcome;
};

/** A row of a league table: every event carries all of it. */
export const Standing = entity('STANDING', {
  pk: 'LEAGUE#{league}',
  sk: 'TEAM#{team}',
  attributes: { league: string(), team: string(), points: integer(), seq: integer() },
});

export const standings = (shop: Table) => orderedItems(shop.of(Standing), { version: 'seq' });
