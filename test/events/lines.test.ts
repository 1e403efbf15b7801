import { afterEach, expect, test, vi } from 'vitest';
import { batchHandler, json, orderedIngest, sqsMessages } from '../../lib/events/index.js';
import { sqsEvent } from './support/events.js';
import { Match, at, matchShop } from './support/matches.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** What is written to standard output while something runs, past the console, which Lambda wraps. */
const written = async (run: () => Promise<unknown>): Promise<unknown[]> => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation(() => {
    throw new Error('the console wraps lines');
  });
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  await run();
  vi.restoreAllMocks();
  return lines.map((line) => {
    expect(line).toMatch(/^[^\n]+\n$/);
    return JSON.parse(line) as unknown;
  });
};

test('a batch is one line of JSON on standard output', async () => {
  const handler = batchHandler({ decode: { sqs: sqsMessages(json()) }, handle: () => undefined });
  expect(await written(() => handler(sqsEvent({ id: '1' }, { id: '2' })))).toMatchObject([
    { level: 'INFO', message: 'batch', source: 'sqs', records: 2, done: 2, errors: [] },
  ]);
});

test('a batch of an ingest is one line, with its metrics', async () => {
  const { table } = await matchShop();
  const handler = orderedIngest({
    table,
    entity: Match,
    groups: { score: { version: 'scoreAt', fields: ['goals'] } },
    decode: { sqs: sqsMessages(json<{ id: string }>()) },
    versionOf: () => at(1),
    eventOf: ({ body }) => ({ key: body, groups: { score: { goals: 1 } } }),
  });
  const [line, other] = await written(() => handler(sqsEvent({ id: 'secret-1' }, { id: 'secret-2' })));
  expect(other).toBeUndefined();
  expect(line).toMatchObject({
    message: 'ingest',
    Applied: 2,
    _aws: { CloudWatchMetrics: [{ Namespace: 'SafeWrites' }] },
  });
  expect(JSON.stringify(line)).not.toContain('secret');
});
