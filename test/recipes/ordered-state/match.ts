import {
  boolean,
  entity,
  integer,
  string,
  stringSet,
  timeToLive,
  timestamp,
  toTimestamp,
  type Timestamp,
} from '../../../lib/commands/index.js';

/** State of two groups, with a deletion. */
export const Match = entity('MATCH', {
  pk: 'MATCH#{id}',
  sk: 'LIVE',
  attributes: {
    id: string(),
    homeGoals: integer().default(0),
    scorers: stringSet(),
    scoreSeq: integer().optional(),
    status: string().optional(),
    note: string().optional(),
    statusSeq: integer().optional(),
    deleted: boolean().optional(),
    deletedSeq: integer().optional(),
    expiresAt: timeToLive().optional(),
  },
});

export const groups = {
  score: { version: 'scoreSeq', fields: ['homeGoals', 'scorers'] },
  status: { version: 'statusSeq', fields: ['status', 'note'] },
} as const;
export const deletion = { flag: 'deleted', version: 'deletedSeq' } as const;

/** Whole state by time, with a deletion. */
export const Price = entity('PRICE', {
  pk: 'PRICE#{sku}',
  sk: 'PRICE',
  attributes: {
    sku: string(),
    cents: integer().optional(),
    at: timestamp(),
    deleted: boolean().default(false),
    expiresAt: timeToLive().optional(),
  },
});

export const score = (id: string, seq: number, homeGoals = seq) => ({
  key: { id },
  groups: { score: { homeGoals, scorers: new Set([`p${homeGoals}`]), scoreSeq: seq } },
});
export const status = (id: string, seq: number, text = `s${seq}`) => ({
  key: { id },
  groups: { status: { status: text, note: undefined, statusSeq: seq } },
});
export const gone = (id: string, seq: number) => ({ key: { id }, deleted: seq });

/** Second n of a day. */
export const at = (n: number): Timestamp => toTimestamp(new Date(Date.UTC(2026, 11, 1) + n * 1000));
