import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  LimitExceededError,
  entity,
  string,
  transactWrite,
  version,
} from '../../../lib/commands/index.js';
import { OutboxItem, isTraceparent, outbox, shardOf, type OutboxEvent } from '../../../lib/recipes/index.js';
import { testTable } from '../../http/test-table.js';

const Order = entity('ORDER', {
  pk: 'ORDER#{id}',
  sk: 'STATE',
  attributes: { id: string(), status: string(), revision: version() },
});

const event = (change: Partial<OutboxEvent> = {}): OutboxEvent => ({
  type: 'order.paid',
  detail: { id: 1 },
  ...change,
});
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('publish', () => {
  it('leaves the events of an aggregate with the transaction, under its sequence', async () => {
    const { table, items } = await testTable();
    const time = new Date('2026-12-01T00:00:00Z');
    await transactWrite(table, {
      order: table.of(Order).put({ id: 'o1', status: 'PAID' }),
      event: outbox(table, { source: 'shop', shards: 4 }).publish({
        aggregate: 'order:o1',
        sequence: 1,
        traceparent,
        events: [
          event({ id: 'e1', time }),
          event({ type: 'order.closed', source: 'desk', detail: {}, id: 'e2', time }),
        ],
      }),
    });
    const [item] = await items('OUTBOX');
    const shard = shardOf('order:o1', 4);
    expect(item).toMatchObject({
      pk: { S: `OUTBOX#${shard}` },
      sk: { S: 'order:o1#0000000000000001' },
      format: { N: '1' },
    });
    expect(item).not.toHaveProperty('ttl');
    expect(await table.of(OutboxItem).get({ shard, aggregate: 'order:o1', sequence: 1 }).consistent().item()).toEqual({
      shard,
      aggregate: 'order:o1',
      sequence: 1,
      format: 1,
      shards: 4,
      traceparent,
      events: [
        { id: 'e1', type: 'order.paid', source: 'shop', detail: '{"id":1}', time },
        { id: 'e2', type: 'order.closed', source: 'desk', detail: '{}', time },
      ],
    });
  });

  it('leaves nothing where the transaction fails', async () => {
    const { table, items } = await testTable();
    await table.of(Order).put({ id: 'o1', status: 'PAID' }).send();
    const outcome = await transactWrite(table, {
      order: table.of(Order).put({ id: 'o1', status: 'PAID' }),
      event: outbox(table, { source: 'shop' }).publish({ aggregate: 'o1', sequence: 1, events: [event()] }),
    }).trySend();
    expect(outcome).toMatchObject({ committed: false, failed: { order: { reason: 'ConditionalCheckFailed' } } });
    expect(await items('OUTBOX')).toEqual([]);
  });

  it('refuses to replace an event that was not sent yet', async () => {
    const { table } = await testTable();
    const events = outbox(table, { source: 'shop' });
    const publish = () => events.publish({ aggregate: 'o1', sequence: 1, events: [event()] });
    await publish().send();
    expect(await publish().trySend()).toEqual({ conditionMet: false });
  });

  it('sorts the events of an aggregate by number, whatever their digits', async () => {
    const { table } = await testTable();
    const events = outbox(table, { source: 'shop', shards: 1 });
    const sequences = [10, 9, 1, 100, Number.MAX_SAFE_INTEGER, 2];
    for (const sequence of sequences) await events.publish({ aggregate: 'a#b', sequence, events: [event()] }).send();
    await events.publish({ aggregate: 'a', sequence: 5, events: [event()] }).send();
    const found = await table.of(OutboxItem).query({ shard: 0, aggregate: 'a#b' }).consistent().all();
    expect(found.map(({ sequence }) => sequence)).toEqual([...sequences].sort((one, other) => one - other));
  });

  it('gives events without an aggregate keys of their own', async () => {
    const { table, items } = await testTable();
    const events = outbox(table, { source: 'shop' });
    await transactWrite(table, {
      one: events.publish({ events: [event()] }),
      two: events.publish({ events: [event()] }),
    });
    expect(await items('OUTBOX')).toHaveLength(2);
  });

  it('gives each event a UUID where the caller chose no id', async () => {
    const { table } = await testTable();
    const request = outbox(table, { source: 's' })
      .publish({ events: [event(), event()] })
      .toRequest();
    const ids = request.Item?.['events']?.L?.map((stored) => stored.M?.['id']?.S);
    expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
    expect(new Set(ids).size).toBe(2);
  });

  it('copies the detail: what changes in it later is not published', async () => {
    const { table } = await testTable();
    const detail = { state: 'before' };
    const command = outbox(table, { source: 's' }).publish({ events: [event({ detail })] });
    detail.state = 'after';
    expect(command.toRequest().Item?.['events']?.L?.[0]?.M?.['detail']?.S).toBe('{"state":"before"}');
  });
});

