import { describe, expect, it } from 'vitest';
import { entity, integer, map, record, string, type Table } from '../../lib/commands/index.js';
import {
  batchHandler,
  json,
  orderedIngest,
  sqsMessages,
  type BatchLine,
  type IngestLine,
  type PoisonRecord,
} from '../../lib/events/index.js';
import { failureBody } from '../../lib/events/targets/sqs/failure-message.js';
import { bodySchema, commit, idempotent, refuse, type CallLine } from '../../lib/http/index.js';
import { bodyPath, fromSqs, messageHandler, toItem, toObject } from '../../lib/messaging/index.js';
import { sqsEvent } from '../events/support/events.js';
import { httpEvent } from '../http/http-event.js';
import { testTable } from '../http/test-table.js';
import { rejection } from '../support/recipe-shop.js';
import { secret } from './corpus.js';
import { expectNoSecret, expectRefusal, witnessEach } from './hostile-values.js';

const Note = entity('NOTE', {
  pk: 'NOTE#{id}',
  sk: 'NOTE',
  attributes: {
    id: string(),
    at: integer().optional(),
    text: string().optional(),
    place: map({ city: string().optional() }).optional(),
    labels: record(string()).optional(),
  },
});

/** A payload with a member that no schema declares, of a name that code could have. */
const payload = { id: 'a', [secret]: '1' };
const nested = (value: unknown): never => ({ id: 'a', place: value }) as never;

witnessEach();

it('is a name that code could have', () => expect(secret).toMatch(/^[a-z]+\d+$/));

describe('a name that no schema declares stands in no error', () => {
  const of = async () => (await testTable()).table.of(Note);
  it.each<[string, (notes: Awaited<ReturnType<typeof of>>) => unknown]>([
    ['of a put', (notes) => notes.put(payload)],
    ['of a put of an instance', (notes) => notes.put(Object.assign(Object.create({}) as object, payload))],
    ['of a put with a map', (notes) => notes.put(nested(payload))],
    ['of an update', (notes) => notes.update({ id: 'a' }).set(payload as never)],
    ['of an update of a map', (notes) => notes.update({ id: 'a' }).set(nested(payload))],
    ['of a record', (notes) => notes.put({ id: 'a', labels: { [secret]: 7 } } as never)],
    ['of a key', (notes) => notes.get({ [secret]: 'a' } as never)],
    ['of a query', (notes) => notes.query(payload)],
    ['of a mapped object', () => toItem({ [secret]: NaN })],
    ['of a mapped object, deep inside', () => toItem({ a: [new Map([['b', { [secret]: [undefined] }]])] })],
    ['of an item', () => toObject({ [secret]: { N: 'x' } })],
    ['of an item, deep inside', () => toObject({ a: { L: [{ M: { [secret]: { N: 'x' } } }] } })],
  ])('%s', async (_, make) => {
    const notes = await of();
    const error = await rejection(Promise.resolve().then(() => make(notes)));
    expectRefusal(error);
  });
});

describe('a name of a payload stands in no line, and in no message of a failure', () => {
  const lines: (BatchLine | IngestLine | CallLine)[] = [];
  const log = (line: (typeof lines)[number]): void => void lines.push(line);
  const event = sqsEvent({ id: '1', body: payload });
  const told = (errorName: string): void => {
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain(errorName);
    expectNoSecret(...lines.splice(0));
  };
  const ingest = (shop: Table, aside?: (poison: PoisonRecord) => void) =>
    orderedIngest({
      ...{ table: shop, entity: Note, partialResponses: true, log, failureDestination: aside },
      groups: { text: { version: 'at', fields: ['text', 'place'] } },
      decode: { sqs: sqsMessages(json<object>()) },
      versionOf: () => 1,
      eventOf: ({ body }) => ({ key: { id: 'a' }, groups: { text: { text: 'x', place: body } } }),
    });

  it('of an ingest', async () => {
    const { batchItemFailures } = await ingest((await testTable()).table)(event);
    expect(batchItemFailures).toHaveLength(1);
    told('"message":"');
  });

  it('of an ingest with a failure destination', async () => {
    const aside: PoisonRecord[] = [];
    await ingest((await testTable()).table, (poison) => void aside.push(poison))(event);
    expect(aside).toHaveLength(1);
    for (const poison of aside) {
      const { record, ...facts } = JSON.parse(failureBody(poison, 1e6)) as Record<string, string>;
      // The record itself is kept whole.
      expect(Buffer.from(record ?? '', 'base64').toString()).toContain(secret);
      expect(facts['message']).toContain('not declared');
      expectNoSecret(facts);
    }
    told('content');
  });

  it.each<[string, (shop: Table, body: object) => PromiseLike<unknown>]>([
    ['typed put', (shop, body) => shop.of(Note).put(body as never)],
    ['mapper', (_, body) => Promise.resolve(toItem({ inner: { ...body, [secret]: NaN } }))],
  ])('of a batch, by a %s', async (_, handle) => {
    const { table } = await testTable();
    const handler = batchHandler({
      ...{ partialResponses: true, log },
      decode: { sqs: sqsMessages(json<object>()) },
      handle: async ({ body }) => void (await handle(table, body)),
    });
    expect((await handler(event)).batchItemFailures).toHaveLength(1);
    told('InvalidInputError');
  });

  it('of a message', async () => {
    const { table } = await testTable();
    const onMessage = messageHandler({
      ...{ table, consumer: 'notes', from: fromSqs<object>({ id: bodyPath('id') }) },
      handle: ({ body }, session) => session.add(table.of(Note).put(body as never)),
    });
    const handler = batchHandler({
      ...{ partialResponses: true, log },
      decode: { sqs: (record) => record },
      handle: async (record) => void (await onMessage(record)),
    });
    expect((await handler(event)).batchItemFailures).toHaveLength(1);
    told('InvalidInputError');
  });

  it('of an endpoint whose handler writes a body as it came', async () => {
    const { table } = await testTable();
    const handler = idempotent<object>({
      ...{ table, log },
      handle: (body) => commit({ note: table.of(Note).put(body as never) }, { status: 200, body: {} }),
    });
    const answer = await handler(httpEvent({ body: payload }));
    expect(answer.statusCode).toBe(500);
    expectNoSecret(answer);
    told('not declared');
  });

  it('of an endpoint with a schema, which tells its place to the client alone', async () => {
    const { table } = await testTable();
    const schema = bodySchema({ id: string(), place: map({ city: string() }).optional() });
    const handler = idempotent({
      ...{ table, log, schema, describeIssue: ({ message }: { message: string }) => message },
      handle: () => refuse({ status: 200, body: {} }),
    });
    const answer = await handler(httpEvent({ body: { ...payload, place: { city: 'x', [secret]: 1 } } }));
    expect(answer.statusCode).toBe(400);
    const { errors } = JSON.parse(answer.body ?? '') as { errors: { pointer: string; detail: string }[] };
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual([`/${secret}`, '/place']);
    expectNoSecret(errors.map(({ detail }) => detail));
    told('invalid');
  });
});
