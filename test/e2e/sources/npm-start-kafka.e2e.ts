import { afterAll, expect, test, vi } from 'vitest';
import { killAll, npmStart } from '../npm-start.js';
import { brokers, missing, newTopic, produce } from './kafka.js';

afterAll(() => killAll());

const score = (home: number, minute: number): string =>
  JSON.stringify({ type: 'score', matchId: 'k1', home, away: 0, at: `2026-12-01T20:${minute}:00Z` });

test.skipIf(missing !== undefined)('npm start reads a topic of the broker that KAFKA_BROKERS names', async () => {
  const topic = await newTopic(2);
  await produce(topic, [
    { key: 'k1', value: score(2, 40) },
    { key: 'k1', value: score(1, 20) },
    { key: 'k1', value: '{' },
    { key: 'k2', headers: { 'occurred-at': '2026-12-01T21:00:00Z' } },
  ]);
  const app = await npmStart([], { KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC: topic });
  const read = async () => (await app.items()).filter(({ pk }) => pk?.S?.startsWith('MATCH#'));
  await vi.waitFor(
    async () => {
      expect(await read()).toHaveLength(2);
      expect(app.output()).toMatch(/^ {2}ingest: .*Superseded 1.*Poison 1/m);
    },
    { timeout: 60_000, interval: 200 },
  );
  expect((await read()).toSorted((a, b) => (a['pk']!.S! < b['pk']!.S! ? -1 : 1))).toMatchObject([
    { pk: { S: 'MATCH#k1' }, homeGoals: { N: '2' } },
    { pk: { S: 'MATCH#k2' }, deleted: { BOOL: true } },
  ]);
  expect(app.output()).toMatch(new RegExp(`^topic ${topic} → .*: \\d+ records?,`, 'm'));
  const failures = (await (await fetch(`${app.url}/_local/queues/IngestFailures`)).json()) as { body: string }[];
  expect(failures.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { source: 'kafka', topic, reason: 'json' },
  ]);
});