describe('publish refuses', () => {
  it.each<[string, object]>([
    ['no events', { events: [] }],
    ['an aggregate without sequence', { aggregate: 'a', events: [event()] }],
    ['a sequence without aggregate', { sequence: 1, events: [event()] }],
    ['a negative sequence', { aggregate: 'a', sequence: -1, events: [event()] }],
    ['a fractional sequence', { aggregate: 'a', sequence: 1.5, events: [event()] }],
    ['an empty aggregate', { aggregate: '', sequence: 1, events: [event()] }],
    ['an aggregate that no key can hold', { aggregate: 'a'.repeat(1024), sequence: 1, events: [event()] }],
    [
      'an aggregate that no key of a parked event can hold',
      { aggregate: 'a'.repeat(1005), sequence: 1, events: [event()] },
    ],
    ['a trace context of another form', { events: [event()], traceparent: 'x' }],
    ['an id with spaces', { events: [event({ id: 'a b' })] }],
    ['an empty type', { events: [event({ type: '' })] }],
    ['a type that EventBridge does not take', { events: [event({ type: 'x'.repeat(129) })] }],
    ['a detail that is a list', { events: [event({ detail: [] })] }],
    ['a detail that JSON turns into text', { events: [event({ detail: new Date() })] }],
    ['a detail with a bigint', { events: [event({ detail: { n: 1n } })] }],
  ])('%s', async (_name, publication) => {
    const { table } = await testTable();
    expect(() => outbox(table, { source: 's' }).publish(publication as never)).toThrow(InvalidInputError);
  });

  it.each([
    ['sns', 262_144],
    [{ maximumBytes: 1000 }, 1000],
  ] as const)(
    'an event that is larger than its target takes (%j), with room for its envelope',
    async (target, maximum) => {
      const { table } = await testTable();
      const events = outbox(table, { source: 's', target });
      const publish = (bytes: number) =>
        events.publish({ events: [event({ detail: { text: 'é'.repeat(bytes / 2) } })] });
      expect(() => publish(maximum - 750).toRequest()).not.toThrow();
      expect(() => publish(maximum - 100)).toThrow(LimitExceededError);
    },
  );

  it('events that do not fit one item, before anything is sent', async () => {
    const { table, requests } = await testTable();
    const large = event({ detail: { text: 'x'.repeat(210_000) } });
    expect(() => outbox(table, { source: 's' }).publish({ events: [large, large] })).toThrow(LimitExceededError);
    expect(requests).toEqual([]);
  });

  it('events that leave no room for what a relay notes in their item', async () => {
    const { table } = await testTable();
    const large = (bytes: number) => [event({ detail: { text: 'x'.repeat(bytes) } })];
    const events = outbox(table, { source: 's' });
    expect(() => events.publish({ events: large(407_900) }).toRequest()).not.toThrow();
    expect(() => events.publish({ events: large(408_500) })).toThrow(LimitExceededError);
  });

  it.each([{ shards: 0 }, { shards: 1.5 }, { source: '' }, { target: { maximumBytes: 0 } }])(
    'options out of their bounds: %j',
    async (options) => {
      const { table } = await testTable();
      expect(() => outbox(table, { source: 's', ...options })).toThrow(InvalidInputError);
    },
  );
});

describe('shardOf', () => {
  it('stays the same over versions', () => {
    expect(['a', 'b', 'order:o1', 'ü'].map((aggregate) => shardOf(aggregate, 8))).toEqual([2, 6, 3, 2]);
  });

  it('spreads aggregates', () => {
    const counts = new Array<number>(8).fill(0);
    for (let i = 0; i < 8000; i++) counts[shardOf(`order:${i}`, 8)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(850);
  });

  it('is one of the shards', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 100 }), (aggregate, shards) => {
        const shard = shardOf(aggregate, shards);
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
      }),
    );
  });
});

it('tells a trace context by its form', () => {
  expect(isTraceparent(traceparent)).toBe(true);
  expect([`${traceparent}\n`, traceparent.toUpperCase(), ''].map(isTraceparent)).toEqual([false, false, false]);
  expect(Buffer.byteLength(traceparent)).toBe(55);
});
