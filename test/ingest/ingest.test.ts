import { describe, expect, test } from 'vitest';
import { ingestHandler } from '../../lambdas/ingest/ingest-handler.js';
import { LiveMatch } from '../../lambdas/ingest/live-match.js';
import type { IngestLine, PoisonRecord } from '../../lib/events/index.js';
import { toTimestamp } from '../../lib/commands/index.js';
import { testTable } from '../http/test-table.js';
import { kafkaEvent, sqsEvent } from '../events/support/events.js';

const now = Date.now();
/** Minute n of this hour, to the second. */
const at = (n: number): string => new Date(now - 3_600_000 + n * 60_000).toISOString();

const live = async () => {
  const { table } = await testTable();
  const lines: IngestLine[] = [];
  const aside: PoisonRecord[] = [];
  const handler = ingestHandler(table, {
    partialResponses: true,
    log: (line) => lines.push(line),
    failureDestination: (poison) => void aside.push(poison),
  });
  const stored = (id = 'm1') => table.of(LiveMatch).get({ id }).consistent().item();
  return { handler, lines, aside, stored };
};

const score = (n: number, home = n) => ({ type: 'score', matchId: 'm1', home, away: 0, at: at(n) });
const status = (n: number, text: string) => ({ type: 'status', matchId: 'm1', status: text, at: at(n) });

describe.each([
  ['SQS', (bodies: readonly object[]) => sqsEvent(...bodies.map((body, i) => ({ id: `m${i}`, body })))],
  [
    'SQS FIFO',
    (bodies: readonly object[]) => sqsEvent(...bodies.map((body, i) => ({ id: `m${i}`, body, group: 'm1' }))),
  ],
  ['Kafka', (bodies: readonly object[]) => kafkaEvent(...bodies.map((value, i) => ({ offset: i, key: 'm1', value })))],
])('from %s', (_, eventOf) => {
  test('a late score does not undo a newer status, nor the other way around', async () => {
    const { handler, lines, stored } = await live();
    expect(await handler(eventOf([score(3, 2), status(5, 'HALF_TIME'), score(4, 3), score(1, 0)]))).toEqual({
      batchItemFailures: [],
    });
    await handler(eventOf([status(2, 'LIVE'), score(4, 3)]));
    expect(await stored()).toEqual({
      ...{ id: 'm1', homeGoals: 3, awayGoals: 0, scoreAt: toTimestamp(at(4)) },
      ...{ status: 'HALF_TIME', statusAt: toTimestamp(at(5)) },
    });
    expect(lines).toMatchObject([
      { entity: 'LIVE_MATCH', Applied: 2, Superseded: 2, Writes: 2 },
      { AlreadyStored: 1, Superseded: 1, Writes: 2 },
    ]);
  });

  test('a removed match stays removed for late events, and comes back with newer ones', async () => {
    const { handler, stored } = await live();
    await handler(eventOf([score(3), { type: 'removed', matchId: 'm1', at: at(5) }]));
    await handler(eventOf([status(4, 'LATE')]));
    const removed = await stored();
    expect(removed).toMatchObject({ deleted: true, homeGoals: 0, deletedAt: toTimestamp(at(5)) });
    const days = (removed!.expiresAt!.getTime() - now) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    await handler(eventOf([score(6, 1)]));
    expect(await stored()).toEqual({
      ...{ id: 'm1', homeGoals: 1, awayGoals: 0, scoreAt: toTimestamp(at(6)), deletedAt: toTimestamp(at(5)) },
    });
  });

  test('what is no event of a match is set aside', async () => {
    const { handler, aside } = await live();
    const answer = await handler(
      eventOf([
        { ...score(1), type: 'foul' },
        { ...score(1), home: -1 },
        { ...score(1), away: '1' },
        { ...status(1, '') },
        { ...score(1), matchId: 7 },
        { ...score(1), at: 'yesterday' },
        { ...score(1), at: '2020-01-01T00:00:00Z' },
        [],
      ]),
    );
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(aside.map(({ reason }) => reason)).toEqual([
      ...['content', 'content', 'content', 'content', 'content', 'version', 'content', 'late'],
    ]);
  });
});

describe('a tombstone of Kafka', () => {
  test('removes the match of its key, at the time in its header', async () => {
    const { handler, stored, aside } = await live();
    const removal = { offset: 2, key: 'm1', value: null };
    await handler(
      kafkaEvent({ offset: 1, key: 'm1', value: score(1) }, { ...removal, headers: { 'occurred-at': at(2) } }),
    );
    expect(await stored()).toMatchObject({ deleted: true, deletedAt: toTimestamp(at(2)) });
    await handler(kafkaEvent(removal, { offset: 3, value: null, headers: { 'occurred-at': at(2) } }));
    expect(aside.map(({ reason }) => reason).toSorted()).toEqual(['content', 'version']);
  });

  test('is of the same match as the values of its key', async () => {
    const { handler, aside } = await live();
    await handler(kafkaEvent({ offset: 1, key: 'other', value: score(1) }));
    expect(aside.map(({ reason }) => reason)).toEqual(['content']);
  });
});

test('without a failure destination a poison failed, so that the source sets it aside', async () => {
  const { table } = await testTable();
  const handler = ingestHandler(table, { partialResponses: true, log: () => undefined });
  const event = sqsEvent({ id: 'bad', body: '{' }, { id: 'good', body: score(1) });
  expect(await handler(event)).toEqual({ batchItemFailures: [{ itemIdentifier: 'bad' }] });
});
