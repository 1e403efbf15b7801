import { PutItemCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entity, InvalidInputError, oneOf, string, timeToLive, integer } from '../../lib/commands/index.js';
import {
  BatchFailedError,
  changeRelay,
  PoisonRecordError,
  type ChangeRelayOptions,
  type PoisonRecord,
  type RelayLine,
} from '../../lib/events/index.js';
import { streamEvent } from '../events/support/events.js';
import { failed, ids, ok, target } from '../recipes/outbox/relay-target.js';
import { chanceOf } from './chance.js';
import { testShop } from './relay-shop.js';
import { StreamShard } from './stream-shard.js';

const Order = entity('ORDER', {
  pk: 'ORDER#{id}',
  sk: 'ORDER',
  attributes: { id: string(), status: oneOf('OPEN', 'PAID'), total: integer().default(0) },
});
const Session = entity('SESSION', {
  pk: 'SESSION#{id}',
  sk: 'SESSION',
  attributes: { id: string(), expiresAt: timeToLive() },
});
const entities = [Order, Session] as const;
type Options = ChangeRelayOptions<[typeof Order, typeof Session]>;

const map: Options['map'] = (change) => {
  if (change.type === 'SESSION') return change.expired ? { type: 'session.expired', detail: change.key } : undefined;
  if (change.newItem?.status === 'PAID' && change.oldItem?.status !== 'PAID')
    return { type: 'order.paid', detail: { was: change.oldItem?.status ?? 'NONE', total: change.newItem.total } };
  return undefined;
};

const relay = async (options: Partial<Options> = {}, view?: 'KEYS_ONLY') => {
  const here = await testShop(view);
  const to = target();
  const lines: RelayLine[] = [];
  const handler = changeRelay({
    ...{ table: here.shop, entities: [...entities], source: 'shop', map, target: to, partialResponses: true },
    ...{ log: (line: RelayLine) => void lines.push(line), ...options },
  });
  return { here, to, lines, handler, orders: here.shop.of(Order), sessions: here.shop.of(Session) };
};

