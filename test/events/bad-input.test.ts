import { describe, expect, test } from 'vitest';
import { InvalidInputError, bigint, entity, integer, string, timestamp } from '../../lib/commands/index.js';
import {
  BatchFailedError,
  batchHandler,
  json,
  kafkaMessages,
  orderedIngest,
  sqsMessages,
  text,
  type BatchEvent,
  type IngestLine,
} from '../../lib/events/index.js';
import { kafkaEvent, kafkaRecord, silent, sqsEvent, sqsRecord, streamEvent, streamRecord } from './support/events.js';
import { Match, at, matchShop } from './support/matches.js';

const count = () => {
  let calls = 0;
  const handler = batchHandler({
    ...silent,
    partialResponses: true,
    decode: { sqs: sqsMessages(json()), kafka: kafkaMessages({ value: json() }), stream: (record) => ({ record }) },
    handle: () => {
      calls++;
      throw new Error('not now');
    },
  });
  return { run: (event: unknown) => handler(event as BatchEvent), calls: () => calls };
};

test.each([
  [{ Records: [] }],
  [{ eventSource: 'aws:kafka', records: {} }],
  [{ eventSource: 'aws:kafka', records: { 'a-0': [] } }],
])('an empty batch is done: %#', async (event) => {
  const { run, calls } = count();
  expect(await run(event)).toEqual({ batchItemFailures: [] });
  expect(calls()).toBe(0);
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['text', 'x'],
  ['a list', []],
  ['an object of no source', {}],
  ['an HTTP call', { version: '2.0', rawPath: '/' }],
  ['an EventBridge event', { source: 'aws.events', detail: {} }],
  ['Kinesis', { Records: [{ eventSource: 'aws:kinesis', kinesis: {} }] }],
  ['S3', { Records: [{ eventSource: 'aws:s3', s3: {} }] }],
  ['SNS', { Records: [{ EventSource: 'aws:sns', Sns: {} }] }],
  ['records of two sources', { Records: [sqsRecord({ id: 'a' }), streamRecord({ pk: 'a', sequence: '1' })] }],
  ['records that are no list', { Records: {} }],
  ['a record that is null', { Records: [null] }],
  ['Kafka without records', { eventSource: 'aws:kafka' }],
  ['Kafka with a list of records', { eventSource: 'aws:kafka', records: [] }],
  ['Kafka with a partition that is no list', { eventSource: 'aws:kafka', records: { 'a-0': {} } }],
  ['a source with other records', { eventSource: 'aws:mq', messages: [] }],
])('%s is refused, so that it comes again', async (_, event) => {
  const { run, calls } = count();
  await expect(run(event)).rejects.toThrow(InvalidInputError);
  expect(calls()).toBe(0);
});

test('a source without decoder is refused', async () => {
  const handler = batchHandler({ ...silent, decode: { sqs: sqsMessages(json()) }, handle: () => undefined });
  await expect(handler(kafkaEvent({ offset: 1 }))).rejects.toThrow('the event is one of Kafka, which has no decoder');
  await expect(handler(streamEvent({ pk: 'a', sequence: '1' }))).rejects.toThrow(InvalidInputError);
});

describe('a record that failed and has no identifier makes the whole batch come again', () => {
  const { messageId: _id, ...nameless } = sqsRecord({ id: 'a' });
  const { dynamodb: _, ...empty } = streamRecord({ pk: 'a', sequence: '1' });
  test.each([
    ['SQS without message id', { Records: [nameless, sqsRecord({ id: 'b' })] }],
    ['SQS with an empty one', sqsEvent({ id: '' })],
    ['a stream without sequence number', { Records: [empty] }],
    ['a stream whose number is none', streamEvent({ pk: 'a', sequence: 'x' })],
    ['Kafka with an offset as text', { eventSource: 'aws:kafka', records: { 'a-0': [{ topic: 'a', offset: '1' }] } }],
    ['Kafka without offset', { eventSource: 'aws:kafka', records: { 'a-0': [{ topic: 'a', partition: 0 }] } }],
    ['Kafka past 2^53', kafkaEvent({ offset: 2 ** 53 })],
  ])('%s', async (__, event) => {
    await expect(count().run(event)).rejects.toThrow(BatchFailedError);
  });
});

