import { describe, expect, it } from 'vitest';
import { table } from '../../lib/commands/index.js';
import { TestSession, messageId, type Message } from '../../lib/messaging/index.js';
import { bodyText, messagingShop } from './support/messaging-shop.js';
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

  it('holds exactly the operations that the same handler commits on a table', async () => {
    const here = await messagingShop();
    try {
      const bodies: string[] = [];
      const shop = here.through(async (request, send) => {
        if (request.operation === 'TransactWriteItems') bodies.push(bodyText(request));
        return send();
      });
      const session = new TestSession({ table: shop });
      const body = { id: 'm1', account: 'a', amount: 5 };
      const message: Message<typeof body> = { id: messageId('m1'), body, header: () => undefined };
      await deposit(shop)(message, session);
      await depositHandler(shop)(body);
      const sent = JSON.parse(bodies[0] as string) as {
        TransactItems: Record<string, { Item?: { pk: { S: string } } }>[];
      };
      const shape = (item: object) => {
        const [kind, of] = Object.entries(item)[0] as [string, { Item?: { pk?: { S?: string } } }];
        return [kind, of.Item?.pk?.S?.split('#')[0]];
      };
      expect(session.commit().map(({ item }) => shape(item))).toEqual(sent.TransactItems.map(shape));
    } finally {
      await here.close();
    }
  });
});
