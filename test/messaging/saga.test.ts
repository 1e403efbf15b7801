import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  boolean,
  integer,
  list,
  map,
  number,
  record,
  string,
  stringSet,
} from '../../lib/commands/index.js';
import { bodyPath, fromInvocation, messageHandler, sagaEntity, type Session } from '../../lib/messaging/index.js';
import { messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';

const Order = sagaEntity('ORDER', {
  paid: boolean().default(false),
  note: string().optional(),
  tags: stringSet().default(new Set()),
  counts: record(integer()).default({}),
  lines: list(map({ sku: string() })).optional(),
});

let here: MessagingShop;
let names = 0;
let now = Date.UTC(2026, 11, 1);
const fresh = (): string => `saga${++names}x`;
const days = (n: number): number => n * 86_400_000;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const run = async (consumer: string, id: string, handle: (session: Session) => Promise<void> | void) =>
  messageHandler<{ id: string }, { id: string }>({
    table: here.shop,
    consumer,
    from: fromInvocation({ id: bodyPath('id') }),
    now: () => now,
    handle: (_message, session) => handle(session),
  })({ id });
const load = (correlation: string) => here.shop.of(Order).get({ correlation }).consistent().item();

describe('a saga', () => {
  it('starts with its defaults, and goes on from what the message before left', async () => {
    const id = fresh();
    await run(id, 'm1', async (session) => {
      const saga = await session.saga(Order, id);
      expect(saga).toMatchObject({ started: true, completed: false, revision: 1 });
      expect(saga.state).toEqual({ paid: false, note: undefined, tags: new Set(), counts: {}, lines: undefined });
      saga.state.paid = true;
      saga.state.note = 'first';
      saga.state.lines = [{ sku: 'a' }];
    });
    await run(id, 'm2', async (session) => {
      const saga = await session.saga(Order, id);
      expect(saga).toMatchObject({ started: false, completed: false, revision: 2 });
      expect(saga.state).toMatchObject({ paid: true, note: 'first', lines: [{ sku: 'a' }] });
      saga.state.note = undefined;
      saga.state.lines = [...(saga.state.lines ?? []), { sku: 'b' }];
    });
    expect(await load(id)).toEqual({
      correlation: id,
      revision: 2,
      format: 1,
      paid: true,
      tags: new Set(),
      counts: {},
      lines: [{ sku: 'a' }, { sku: 'b' }],
    });
  });

  it('has a key of the texts that were declared: the names of code do not matter', () => {
    const Renamed = sagaEntity('ORDER', { somethingElse: number().optional() });
    expect(Renamed.key({ correlation: '#1' })).toEqual(Order.key({ correlation: '#1' }));
    expect(Order.key({ correlation: 'o-1' })).toEqual({ pk: 'SAGA#ORDER#o-1', sk: 'SAGA' });
  });

  it.each(['a#b', '%23', 'ü', ' '])('is found by any text', async (text) => {
    const correlation = `${fresh()}${text}`;
    for (const id of ['m1', 'm2'])
      await run(correlation, id, async (session) => void (await session.saga(Order, correlation)));
    expect(await load(correlation)).toMatchObject({ revision: 2 });
  });

  it('is one object in a message, and two of one entity are two', async () => {
    const id = fresh();
    await run(id, 'm1', async (session) => {
      const [first, again, other] = await Promise.all([
        session.saga(Order, id),
        session.saga(Order, id),
        session.saga(Order, `${id}2`),
      ]);
      expect(again).toBe(first);
      first.state.note = 'one';
      other.state.note = 'two';
    });
    expect([(await load(id))?.note, (await load(`${id}2`))?.note]).toEqual(['one', 'two']);
  });

  it('shares no default with another', async () => {
    const id = fresh();
    await run(id, 'm1', async (session) => {
      const [first, second] = await Promise.all([session.saga(Order, id), session.saga(Order, `${id}2`)]);
      (first.state.counts as Record<string, number>)['a'] = 1;
      (first.state.tags as Set<string>).add('a');
      expect(second.state).toMatchObject({ counts: {}, tags: new Set() });
    });
    await run(id, 'm2', async (session) => {
      expect((await session.saga(Order, `${id}3`)).state).toMatchObject({ counts: {}, tags: new Set() });
    });
  });

  it('shares no default where older code has stored nothing', async () => {
    const id = fresh();
    const keys = [id, `${id}2`] as const;
    for (const correlation of keys)
      await here.shop.of(Order).update({ correlation }).set({ note: 'old', format: 1 }).ignoreVersion();
    await run(id, 'm1', async (session) => {
      const first = await session.saga(Order, keys[0]);
      const second = await session.saga(Order, keys[1]);
      (first.state.counts as Record<string, number>)['a'] = 1;
      expect(second.state).toMatchObject({ note: 'old', counts: {} });
    });
  });

  it('moves its revision with a message that changes nothing, since the message decided by it', async () => {
    const id = fresh();
    for (const message of ['m1', 'm2', 'm3'])
      await run(id, message, async (session) => void (await session.saga(Order, id)));
    expect(await load(id)).toMatchObject({ revision: 3 });
  });

  it('leaves attributes alone that its code does not declare', async () => {
    const id = fresh();
    const Newer = sagaEntity('ORDER', { paid: boolean().default(false), gift: string().optional() });
    const newer = messageHandler<{ id: string }, { id: string }>({
      // Another table object: two versions of code are two processes.
      table: here.through((_request, send) => send()),
      consumer: id,
      from: fromInvocation({ id: bodyPath('id') }),
      handle: async (_message, session) => void ((await session.saga(Newer, id)).state.gift = 'card'),
    });
    await newer({ id: 'm1' });
    await run(id, 'm2', async (session) => void ((await session.saga(Order, id)).state.paid = true));
    const { others } = await here.stored(id);
    expect(others[0]).toMatchObject({ gift: { S: 'card' }, paid: { BOOL: true } });
  });

  it('that was completed is found so by late messages, with what it was left as, and changes no more', async () => {
    const id = fresh();
    await run(id, 'm1', async (session) => {
      const saga = await session.saga(Order, id);
      saga.state.lines = [{ sku: 'a' }];
      saga.state.tags = new Set(['a']);
      saga.complete();
    });
    const stored = await load(id);
    expect(stored).toMatchObject({ completedAt: new Date(now), expiresAt: new Date(now + days(30)), revision: 1 });
    await run(id, 'm2', async (session) => {
      const saga = await session.saga(Order, id);
      expect(saga).toMatchObject({ started: false, completed: true, revision: 1 });
      for (const change of [
        () => (saga.state.paid = true),
        () => ((saga.state.lines?.[0] as { sku: string }).sku = 'b'),
        () => ((saga.state.lines as unknown[])[0] = { sku: 'b' }),
        () => (saga.state.lines as unknown[]).push({ sku: 'b' }),
        () => (saga.state.tags as Set<string>).add('b'),
      ]) {
        expect(change).toThrow(InvalidInputError);
        expect(change).toThrow('ORDER.state: is what a completed saga was left as');
      }
      const left = { paid: false, note: undefined, tags: new Set(['a']), counts: {}, lines: [{ sku: 'a' }] };
      expect(saga.state).toEqual(left);
      expect({ ...saga.state }).toEqual(left);
      expect(structuredClone(saga.state)).toEqual(left);
      saga.complete();
      session.publish({ type: 'order.late', detail: { id } });
    });
    expect(await load(id)).toEqual(stored);
    expect((await here.stored(id)).outbox).toHaveLength(1);
  });

  it('starts anew once it is forgotten, also where DynamoDB has not deleted it', async () => {
    const id = fresh();
    await run(id, 'm1', async (session) => {
      const saga = await session.saga(Order, id);
      saga.state.note = 'old';
      saga.complete();
    });
    now += days(30);
    await run(id, 'm2', async (session) => {
      const saga = await session.saga(Order, id);
      expect(saga).toMatchObject({ started: true, completed: false, revision: 2, state: { note: undefined } });
    });
    expect(await load(id)).toEqual({
      correlation: id,
      revision: 2,
      format: 1,
      paid: false,
      tags: new Set(),
      counts: {},
    });
  });

  it('is not started by a message that may not, and its absence is held to at the commit', async () => {
    const id = fresh();
    const seen: (boolean | undefined)[] = [];
    const result = await run(id, 'm1', async (session) => {
      const saga = await session.saga(Order, id, { start: false });
      seen.push(saga?.started);
      if (session.attempt === 1) {
        await run(`${id}other`, 'm2', async (other) => void (await other.saga(Order, id)));
      }
    });
    expect(result).toEqual({ outcome: 'handled', attempts: 2 });
    expect(seen).toEqual([undefined, false]);
    await run(id, 'm3', async (session) => {
      expect(await session.saga(Order, `${id}none`, { start: false })).toBeUndefined();
    });
    expect(await load(`${id}none`)).toBeUndefined();
    await run(id, 'm4', async (session) => {
      await session.saga(Order, `${id}some`, { start: false });
      expect(await session.saga(Order, `${id}some`)).toMatchObject({ started: true });
    });
    expect(await load(`${id}some`)).toMatchObject({ revision: 1 });
  });

  /** A table whose first reads fail. */
  const failing = (times: number) => {
    let reads = 0;
    return here.through((request, send) => {
      if (request.operation === 'GetItem' && ++reads <= times)
        throw Object.assign(new Error('refused'), { name: 'Refused' });
      return send();
    }, 1);
  };
  const runOn = (shop: ReturnType<typeof failing>, consumer: string, handle: (session: Session) => unknown) =>
    messageHandler<{ id: string }, { id: string }>({
      table: shop,
      consumer,
      from: fromInvocation({ id: bodyPath('id') }),
      handle: ((_message: unknown, session: Session) => handle(session)) as never,
    })({ id: 'm1' });

  it('whose load fails is loaded again by the next call', async () => {
    const id = fresh();
    const errors: unknown[] = [];
    await runOn(failing(1), id, async (session) => {
      const both = [session.saga(Order, id), session.saga(Order, id)];
      for (const { status } of await Promise.allSettled(both)) errors.push(status);
      (await session.saga(Order, id)).state.note = 'loaded';
    });
    expect(errors).toEqual(['rejected', 'rejected']);
    expect(await load(id)).toMatchObject({ note: 'loaded', revision: 1 });
  });

  it('whose load fails, and is not repeated, commits nothing', async () => {
    const id = fresh();
    const caught = runOn(failing(1), id, async (session) => {
      await session.saga(Order, id).catch(() => undefined);
      session.publish({ type: 'x', detail: { id } });
    });
    expect(await rejection(caught)).toMatchObject({ path: 'saga ORDER' });
    expect(await here.stored(id)).toEqual({ inbox: [], outbox: [], others: [] });
  });

  it('that is not awaited commits nothing, whenever its load ends, and ends no process', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    try {
      // Its load ends after the handler, well or not; or before, and not well.
      for (const [times, wait] of [
        [0, 0],
        [1, 0],
        [1, 20],
      ] as const) {
        const id = fresh();
        let changed = false;
        const delivery = runOn(failing(times), id, async (session) => {
          // Both are dropped, one with what it was to change.
          const saga = session.saga(Order, id);
          void saga.then(
            () => (changed = true),
            () => undefined,
          );
          void session.saga(Order, id);
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        });
        expect(await rejection(delivery)).toMatchObject({ name: 'InvalidInputError', path: 'saga ORDER' });
        expect(changed).toBe(false);
        expect(await here.stored(id)).toEqual({ inbox: [], outbox: [], others: [] });
      }
      const thrown = runOn(failing(1), fresh(), (session) => {
        void session.saga(Order, 'x');
        throw new Error('the handler');
      });
      expect(await rejection(thrown)).toMatchObject({ message: 'the handler' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', listen);
    }
  });

  it('of a newer format is refused', async () => {
    const id = fresh();
    await here.shop.of(Order).put({ correlation: id, format: 2 });
    expect(await rejection(run(id, 'm1', async (session) => void (await session.saga(Order, id))))).toMatchObject({
      name: 'InvalidStoredItemError',
    });
  });

  it('refuses a member that is not declared', async () => {
    const id = fresh();
    const mistake = run(id, 'm1', async (session) => {
      Object.assign((await session.saga(Order, id)).state, { piad: true });
    });
    expect(await rejection(mistake)).toBeInstanceOf(InvalidInputError);
    expect(await load(id)).toBeUndefined();
  });

  it('refuses names, attributes and entities that are none of a saga', async () => {
    for (const name of ['A#B', '', undefined, Symbol('A')])
      expect(() => sagaEntity(name as never, {})).toThrow(/^name: /);
    for (const none of [undefined, null, 'A', []])
      expect(() => sagaEntity('A', none as never)).toThrow(/^attributes: /);
    for (const none of [undefined, null, 5, {}])
      expect(() => sagaEntity('A', { total: none } as never)).toThrow(/^total: expected an attribute/);
    expect(() => sagaEntity('A', { total: integer() } as never)).toThrow(/^total: expected optional/);
    expect(() => sagaEntity('A', { revision: integer().optional() } as never)).toThrow(/^revision: /);
    const id = fresh();
    const noSaga = run(id, 'm1', async (session) => void (await session.saga({ name: 'X' } as never, id)));
    expect(await rejection(noSaga)).toBeInstanceOf(InvalidInputError);
    for (const noEntity of [undefined, null, 'ORDER']) {
      const noSaga = run(id, 'm1', async (session) => void (await session.saga(noEntity as never, id)));
      expect(await rejection(noSaga)).toBeInstanceOf(InvalidInputError);
    }
    for (const options of [null, {}, 5, { start: 'no' }]) {
      const noOptions = run(id, 'm1', async (session) => void (await session.saga(Order, id, options as never)));
      expect(await rejection(noOptions)).toMatchObject({ name: 'InvalidInputError', path: 'saga' });
    }
    const noText = run(id, 'm2', async (session) => void (await session.saga(Order, '')));
    expect(await rejection(noText)).toBeInstanceOf(InvalidInputError);
  });
});