describe('changes become events', () => {
  test('by old and new item, with an id that is the same whenever the record comes', async () => {
    const { here, to, lines, handler, orders } = await relay();
    await orders.put({ id: 'o1', status: 'OPEN', total: 5 });
    await orders.update({ id: 'o1' }).set({ status: 'PAID' });
    await orders.update({ id: 'o1' }).set({ total: 6 });
    const records = await here.records();
    expect(await handler({ Records: records })).toEqual({ batchItemFailures: [] });
    const [paid] = records.filter(({ eventName }) => eventName === 'MODIFY');
    expect(to.arrived).toEqual([
      {
        ...{ id: paid!.eventID, type: 'order.paid', source: 'shop', detail: '{"was":"OPEN","total":5}' },
        ...{
          aggregate: 'ORDER#o1#ORDER',
          sequence: paid!.dynamodb!.SequenceNumber,
          position: 0,
          traceparent: undefined,
        },
        time: new Date(paid!.dynamodb!.ApproximateCreationDateTime! * 1000),
      },
    ]);
    await handler({ Records: records });
    expect(to.arrived[1]).toEqual(to.arrived[0]);
    expect(lines).toMatchObject([{ message: 'relay', records: 3, Published: 1, Failed: 0 }, { Published: 1 }]);
  });

  test('a removal by time to live is told from a deletion', async () => {
    const { here, to, handler, sessions } = await relay();
    await here.client.send(
      new UpdateTimeToLiveCommand({
        TableName: 'shop',
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    );
    await sessions.put({ id: 's1', expiresAt: new Date(Date.now() - 60_000) });
    await sessions.put({ id: 's2', expiresAt: new Date(Date.now() + 3_600_000) });
    await sessions.delete({ id: 's2' });
    await here.local.sweep();
    await handler({ Records: await here.records() });
    expect(to.arrived).toMatchObject([{ type: 'session.expired', detail: '{"id":"s1"}' }]);
  });

  test('several of one change are in order, with ids of their own', async () => {
    const { here, to, handler, orders } = await relay({
      map: () => ['first', 'second', 'third'].map((type) => ({ type, detail: {} })),
    });
    await orders.put({ id: 'o1', status: 'OPEN' });
    const records = await here.records();
    await handler({ Records: records });
    const { eventID } = records[0]!;
    expect(to.arrived.map(({ type, position }) => [type, position])).toEqual([
      ['first', 0],
      ['second', 1],
      ['third', 2],
    ]);
    expect(ids(to.arrived)).toEqual([eventID, `${eventID}-1`, `${eventID}-2`]);
  });

  test('an id, a time, an aggregate and a trace of its own are taken', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const event = { id: 'mine', time: new Date(0), aggregate: 'customer:1', source: 'other', traceparent };
    const { here, to, handler, orders } = await relay({ map: () => ({ type: 't', detail: {}, ...event }) });
    await orders.put({ id: 'o1', status: 'OPEN' });
    await handler({ Records: await here.records() });
    expect(to.arrived).toMatchObject([event]);
  });

  test('with keys only, there are keys', async () => {
    const { here, to, handler, orders } = await relay(
      { map: ({ key, kind }) => ({ type: kind.toLowerCase(), detail: key }) },
      'KEYS_ONLY',
    );
    await orders.put({ id: 'o1', status: 'OPEN' });
    await handler({ Records: await here.records() });
    expect(to.arrived).toMatchObject([{ type: 'insert', detail: '{"id":"o1"}' }]);
  });

  test('without an id of the stream, an event has one of its item and number', async () => {
    const { to, handler } = await relay({ map: () => ({ type: 't', detail: {} }) });
    const [record] = streamEvent({ pk: 'ORDER#1', sequence: '1' }).Records;
    const Keys = { pk: { S: 'ORDER#1' }, sk: { S: 'ORDER' } };
    const anonymous = { ...record, eventID: undefined, dynamodb: { ...record!.dynamodb, Keys } };
    await handler({ Records: [anonymous] });
    await handler({ Records: [anonymous] });
    await handler({ Records: [{ ...anonymous, dynamodb: { ...anonymous.dynamodb, SequenceNumber: '2' } }] });
    const [first, second, other] = ids(to.arrived);
    expect(first).toMatch(/^[\da-f]{64}$/);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe('failures', () => {
  const everyChange: Options['map'] = ({ key }) => ({ type: 't', detail: key });

  test('end the changes of their item, and let others through', async () => {
    const { here, to, lines, handler, orders } = await relay({ map: everyChange, sends: 2 });
    to.answer = ({ aggregate }) => (aggregate.includes('bad') ? failed(true, 'InternalFailure') : ok);
    for (const total of [1, 2]) for (const id of ['bad', 'good']) await orders.put({ id, status: 'OPEN', total });
    const records = await here.records();
    const bad = records.filter(({ dynamodb }) => dynamodb?.Keys?.['pk']?.S === 'ORDER#bad');
    expect(await handler({ Records: records })).toEqual({
      batchItemFailures: [{ itemIdentifier: bad[0]!.dynamodb!.SequenceNumber }],
    });
    expect(to.arrived.map(({ aggregate }) => aggregate)).toEqual(['ORDER#good#ORDER', 'ORDER#good#ORDER']);
    expect(lines).toMatchObject([
      { level: 'ERROR', Failed: 1, unfinished: 1, PublishFailures: 2, reasons: { InternalFailure: 1 }, errors: [] },
    ]);
  });

  test('what a target refuses for good is poison, as is what is no event', async () => {
    const aside: PoisonRecord[] = [];
    const failureDestination = (poison: PoisonRecord) => void aside.push(poison);
    const maps: [string, Options['map']][] = [
      ['target', everyChange],
      ['content', () => ({ type: '', detail: {} })],
      ['content', () => ({ type: 't', detail: 'text' as never })],
      ['content', () => ({ type: 't', detail: { text: 'x'.repeat(300_000) } })],
      ['content', () => ({ type: 't', detail: {}, traceparent: 'none' })],
      ['content', () => ({ type: 't', detail: {}, time: new Date(NaN) })],
      ['content', () => ({ type: 't', detail: {}, time: 0 as never })],
      ['content', () => ({ type: 't', detail: {}, aggregate: 7 as never })],
      ['content', () => [null as never]],
      ['content', () => (undefined as unknown as () => undefined)()],
      [
        'version',
        () => {
          throw new PoisonRecordError('version', 'it is too old');
        },
      ],
    ];
    for (const [reason, map] of maps) {
      const { here, to, lines, handler, orders } = await relay({ map, failureDestination });
      Object.assign(to, { maximumBytes: 262_144, answer: () => failed(false, 'MalformedDetail') });
      await orders.put({ id: 'secret', status: 'OPEN' });
      // The limit of a target is read when the handler is made.
      const sized = changeRelay({
        ...{ table: here.shop, entities: [...entities], source: 'shop', map, target: to, partialResponses: true },
        ...{ failureDestination, log: (line: RelayLine) => void lines.push(line) },
      });
      void handler;
      expect(await sized({ Records: await here.records() })).toEqual({ batchItemFailures: [] });
      expect(aside.at(-1)).toMatchObject({ source: 'stream', reason });
      expect(aside.at(-1)!.error.message).not.toMatch(/secret|oops/);
      expect(lines).toMatchObject([{ poison: 1, Failed: 0, level: 'WARN' }]);
    }
  });

  test('without a failure destination it failed, and a target that throws fails too', async () => {
    const { here, to, handler, orders } = await relay({ map: everyChange, partialResponses: false, sends: 1 });
    await orders.put({ id: 'o1', status: 'OPEN' });
    const records = await here.records();
    to.answer = () => failed(false);
    await expect(handler({ Records: records })).rejects.toThrow(BatchFailedError);
    to.publish = () => Promise.reject(new Error('down'));
    await expect(handler({ Records: records })).rejects.toThrow(BatchFailedError);
  });

  test('near the deadline nothing is begun', async () => {
    const { here, to, handler, orders } = await relay({ map: everyChange });
    await orders.put({ id: 'o1', status: 'OPEN' });
    const records = await here.records();
    const answer = await handler({ Records: records }, { getRemainingTimeInMillis: () => 0 });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: records[0]!.dynamodb!.SequenceNumber }] });
    expect(to.arrived).toEqual([]);
  });
});

test('every change arrives, those of an item in order, whatever fails and comes again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ seed: fc.integer(), items: fc.integer({ min: 1, max: 4 }), writes: fc.integer({ min: 1, max: 30 }) }),
      async ({ seed, items, writes }) => {
        const chance = chanceOf(seed);
        const { here, to, handler, orders } = await relay({
          map: ({ newItem }) =>
            newItem !== undefined && 'total' in newItem
              ? [1, 2].map((n) => ({ type: 't', detail: { total: newItem.total, n } }))
              : undefined,
          sends: 2,
        });
        to.answer = () => (chance() < 1 / 3 ? failed(true) : ok);
        const expected = new Map<string, string[]>();
        for (let total = 1; total <= writes; total++) {
          const id = `o${Math.floor(chance() * items)}`;
          await orders.put({ id, status: 'OPEN', total });
          const own = expected.get(`ORDER#${id}#ORDER`) ?? [];
          expected.set(`ORDER#${id}#ORDER`, [...own, `${total}.1`, `${total}.2`]);
        }
        const shard = new StreamShard(chance);
        shard.add(...(await here.records()));
        while (!shard.isEmpty) shard.answer(await handler({ Records: shard.next() }));
        for (const [aggregate, own] of expected) {
          const arrived = to.arrived.filter((event) => event.aggregate === aggregate);
          const told = arrived.map(({ detail }) => JSON.parse(detail) as { total: number; n: number });
          expect([...new Set(told.map(({ total, n }) => `${total}.${n}`))]).toEqual(own);
          // Duplicates are recognised by their ids.
          expect(new Set(ids(arrived)).size).toBe(own.length);
        }
      },
    ),
    { numRuns: 25 },
  );
}, 60_000);

