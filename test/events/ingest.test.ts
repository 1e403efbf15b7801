import { describe, expect, test } from 'vitest';
import { orderedIngest, type Ingested } from '../../lib/events/index.js';
import { embedded } from '../support/dynamodb.js';
import { kafkaEvent, sqsEvent } from './support/events.js';
import { failed, kafka, sqs } from './support/match-events.js';
import { Match, at, matchShop } from './support/matches.js';

describe('a batch', () => {
  test('writes the newest event of each key and group, and settles the others', async () => {
    const shop = await matchShop();
    const answer = await shop.ingest(
      sqsEvent(
        sqs('1', 'a', { goals: 1, at: 1 }),
        sqs('2', 'a', { goals: 3, at: 3 }),
        sqs('3', 'a', { goals: 2, at: 2 }),
        sqs('4', 'a', { status: 'LIVE', at: 1 }),
        sqs('5', 'b', { goals: 1, at: 1 }),
        sqs('6', 'a', { goals: 3, at: 3 }),
        sqs('7', 'a', { goals: 9, at: 3 }),
        sqs('8', 'b', { ignored: true }),
      ),
    );
    expect(failed(answer)).toEqual([]);
    if (embedded) expect(shop.writes()).toBe(3);
    expect(await shop.stored('a')).toEqual({ id: 'a', goals: 3, scoreAt: at(3), status: 'LIVE', statusAt: at(1) });
    expect(await shop.stored('b')).toEqual({ id: 'b', goals: 1, scoreAt: at(1) });
    expect(shop.lines).toMatchObject([
      {
        ...{ message: 'ingest', entity: 'MATCH', source: 'sqs', level: 'WARN' },
        ...{ Records: 8, Applied: 3, AlreadyStored: 1, Superseded: 2, Conflict: 1, Ignored: 1 },
        ...{ Poison: 0, Failed: 0, Unfinished: 0, Writes: 3 },
      },
    ]);
  });

  test('that comes a second time is stored already', async () => {
    const shop = await matchShop();
    const event = kafkaEvent(kafka(1, 'a', { goals: 1, at: 1 }), kafka(2, 'a', { goals: 2, at: 2 }));
    await shop.ingest(event);
    await shop.ingest(event);
    expect(shop.lines.at(-1)).toMatchObject({ Applied: 0, AlreadyStored: 1, Superseded: 1, Writes: 1 });
  });

  test('writes an event of several groups by group, each on its own merits', async () => {
    const shop = await matchShop();
    await shop.ingest(sqsEvent(sqs('1', 'a', { goals: 1, status: 'OLD', at: 1 }), sqs('2', 'a', { goals: 2, at: 2 })));
    expect(await shop.stored('a')).toMatchObject({ goals: 2, status: 'OLD' });
    expect(shop.lines).toMatchObject([{ Applied: 2, Writes: 2 }]);
  });

  test('of tombstones and events ends at the newest, whatever the order', async () => {
    const shop = await matchShop();
    await shop.ingest(
      kafkaEvent(
        kafka(1, 'a', { goals: 1, at: 1 }),
        kafka(2, 'a', null, at(2)),
        kafka(3, 'b', { goals: 3, at: 3 }),
        kafka(4, 'b', null, at(2)),
        kafka(5, 'b', { status: 'OLD', at: 1 }),
      ),
    );
    expect(await shop.stored('a')).toEqual({ id: 'a', goals: 0, gone: true, goneAt: at(2) });
    expect(await shop.stored('b')).toEqual({ id: 'b', goals: 3, scoreAt: at(3), goneAt: at(2) });
    // The deletion comes first, and decides the older events without a request.
    expect(shop.lines).toMatchObject([{ Applied: 3, Superseded: 2, Writes: 3 }]);
    await shop.ingest(kafkaEvent(kafka(6, 'a', { goals: 9, at: 1 })));
    expect(await shop.stored('a')).toMatchObject({ gone: true });
  });

  test('gives a tombstone its version by the rule of the topic, and none without', async () => {
    const shop = await matchShop();
    const answer = await shop.ingest(kafkaEvent(kafka(1, 'a', null, at(2)), kafka(2, 'b', null)));
    expect([failed(answer), shop.aside.map(({ reason }) => reason)]).toEqual([[], ['version']]);
    expect(await shop.stored('a')).toMatchObject({ gone: true, goneAt: at(2) });
  });
});

test('the hook learns each outcome before the record is acknowledged, and may refuse it', async () => {
  const seen: string[] = [];
  const onOutcome = ({ outcome, record }: Ingested<unknown>): void => {
    const { messageId } = record as { messageId: string };
    seen.push(`${messageId} ${outcome}`);
    if (outcome === 'Conflict') throw new Error('tell somebody');
  };
  const shop = await matchShop({ onOutcome });
  const answer = await shop.ingest(
    sqsEvent(
      sqs('1', 'a', { goals: 2, at: 2 }),
      sqs('2', 'a', { goals: 1, at: 1 }),
      sqs('3', 'a', { goals: 9, at: 2 }),
    ),
  );
  expect(seen.toSorted()).toEqual(['1 Applied', '2 Superseded', '3 Conflict']);
  expect(failed(answer)).toEqual(['3']);
});

test('the line of a batch is a metric of CloudWatch, with the dimensions that were asked for', async () => {
  const { lines, ingest } = await matchShop();
  await ingest(sqsEvent(sqs('1', 'a', { goals: 1, at: 1 })));
  const { _aws, ...line } = lines[0]!;
  const [directive] = _aws.CloudWatchMetrics;
  expect(directive).toMatchObject({ Namespace: 'SafeWrites', Dimensions: [['function']] });
  expect(Math.abs(Date.now() - _aws.Timestamp)).toBeLessThan(60_000);
  for (const { Name } of directive!.Metrics) expect(line).toHaveProperty(Name, expect.any(Number));
  expect(directive!.Metrics.map(({ Name, Unit }) => `${Name} ${Unit}`)).toContain('Conflict Count');

  const own: object[] = [];
  const handler = orderedIngest({
    table: (await matchShop()).table,
    entity: Match,
    groups: { score: { version: 'scoreAt', fields: ['goals'] } },
    decode: { sqs: () => undefined },
    versionOf: () => at(1),
    eventOf: () => undefined,
    metrics: { namespace: 'shop', dimensions: { stage: 'test' } },
    log: (given) => own.push(given),
  });
  await handler(sqsEvent({ id: '1' }));
  expect(own).toMatchObject([
    { stage: 'test', _aws: { CloudWatchMetrics: [{ Namespace: 'shop', Dimensions: [['stage']] }] }, Ignored: 1 },
  ]);
});

test('near the deadline no key is begun', async () => {
  const shop = await matchShop({ concurrency: 1, deadlineMarginMs: 100 });
  let calls = 0;
  // The decoder is asked twice, once a record; then one key is begun.
  const context = { getRemainingTimeInMillis: () => (++calls > 6 ? 50 : 60_000) };
  const event = sqsEvent(sqs('1', 'a', { goals: 1, at: 1 }), sqs('2', 'b', { goals: 1, at: 1 }));
  const answer = await shop.ingest(event);
  expect(failed(answer)).toEqual([]);
  const later = sqsEvent(sqs('1', 'c', { goals: 1, at: 1 }), sqs('2', 'd', { goals: 1, at: 1 }));
  const handler = shop.ingest as (event: unknown, context: unknown) => ReturnType<typeof shop.ingest>;
  expect(failed(await handler(later, context))).toEqual(['2']);
  expect(shop.lines.at(-1)).toMatchObject({ Applied: 1, Unfinished: 1 });
});