test('messages without attributes are handled', async () => {
  const Records = sqsEvent({ id: 'a' }).Records.map(
    ({ attributes: _, messageAttributes: __, eventSourceARN: ___, ...r }) => r,
  );
  expect(await count().run({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
});

describe('options out of their bounds are refused', () => {
  const decode = { sqs: sqsMessages(json()) };
  const handle = () => undefined;
  test.each([
    [{ concurrency: 0 }],
    [{ concurrency: 1.5 }],
    [{ concurrency: NaN }],
    [{ deadlineMarginMs: -1 }],
    [{ deadlineMarginMs: NaN }],
    [{ poisonAfterReceives: 0 }],
    [{ handle: undefined }],
    [{ decode: undefined }],
    [{ decode: null }],
  ])('%o', (options) => {
    expect(() => batchHandler({ decode, handle, ...options } as never)).toThrow(InvalidInputError);
  });

  test('of an ingest too, and groups that do not fit', async () => {
    const { table } = await matchShop();
    const groups = { score: { version: 'scoreAt', fields: ['goals'] } } as const;
    const good = { table, entity: Match, groups, decode, versionOf: () => at(1), eventOf: () => undefined };
    expect(() => orderedIngest(good)).not.toThrow();
    for (const bad of [
      { concurrency: 0 },
      { eventOf: undefined },
      { versionOf: 7 },
      { decode: undefined },
      { groups: {} },
      { groups: { score: { version: 'goals', fields: ['id'] } } },
    ]) {
      expect(() => orderedIngest({ ...good, ...bad } as never)).toThrow(InvalidInputError);
    }
  });

  test('the environment says true or false', () => {
    const set = (value: string | undefined): void => {
      if (value === undefined) delete process.env['SAFEWRITES_PARTIAL_RESPONSES'];
      else process.env['SAFEWRITES_PARTIAL_RESPONSES'] = value;
    };
    const run = (value: string | undefined) => {
      set(value);
      try {
        const fails = () => Promise.reject(new Error('not now'));
        return batchHandler({ ...silent, decode, handle: fails })(sqsEvent({ id: 'a' }));
      } finally {
        set(undefined);
      }
    };
    expect(() => run('yes')).toThrow("SAFEWRITES_PARTIAL_RESPONSES: expected 'true' or 'false'");
    return Promise.all([
      expect(run('true')).resolves.toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] }),
      expect(run('false')).rejects.toThrow(BatchFailedError),
      expect(run('')).rejects.toThrow(BatchFailedError),
      expect(run(undefined)).rejects.toThrow(BatchFailedError),
    ]);
  });
});

