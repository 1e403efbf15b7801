import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInputError, InvalidStoredItemError, TransactionCanceledException } from '../../lib/commands/index.js';
import {
  InboxRecord,
  bodyPath,
  fromInvocation,
  fromKafka,
  fromSqs,
  inboxKey,
  messageHandler,
  messageId,
  type MessageSource,
  type Session,
} from '../../lib/messaging/index.js';
import { embedded } from '../support/dynamodb.js';
import { messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account, Process, depositHandler } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
const fresh = (): string => `mh${++names}x`;
const day = 86_400_000;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const plain = (handle: (session: Session) => void | Promise<void>, consumer: string, options: object = {}) =>
  messageHandler<{ id: string }, { id: string }>({
    table: here.shop,
    consumer,
    from: fromInvocation({ id: bodyPath('id') }),
    handle: (_message, session) => handle(session),
    ...options,
  });

describe('messageHandler', () => {
  it('commits writes, events, saga and inbox record in one transaction', async () => {
    const account = fresh();
    const handler = depositHandler(here.shop, { consumer: account });
    const cost = await here.costOf(async () => {
      expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'handled', attempts: 1 });
    });
    // Two reads of the handler, then everything at once: inbox, account, saga and three outbox items at two units each.
    if (embedded) {
      expect(cost).toEqual({ operations: ['GetItem', 'GetItem', 'TransactWriteItems'], writeUnits: 12, readUnits: 2 });
    }
    const { inbox, outbox, others } = await here.stored(account);
    expect(inbox).toHaveLength(1);
    expect(inbox[0]).toMatchObject({ consumer: { S: account }, format: { N: '1' }, _type: { S: 'INBOX' } });
    expect(others.map((item) => item['_type']?.S).sort()).toEqual(['ACCOUNT', 'PROCESS']);
    const published = outbox.map((item) => [
      item['aggregate']?.S?.split(':')[1],
      item['sequence']?.N,
      item['events']?.L?.map(({ M }) => M?.['type']?.S),
    ]);
    expect(published).toHaveLength(3);
    expect(published).toContainEqual(['account', '1', ['account.moved', 'account.told']]);
    expect(published).toContainEqual(['process', '1', ['process.moved']]);
    expect(published).toContainEqual([undefined, '0', ['mail/notify']]);
  });

  it('does nothing at a second delivery', async () => {
    const account = fresh();
    const handler = depositHandler(here.shop, { consumer: account });
    const message = { id: 'm1', account, amount: 5 };
    await handler(message);
    const before = await here.stored(account);
    expect(await handler(message)).toEqual({ outcome: 'duplicate', attempts: 1 });
    expect(await here.stored(account)).toEqual(before);
  });

  it('does not run at a second delivery with readFirst, for one read', async () => {
    const account = fresh();
    const handler = depositHandler(here.shop, { consumer: account, readFirst: true });
    const message = { id: 'm1', account, amount: 5 };
    await handler(message);
    const cost = await here.costOf(async () => {
      expect(await handler(message)).toEqual({ outcome: 'duplicate', attempts: 0 });
    });
    if (embedded) expect(cost).toEqual({ operations: ['GetItem'], writeUnits: 0, readUnits: 1 });
  });

  it('lets every consumer of a table handle a message once', async () => {
    const account = fresh();
    const message = { id: 'm1', account, amount: 5 };
    for (const consumer of ['a', 'b', 'a', 'b', 'ab', 'a']) {
      await depositHandler(here.shop, { consumer: account + consumer })(message);
    }
    const item = await here.shop.of(Account).get({ id: account }).consistent().item();
    expect(item?.balance).toBe(15);
  });

  it.each(['#', 'INBOX#x', ' ', '\u0000', 'ü'.repeat(3000), '{"a":1}', '__proto__'])(
    'takes any text for a message id',
    async (id) => {
      const consumer = fresh();
      const handler = plain(() => undefined, consumer);
      expect(await handler({ id })).toMatchObject({ outcome: 'handled' });
      expect(await handler({ id })).toMatchObject({ outcome: 'duplicate' });
    },
  );

  it('tells consumer and message id apart, wherever one ends', () => {
    expect(inboxKey('a', messageId('bc'))).not.toBe(inboxKey('ab', messageId('c')));
  });

  it('leaves nothing where the handler throws, and handles the next delivery', async () => {
    const account = fresh();
    let fails = true;
    const handler = plain((session) => {
      session.add(here.shop.of(Account).put({ id: account, balance: 1 }));
      session.publish({ type: 'x', detail: { account } });
      if (fails) throw new Error('refused');
    }, account);
    expect(await rejection(handler({ id: 'm1' }))).toMatchObject({ message: 'refused' });
    expect(await here.stored(account)).toEqual({ inbox: [], outbox: [], others: [] });
    fails = false;
    expect(await handler({ id: 'm1' })).toEqual({ outcome: 'handled', attempts: 1 });
  });

  it('answers a duplicate whose handler throws, because it meets its own effect, as a duplicate', async () => {
    const account = fresh();
    const handler = plain(async (session) => {
      if (await here.shop.of(Account).get({ id: account }).consistent().item()) throw new Error('exists already');
      session.add(here.shop.of(Account).put({ id: account, balance: 1 }));
    }, account);
    await handler({ id: 'm1' });
    expect(await handler({ id: 'm1' })).toEqual({ outcome: 'duplicate', attempts: 1 });
    expect(await rejection(handler({ id: 'm2' }))).toMatchObject({ message: 'exists already' });
  });

  it('handles a message again once its record has expired, though DynamoDB has not deleted it', async () => {
    const consumer = fresh();
    let now = Date.UTC(2026, 11, 1);
    const handler = plain(() => undefined, consumer, { now: () => now, horizonSeconds: 30 * 86_400 });
    await handler({ id: 'm1' });
    now += 30 * day - 1000;
    expect((await handler({ id: 'm1' })).outcome).toBe('duplicate');
    now += 1000;
    expect((await handler({ id: 'm1' })).outcome).toBe('handled');
    now += 1000;
    expect((await handler({ id: 'm1' })).outcome).toBe('duplicate');
  });

  it('forgets no message before its time, to the second that is stored', async () => {
    const consumer = fresh();
    let now = Date.UTC(2026, 11, 1) + 300;
    const handler = plain(() => undefined, consumer, { now: () => now, horizonSeconds: 10 });
    await handler({ id: 'm1' });
    now += 10_600;
    expect((await handler({ id: 'm1' })).outcome).toBe('duplicate');
    now += 100;
    expect((await handler({ id: 'm1' })).outcome).toBe('handled');
  });

  it('remembers a message for longer than SQS keeps it in a queue and its dead-letter queue', async () => {
    const consumer = fresh();
    const before = Date.now();
    await plain(() => undefined, consumer)({ id: 'm1' });
    const record = await here.shop
      .of(InboxRecord)
      .get({ key: inboxKey(consumer, messageId('m1')) })
      .item();
    expect(record?.expiresAt.getTime()).toBeGreaterThan(before + 28 * day);
  });

  it('runs again with what stopped it, and throws after the last run', async () => {
    const consumer = fresh();
    const seen: unknown[] = [];
    await here.shop.of(Account).put({ id: consumer, balance: 7 });
    const handler = plain(
      (session) => {
        const seenItem = session.failed['claim']?.item as { balance: number } | undefined;
        expect(session.failed['constructor']).toBeUndefined();
        seen.push([session.attempt, session.failed['claim']?.reason, seenItem?.balance]);
        session.add(here.shop.of(Account).unique({ id: consumer, balance: 1 }).returnOldOnFailure(), 'claim');
      },
      consumer,
      { maxAttempts: 2 },
    );
    const error = await rejection(handler({ id: 'm1' }));
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).failed['claim']?.reason).toBe('ConditionalCheckFailed');
    expect(seen).toEqual([
      [1, undefined, undefined],
      [2, 'ConditionalCheckFailed', 7],
    ]);
  });

  it('tells what stopped it by names that are whole numbers, which JavaScript puts first', async () => {
    const consumer = fresh();
    await here.shop.of(Account).put({ id: `${consumer}-1`, balance: 7 });
    const seen: unknown[] = [];
    const handler = plain((session) => {
      seen.push(session.failed);
      for (const i of [2, 1, 0]) {
        const account = { id: `${consumer}-${i}`, balance: i };
        if (!session.failed[i]) session.add(here.shop.of(Account).unique(account).returnOldOnFailure(), String(i));
      }
    }, consumer);
    expect(await handler({ id: 'm1' })).toEqual({ outcome: 'handled', attempts: 2 });
    expect(seen[1]).toEqual({
      1: { reason: 'ConditionalCheckFailed', item: { id: `${consumer}-1`, balance: 7, revision: 1 } },
    });
  });

  it('decides by what stopped the run before', async () => {
    const consumer = fresh();
    await here.shop.of(Account).put({ id: consumer, balance: 7 });
    const handler = plain((session) => {
      if (session.failed['claim']) session.publish({ type: 'claim.refused', detail: { consumer } });
      else session.add(here.shop.of(Account).unique({ id: consumer, balance: 1 }), 'claim');
    }, consumer);
    expect(await handler({ id: 'm1' })).toEqual({ outcome: 'handled', attempts: 2 });
    expect((await here.stored(consumer)).outbox).toHaveLength(1);
  });

  it.each<[string, MessageSource<string, { lines: string[]; id?: string }>]>([
    ['SQS', { messageOf: (body) => fromSqs<{ lines: string[] }>({ id: bodyPath('id') }).messageOf({ body }) }],
    [
      'Kafka',
      {
        messageOf: (body) =>
          fromKafka<{ lines: string[] }>({ id: bodyPath('id') }).messageOf({
            value: Buffer.from(body).toString('base64'),
          }),
      },
    ],
  ])('gives every run the message as it came, from %s', async (_source, from) => {
    const consumer = fresh();
    await here.shop.of(Account).put({ id: consumer, balance: 7 });
    const seen: string[][] = [];
    const handler = messageHandler({
      table: here.shop,
      consumer,
      from,
      handle: ({ body }, session) => {
        seen.push([...body.lines]);
        body.lines.push('changed');
        delete body.id;
        if (session.attempt < 3) session.add(here.shop.of(Account).unique({ id: consumer, balance: 1 }));
      },
    });
    expect(await handler('{"id":"m1","lines":["a"]}')).toEqual({ outcome: 'handled', attempts: 3 });
    expect(seen).toEqual([['a'], ['a'], ['a']]);
  });

  it('gives every run the event of an invocation as it came, and leaves the event alone', async () => {
    const consumer = fresh();
    await here.shop.of(Account).put({ id: consumer, balance: 7 });
    const event = { id: 'm1', lines: ['a'], at: new Date(0), bytes: new Uint8Array([1]) };
    const handler = messageHandler<typeof event, typeof event>({
      table: here.shop,
      consumer,
      from: fromInvocation({ id: bodyPath('id') }),
      handle: ({ body }, session) => {
        expect(body).toEqual({ id: 'm1', lines: ['a'], at: new Date(0), bytes: new Uint8Array([1]) });
        body.lines.push('changed');
        body.bytes[0] = 2;
        body.at.setTime(1);
        body.id = 'm2';
        if (session.attempt < 2) session.add(here.shop.of(Account).unique({ id: consumer, balance: 1 }));
      },
    });
    expect(await handler(event)).toEqual({ outcome: 'handled', attempts: 2 });
    expect(event).toEqual({ id: 'm1', lines: ['a'], at: new Date(0), bytes: new Uint8Array([1]) });
    expect(await handler(event)).toMatchObject({ outcome: 'duplicate' });
  });

  it('refuses an identity that is another one at the next run', async () => {
    const consumer = fresh();
    await here.shop.of(Account).put({ id: consumer, balance: 7 });
    let calls = 0;
    const handler = messageHandler<unknown, unknown>({
      table: here.shop,
      consumer,
      from: fromInvocation<unknown>({ id: () => messageId(`m${++calls}`) }),
      handle: (_message, session) => session.add(here.shop.of(Account).unique({ id: consumer, balance: 1 })),
    });
    expect(await rejection(handler({}))).toMatchObject({ name: 'InvalidInputError', path: 'id' });
  });

  it('takes calls without options, and a null in their place', async () => {
    const handler = plain(() => undefined, fresh());
    expect(await handler({ id: 'm1' }, null as never)).toMatchObject({ outcome: 'handled' });
  });

  it('refuses a record of a newer format, and repeats nothing', async () => {
    const consumer = fresh();
    const key = inboxKey(consumer, messageId('m1'));
    const record = { key, format: 2, consumer, delivery: 'x', expiresAt: new Date(Date.now() + day) };
    await here.shop.of(InboxRecord).put(record);
    let runs = 0;
    const handler = plain(() => void runs++, consumer);
    const { operations } = await here.costOf(async () => {
      expect(await rejection(handler({ id: 'm1' }))).toBeInstanceOf(InvalidStoredItemError);
    });
    // An answer that says no is no unknown outcome, which would be sent again.
    if (embedded) expect(operations).toEqual(['TransactWriteItems', 'GetItem']);
    expect(await rejection(plain(() => undefined, consumer, { readFirst: true })({ id: 'm1' }))).toBeInstanceOf(
      InvalidStoredItemError,
    );
    expect(runs).toBe(1);
  });

  it('refuses a session that is used after its handler has returned', async () => {
    const consumer = fresh();
    let kept: Session | undefined;
    await plain((session) => void (kept = session), consumer)({ id: 'm1' });
    const account = here.shop.of(Account).put({ id: consumer, balance: 1 });
    expect(() => kept?.add(account)).toThrow('the handler has returned');
    expect(() => kept?.publish({ type: 'x', detail: {} })).toThrow('the handler has returned');
    expect(await rejection(kept?.saga(Process, consumer) as Promise<unknown>)).toBeInstanceOf(InvalidInputError);
  });

  it('refuses a saga that the handler does not await', async () => {
    const consumer = fresh();
    const forgetful = plain((session) => {
      session.saga(Process, consumer).catch(() => undefined);
    }, consumer);
    expect(await rejection(forgetful({ id: 'm1' }))).toMatchObject({ path: 'saga PROCESS' });
    expect(await here.stored(consumer)).toEqual({ inbox: [], outbox: [], others: [] });
  });

  it('does not start a run after its signal', async () => {
    const consumer = fresh();
    const stop = new AbortController();
    stop.abort(new Error('out of time'));
    const handler = plain(() => undefined, consumer);
    expect(await rejection(handler({ id: 'm1' }, { signal: stop.signal }))).toMatchObject({ message: 'out of time' });
    expect((await handler({ id: 'm1' })).outcome).toBe('handled');
  });

  it('carries the trace context of a message into its events', async () => {
    const consumer = fresh();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const handler = messageHandler({
      table: here.shop,
      consumer,
      from: {
        messageOf: (trace: string) => ({ id: messageId(trace), body: undefined, header: () => trace }),
      },
      handle: (_message, session) => session.publish({ type: 'x', detail: { consumer } }),
    });
    await handler(traceparent);
    await handler('no trace context');
    const { outbox } = await here.stored(consumer);
    expect(outbox.map((item) => item['traceparent']?.S).sort()).toEqual([traceparent, undefined]);
  });

  it.each([
    ['consumer', { consumer: '' }],
    ['horizonSeconds', { horizonSeconds: 86_400_000 }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['handle', { handle: undefined }],
    ['from', { from: {} }],
    ['table', { table: undefined }],
    ['tables', { tables: [undefined] }],
    ['tables', { tables: {} }],
    ['consumer', { consumer: '\ud800' }],
    ['now', { now: 5 }],
    ['source', { outbox: { source: '' } }],
    ['shards', { outbox: { shards: 0 } }],
    ['horizonSeconds', { horizonSeconds: NaN }],
  ])('refuses %s out of its bounds', (path, options) => {
    expect(() => depositHandler(here.shop, options as never)).toThrow(expect.objectContaining({ path }) as Error);
  });

  it.each([NaN, '5', 5n, undefined, Symbol('now'), -1])('refuses a clock that gives %s', async (time) => {
    const handler = depositHandler(here.shop, { consumer: fresh(), now: () => time as number });
    const message = { id: 'm1', account: fresh(), amount: 5 };
    expect(await rejection(handler(message))).toMatchObject({ name: 'InvalidInputError', path: 'now' });
  });

  it('refuses to be made of nothing', () => {
    expect(() => messageHandler(undefined as never)).toThrow(InvalidInputError);
  });
});
