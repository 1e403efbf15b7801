import { describe, expect, it } from 'vitest';
import { table } from '../../lib/commands/index.js';
import { TestSession, inboxKey, messageId, type Message, type Session } from '../../lib/messaging/index.js';
import { bodyText, messagingShop, rejection } from './support/messaging-shop.js';
import { Account, Process, deposit, depositHandler } from './support/transfer.js';

const bare = table({ name: 'test', client: { send: () => undefined, config: {} } as never });

describe('TestSession', () => {
  it('holds what a handler added, in its order', () => {
    const session = new TestSession();
    session.add(bare.of(Account).put({ id: 'a', balance: 1 }), 'account');
    session.add({ Delete: { TableName: 'other', Key: { id: { S: 'x' } } } });
    expect(session.operations.map(({ name }) => name)).toEqual(['account', 'Delete 2']);
    expect(session.operations[0]?.item.Put?.Item?.['balance']).toEqual({ N: '1' });
  });

  it('holds what a handler published and sent, in its order', () => {
    const session = new TestSession({ outbox: { source: 'shop.orders' } });
    session.publish({ type: 'b', detail: { n: 1 }, id: 'e-1' }, { aggregate: 'x', sequence: 3 });
    session.send({ to: 'mail', type: 'notify', detail: {} });
    session.publish({ type: 'a', detail: {}, source: 'other' }, { aggregate: 'x', sequence: 3 });
    expect(session.events).toMatchObject([
      { id: 'e-1', type: 'b', source: 'shop.orders', detail: { n: 1 }, aggregate: 'x', sequence: 3 },
      { type: 'mail/notify', detail: {}, aggregate: undefined, sequence: undefined },
      { type: 'a', source: 'other', aggregate: 'x', sequence: 3 },
    ]);
  });

  it('copies an event when it is published', () => {
    const session = new TestSession();
    const detail = { n: 1 };
    session.publish({ type: 'a', detail });
    detail.n = 2;
    expect(session.events[0]?.detail).toEqual({ n: 1 });
  });

  it('gives sagas that exist, and holds what becomes of them', async () => {
    const session = new TestSession()
      .given(Process, 'a', { steps: 2 }, { revision: 7 })
      .given(Process, 'done', {}, { completed: true });
    const a = await session.saga(Process, 'a');
    expect(a).toMatchObject({ started: false, revision: 8, state: { steps: 2, last: undefined } });
    a.state.steps++;
    a.complete();
    const done = await session.saga(Process, 'done');
    expect(done.completed).toBe(true);
    await session.saga(Process, 'new');
    expect(await session.saga(Process, 'none', { start: false })).toBeUndefined();
    expect(session.sagas).toEqual([
      { name: 'PROCESS', correlation: 'a', state: { steps: 3, last: undefined }, started: false, completed: true },
      { name: 'PROCESS', correlation: 'done', state: { steps: 0, last: undefined }, started: false, completed: true },
      { name: 'PROCESS', correlation: 'new', state: { steps: 0, last: undefined }, started: true, completed: false },
    ]);
    // The completed one is not written; of the absent one, the absence is checked.
    expect(session.commit().map(({ name, item }) => [name, Object.keys(item)[0]])).toEqual([
      ['inbox', 'Put'],
      ['saga PROCESS', 'Update'],
      ['saga PROCESS 3', 'Put'],
      ['saga PROCESS 4', 'ConditionCheck'],
    ]);
  });

  it('lets a handler believe that it runs again', () => {
    const session = new TestSession({ attempt: 2, failed: { claim: { reason: 'ConditionalCheckFailed' } } });
    expect([session.attempt, session.failed['claim']?.reason]).toEqual([2, 'ConditionalCheckFailed']);
  });

  it('ends with its commit', () => {
    const session = new TestSession();
    session.commit();
    expect(() => session.publish({ type: 'a', detail: {} })).toThrow('the handler has returned');
  });

  it('runs a handler as messageHandler does, and gives what its transaction would hold', async () => {
    const session = new TestSession({ consumer: 'shop.orders', id: 'm-1', headers: { kind: 'a' } });
    const seen: unknown[] = [];
    const operations = await session.handle(
      ({ id, body, header }: Message<{ n: number }>, given) => {
        seen.push(id, body, header('kind'), header('toString'), given === session);
        given.publish({ type: 'order.placed', detail: {} });
      },
      { n: 1 },
    );
    expect(seen).toEqual(['m-1', { n: 1 }, 'a', undefined, true]);
    expect(operations.map(({ name }) => name)).toEqual(['inbox', 'outbox 1']);
    // The source of events that name none is the consumer, as it is of a handler.
    expect(session.events).toMatchObject([{ type: 'order.placed', source: 'shop.orders' }]);
    expect(() => session.publish({ type: 'a', detail: {} })).toThrow('the handler has returned');
  });

  it('takes its message on the condition on time that the real one has', () => {
    const now = new Date(Date.UTC(2026, 11, 1));
    const [inbox] = new TestSession({ now, consumer: 'a', id: 'm-1' }).commit();
    expect(inbox?.item.Put).toMatchObject({
      ConditionExpression: expect.stringContaining('attribute_not_exists') as string,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      Item: { consumer: { S: 'a' }, pk: { S: `INBOX#${inboxKey('a', messageId('m-1'))}` } },
    });
  });

  it.each<[string, (session: Session) => unknown, string]>([
    ['a command that it returns', () => bare.of(Account).put({ id: 'a', balance: 1 }), 'handle'],
    ['a command that an async function returns', async () => bare.of(Account).put({ id: 'a', balance: 1 }), 'handle'],
    ['a command that it awaits', async () => void (await bare.of(Account).put({ id: 'a', balance: 1 })), 'handle'],
    ['a saga that it does not await', (session) => void session.saga(Process, 'a'), 'saga PROCESS'],
  ])('refuses of a handler %s, as the real one', async (_what, handle, path) => {
    let sent = 0;
    const session = new TestSession({
      table: table({ name: 'test', client: { send: () => Promise.resolve({ n: ++sent }), config: {} } as never }),
    });
    const run = session.handle(((_message: unknown, given: Session) => handle(given)) as never, {});
    expect(await rejection(run)).toMatchObject({ name: 'InvalidInputError', path });
    expect(sent).toBe(0);
  });

  it('throws what a handler throws, and is ended by it', async () => {
    const session = new TestSession();
    const run = session.handle(() => {
      throw new Error('refused');
    }, undefined);
    expect(await rejection(run)).toMatchObject({ message: 'refused' });
    expect(() => session.publish({ type: 'a', detail: {} })).toThrow('the handler has returned');
  });

  it.each([
    ['consumer', { consumer: '' }],
    ['horizonSeconds', { horizonSeconds: 0 }],
    ['messageId', { id: '' }],
    ['shards', { outbox: { shards: 0 } }],
    ['tables', { tables: [undefined] }],
    ['now', { now: 5 }],
    ['now', { now: new Date(NaN) }],
    ['options', null],
  ])('refuses %s out of its bounds, as the real one', (path, options) => {
    expect(() => new TestSession(options as never)).toThrow(
      expect.objectContaining({ name: 'InvalidInputError', path }) as Error,
    );
  });

  /** What is random or of the moment, made the same. */
  const settledText = (items: unknown): unknown =>
    JSON.parse(
      JSON.stringify(items)
        .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'random')
        .replace(/"OUTBOX#\d"/g, '"OUTBOX#shard"')
        .replace(/"shard":\{"N":"\d"\}/g, '"shard":{"N":"shard"}')
        .replace(/"time":\{"(S|N)":"[^"]*"\}/g, '"time":"time"'),
    );

  it('holds exactly the operations that the same handler commits on a table', async () => {
    const here = await messagingShop();
    try {
      const bodies: string[] = [];
      const shop = here.through(async (request, send) => {
        if (request.operation === 'TransactWriteItems') bodies.push(bodyText(request));
        return send();
      });
      const now = new Date(Date.UTC(2026, 11, 1));
      const session = new TestSession({ table: shop, now, consumer: 'deposits', id: 'm1' });
      const body = { id: 'm1', account: 'a', amount: 5 };
      const operations = await session.handle(deposit(shop), body);
      await depositHandler(shop, { now: () => now.getTime() })(body);
      const { TransactItems: sent } = JSON.parse(bodies[0] as string) as { TransactItems: unknown[] };
      expect(sent).toHaveLength(6);
      expect(settledText(operations.map(({ item }) => item))).toEqual(settledText(sent));
    } finally {
      await here.close();
    }
  });
});
