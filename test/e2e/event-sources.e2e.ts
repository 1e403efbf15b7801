import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { killAll, npmStart } from './npm-start.js';
import type { RunningStart } from './npm-start.js';

let app: RunningStart;

beforeAll(async () => {
  app = await npmStart(['--data-dir', mkdtempSync(join(tmpdir(), 'safewrites-e2e-'))]);
});
afterAll(() => killAll());

const get = async <T>(path: string) => (await (await fetch(`${app.url}/_local/${path}`)).json()) as T;
const send = async (queue: string, body: object) => {
  const response = await fetch(`${app.url}/_local/queues/${queue}`, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(200);
};
const match = async (id: string) =>
  Object.values(await get<Record<string, { pk: string; homeGoals?: number; status?: string }[]>>('items'))
    .flat()
    .find(({ pk }) => pk === `MATCH#${id}`);
/** How often each outcome of the ingest was printed since a place of the output. */
const outcome = (name: string, since: number) => {
  const lines = app
    .output()
    .slice(since)
    .matchAll(new RegExp(`ingest: .*\\b${name} (\\d+)`, 'g'));
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
};
const score = (matchId: string, home: number, minute: number) => ({
  type: 'score',
  matchId,
  home,
  away: 0,
  at: `2026-12-01T20:${minute}:00Z`,
});

describe('the event sources of npm start', () => {
  it('show the event of a charge on the bus, once its transaction is committed', async () => {
    const body = JSON.stringify({ customerId: 'bob', amount: 700, currency: 'EUR' });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'events-1' };
    const answer = await fetch(`${app.url}/charges`, { method: 'POST', headers, body });
    expect(answer.status).toBe(201);
    const { chargeId } = (await answer.json()) as { chargeId: string };
    await vi.waitFor(
      async () => {
        const events = await get<{ event: { 'detail-type': string; detail: { data: object } } }[]>('events');
        expect(events.map(({ event }) => event)).toMatchObject([
          { 'detail-type': 'charge.created', detail: { data: { chargeId, amount: 700 } } },
        ]);
      },
      { timeout: 20_000, interval: 100 },
    );
    await vi.waitFor(() => {
      expect(app.output()).toMatch(/^Event on bus \S+: charge\.created from /m);
      expect(app.output()).toContain('State: INSERT CHARGE');
      expect(app.output()).toContain('State: REMOVE OUTBOX');
    });
  });

  it.each([
    ['standard', 'IngestEventsQueue'],
    ['FIFO', 'IngestEventsInOrderQueue.fifo?group=m'],
  ])('keep the newest score through the %s queue, whatever comes late or twice', async (kind, queue) => {
    const id = `m-${kind}`;
    const since = app.output().length;
    const sent = async (event: object, expected: string) => {
      const before = outcome(expected, since);
      await send(queue, event);
      await vi.waitFor(() => expect(outcome(expected, since)).toBe(before + 1), { timeout: 20_000, interval: 50 });
    };
    await sent(score(id, 2, 40), 'Applied');
    await sent(score(id, 1, 20), 'Superseded');
    await sent(score(id, 2, 40), 'AlreadyStored');
    await sent(score(id, 3, 40), 'Conflict');
    expect(await match(id)).toMatchObject({ homeGoals: 2 });
    await sent({ type: 'status', matchId: id, status: 'FULL_TIME', at: '2026-12-01T21:50:00Z' }, 'Applied');
    expect(await match(id)).toMatchObject({ homeGoals: 2, status: 'FULL_TIME' });
  });

  it('send a poison score to the queue of failures, with its reason, and go on', async () => {
    await send('IngestEventsQueue', { type: 'score', matchId: 'm-poison', home: 'two' });
    await vi.waitFor(
      async () => {
        const failures = await get<{ body: string }[]>('queues/IngestFailures');
        expect(failures.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([{ reason: 'content' }]);
      },
      { timeout: 20_000, interval: 100 },
    );
    expect(app.output()).toContain('Message in queue IngestFailures: ');
    expect(await get('queues/IngestEventsQueue')).toEqual([]);
    expect(await match('m-poison')).toBeUndefined();
  });

  it('are told of by commands that work as they are printed', async () => {
    const commands = [...app.output().matchAll(/^ {2}curl '(\S+)' -d '(\S+)'$/gm)];
    expect(commands).toHaveLength(5);
    for (const [, url, body] of commands) {
      expect((await fetch(url!, { method: 'POST', body: body! })).status).toBe(200);
    }
    await vi.waitFor(async () => expect(await match('m1')).toMatchObject({ homeGoals: 4 }), { timeout: 20_000 });
  });

  it('end with Ctrl-C', async () => {
    expect(await app.interrupt()).toBe(0);
  });
});
