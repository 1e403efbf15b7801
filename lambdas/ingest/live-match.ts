import { boolean, entity, integer, string, timeToLive, timestamp, type Item } from '../../lib/commands/index.js';

/** The latest state of a match (seeds/000); score and status keep a version each, and so does its removal. */
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