describe('bad input', () => {
  test.each([
    ['no map', { map: undefined as never }],
    ['no target', { target: undefined as never }],
    ['no source', { source: '' }],
    ['no sends', { sends: 0 }],
    ['no concurrency', { concurrency: 0 }],
    ['no entities', { entities: [] as never }],
  ])('%s is refused when the handler is made', async (_, options: Partial<Options>) => {
    await expect(relay(options)).rejects.toThrow(InvalidInputError);
  });

  test('an event of another source is refused, items of no entity are passed over, broken ones are poison', async () => {
    const { here, to, handler } = await relay();
    await expect(handler({ Records: [{ eventSource: 'aws:sqs' }] })).rejects.toThrow(InvalidInputError);
    const Item = { pk: { S: 'ORDER#1' }, sk: { S: 'ORDER' }, _type: { S: 'ORDER' }, status: { S: 'LOST' } };
    const other = { pk: { S: 'X' }, sk: { S: 'Y' } };
    for (const each of [Item, other]) await here.client.send(new PutItemCommand({ TableName: 'shop', Item: each }));
    const records = await here.records();
    const [broken] = records.filter(({ dynamodb }) => dynamodb?.Keys?.['pk']?.S === 'ORDER#1');
    expect(await handler({ Records: records })).toEqual({
      batchItemFailures: [{ itemIdentifier: broken!.dynamodb!.SequenceNumber }],
    });
    expect(to.arrived).toEqual([]);
    expect(await handler({ Records: [] })).toEqual({ batchItemFailures: [] });
  });
});