describe('an ingest sets aside', () => {
  const one = (body: unknown, headers: Record<string, string> = { key: 'a' }) =>
    sqsEvent({ id: '1', body: JSON.stringify(body), headers });

  test.each([
    ['a version that is no date', { goals: 1, at: 'yesterday' }, 'version'],
    ['a version that is absent', { goals: 1 }, 'version'],
    ['a version that is no number', { goals: 1, at: null }, 'version'],
    ['an event of no group', { at: 1 }, 'content'],
    ['a value of another type', { goals: 'x', at: 1 }, 'content'],
  ])('%s', async (_, body, reason) => {
    const { ingest, aside } = await matchShop();
    expect(await ingest(one(body))).toEqual({ batchItemFailures: [] });
    expect(aside.map((poison) => poison.reason)).toEqual([reason]);
  });

  test('an empty key, one with the separator and one of over 2 KB; one of 2 KB is written', async () => {
    const { ingest, aside, stored } = await matchShop();
    for (const key of ['', 'a#b', 'k'.repeat(2043)]) await ingest(one({ goals: 1, at: 1 }, { key }));
    expect(aside.map(({ reason }) => reason)).toEqual(['content', 'content', 'content']);
    for (const { error } of aside) expect(error.message).not.toMatch(/a#b|kkk/);
    const longest = 'k'.repeat(2042);
    await ingest(one({ goals: 1, at: 1 }, { key: longest }));
    expect(await stored(longest)).toMatchObject({ goals: 1 });
  });

  test('an event that deletes and replaces at once, or says of its deletion anything but true', async () => {
    const { table, items } = await matchShop();
    const aside: string[] = [];
    const events = [
      { deleted: true, groups: { score: { goals: 1 } } },
      { deleted: false },
      { deleted: 'yes' },
      { deleted: null, groups: { score: { goals: 1 } } },
    ];
    const handler = orderedIngest({
      ...{ ...silent, partialResponses: true, table, entity: Match },
      groups: { score: { version: 'scoreAt', fields: ['goals'] } },
      deletion: { flag: 'gone', version: 'goneAt', revives: true },
      decode: { sqs: sqsMessages(json<number>()) },
      versionOf: () => at(1),
      eventOf: ({ body }) => ({ key: { id: 'a' }, ...events[body] }) as never,
      failureDestination: ({ reason }) => void aside.push(reason),
    });
    expect(await handler(sqsEvent(...events.map((_, i) => ({ id: `m${i}`, body: String(i) }))))).toEqual({
      batchItemFailures: [],
    });
    expect(aside).toEqual(events.map(() => 'content'));
    expect(await items()).toEqual([]);
  });

  test('what its functions make no event of', async () => {
    const aside: string[] = [];
    const given: unknown[] = [null, 'x', {}, { key: null }, { key: { id: 'a' } }];
    const more = [
      { key: { id: 'a' }, deleted: true },
      { key: { id: 'a' }, deleted: false, groups: {} },
      { key: { id: 'a' }, groups: { other: { goals: 1 } } },
      { key: { id: 'a' }, groups: { score: { goals: 1, status: 'x' } } },
      { key: { id: 'a' }, groups: { score: {} } },
      { key: { id: 'a' }, groups: { score: null } },
    ];
    const { table, items } = await matchShop();
    const handler = orderedIngest({
      ...silent,
      partialResponses: true,
      table,
      entity: Match,
      groups: { score: { version: 'scoreAt', fields: ['goals'] } },
      decode: { sqs: sqsMessages(json<number>()) },
      versionOf: () => at(1),
      eventOf: ({ body }) => [...given, ...more][body] as never,
      failureDestination: ({ reason, error }) => void aside.push(reason, error.name),
    });
    const bodies = [...given, ...more].map((_, i) => ({ id: `m${i}`, body: String(i) }));
    expect(await handler(sqsEvent(...bodies))).toEqual({ batchItemFailures: [] });
    expect(aside.filter((text) => text === 'content')).toHaveLength(bodies.length);
    expect(await items()).toEqual([]);
  });
});

describe('a version that its attribute can not hold is poison, and not quoted', () => {
  const State = entity('STATE', {
    pk: 'STATE#{id}',
    sk: 'STATE',
    attributes: {
      ...{ id: string(), n: integer().default(0) },
      ...{ sequence: integer().optional(), large: bigint().optional(), at: timestamp().optional() },
    },
  });
  test.each<['sequence' | 'large' | 'at', readonly unknown[]]>([
    ['sequence', [NaN, Infinity, 1.5, 2 ** 53, '7', 7n, true, {}, [], new Date(0)]],
    ['large', [7, '7', 10n ** 40n + 1n, 10n ** 200n]],
    ['at', ['', '7', 7, 'yesterday', '2026', '2026-12-01T00:00:00Z', '2026-02-30T00:00:00.000000000Z', new Date(0)]],
  ])('%s', async (version, values) => {
    const { table } = await matchShop();
    const aside: string[] = [];
    const lines: IngestLine[] = [];
    const handler = orderedIngest<typeof State, Record<string, { version: 'at'; fields: ['n'] }>, number>({
      table,
      entity: State,
      groups: { n: { version: version as 'at', fields: ['n'] } },
      decode: { sqs: ({ messageId }) => Number(messageId) },
      versionOf: (place) => values[place] as never,
      eventOf: (place) => ({ key: { id: `s${place}` }, groups: { n: { n: 1 } } }),
      partialResponses: true,
      failureDestination: ({ reason, error }) => void aside.push(`${reason} ${error.message}`),
      log: (line) => lines.push(line),
    });
    const event = sqsEvent(...values.map((_, i) => ({ id: String(i) })));
    expect(await handler(event)).toEqual({ batchItemFailures: [] });
    expect(aside).toHaveLength(values.length);
    // One message whatever the value: it is quoted in none.
    expect(new Set(aside).size).toBeLessThan(3);
    for (const text of aside) expect(text).toMatch(/^version /);
    expect(lines).toMatchObject([{ Applied: 0, Writes: 0, Poison: values.length }]);
    expect(await table.of(State).get({ id: 's0' }).item()).toBeUndefined();
  });
});

test('a deletion of the version of a group is a conflict, whichever comes first', async () => {
  const { ingest, lines, stored } = await matchShop();
  const score = { id: 'm1', body: { goals: 1, at: 1 }, headers: { key: 'a' } };
  const goneOf = (key: string) => kafkaEvent({ offset: 1, key, value: null, headers: { key, at: at(1) } });
  await ingest(sqsEvent(score));
  await ingest(goneOf('a'));
  expect(lines.at(-1)).toMatchObject({ Conflict: 1, level: 'WARN' });
  expect(await stored('a')).toMatchObject({ goals: 1 });
  await ingest(goneOf('b'));
  await ingest(sqsEvent({ ...score, headers: { key: 'b' } }));
  expect(lines.at(-1)).toMatchObject({ Conflict: 1, level: 'WARN' });
  expect(await stored('b')).toMatchObject({ gone: true });
});

test('keys of 2 KB are lanes as others are, and in no line', async () => {
  const lines: object[] = [];
  const seen: string[] = [];
  const long = 'k'.repeat(2048);
  const handler = batchHandler({
    ...{ partialResponses: true, log: (line: object) => void lines.push(line) },
    decode: {
      kafka: kafkaMessages({ value: text() }),
      stream: ({ eventID = '' }) => ({ key: eventID, body: eventID }),
    },
    handle: ({ key, body = '' }) => {
      seen.push(body);
      if (body.startsWith('bad')) throw new Error(`no ${key}`);
    },
  });
  const kafka = kafkaEvent(
    ...[`${long}1`, `${long}2`, `${long}1`].map((key, offset) => ({
      offset,
      key,
      value: offset === 0 ? 'bad' : 'good',
    })),
  );
  expect(await handler(kafka)).toEqual({
    batchItemFailures: [{ itemIdentifier: { partition: 'orders-0', offset: 0 } }],
  });
  expect(seen).toEqual(['bad', 'good']);
  const stream = streamEvent({ pk: `${long}1`, sequence: '1' }, { pk: `${long}1`, sequence: '2' });
  const Records = stream.Records.map((record, i) => ({ ...record, eventID: i === 0 ? 'bad' : 'never' }));
  expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
  expect(seen).toEqual(['bad', 'good', 'bad']);
  expect(JSON.stringify(lines)).not.toContain('kkk');
});

test('two events of one version and other content are a conflict: reported, and the first stays', async () => {
  const { ingest, lines, stored } = await matchShop();
  const event = (goals: number) => sqsEvent({ id: `m${goals}`, body: { goals, at: 1 }, headers: { key: 'a' } });
  await ingest(event(1));
  expect(await ingest(event(2))).toEqual({ batchItemFailures: [] });
  expect(lines.at(-1)).toMatchObject({ Conflict: 1, level: 'WARN' });
  expect(await stored('a')).toMatchObject({ goals: 1 });
});

test('a batch of 6 MB, of one key and of many', { timeout: 60_000 }, async () => {
  const { ingest, lines, stored } = await matchShop();
  const note = 'x'.repeat(350);
  const bulk = (keys: number) =>
    kafkaEvent(
      ...Array.from({ length: 10_000 }, (_, i) => ({
        ...{ offset: i, key: `k${i % keys}`, value: { goals: i, at: (i * 7) % 10_007, note } },
        headers: { key: `k${i % keys}` },
      })),
    );
  const one = bulk(1);
  expect(JSON.stringify(one).length).toBeGreaterThan(5_500_000);
  expect(await ingest(one)).toEqual({ batchItemFailures: [] });
  expect(lines.at(-1)).toMatchObject({ Applied: 1, Superseded: 9999, Writes: 1 });
  expect(await ingest(bulk(200))).toEqual({ batchItemFailures: [] });
  expect(lines.at(-1)).toMatchObject({ Records: 10_000, Writes: 200 });
  expect(await stored('k0')).toMatchObject({ scoreAt: at(10_006) });
  expect(JSON.stringify(kafkaRecord({ offset: 0 })).length).toBeLessThan(600);
});
