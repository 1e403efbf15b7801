import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInputError, batchWrite, transactWrite } from '../../lib/commands/index.js';
import { bodyPath, fromInvocation, messageHandler, type Session } from '../../lib/messaging/index.js';
import { messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
const fresh = (): string => `awaited${++names}x`;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const account = (id: string) => here.shop.of(Account).put({ id, balance: 1 });
/** As from JavaScript, where no type refuses what a handler returns. */
const handlerOf = (consumer: string, handle: (id: string, session: Session) => unknown) =>
  messageHandler<{ id: string }, { id: string }>({
    table: here.shop,
    consumer,
    from: fromInvocation({ id: bodyPath('id') }),
    handle: ((_message: unknown, session: Session) => handle(consumer, session)) as never,
  });
const nothing = { inbox: [], outbox: [], others: [] };

describe('a command that a handler sends by mistake is refused, and not sent', () => {
  it.each<[string, (id: string, session: Session) => unknown]>([
    ['returned by an async function', async (id) => account(id)],
    [
      'returned by an async function after a wait',
      async (id) => {
        await here.shop.of(Account).get({ id }).item();
        return account(id);
      },
    ],
    ['returned by a function', (id) => account(id)],
    ['resolved by a promise', (id) => Promise.resolve().then(() => account(id))],
    ['that is the promise of a Promise.all', (id) => Promise.all([account(id)])],
    ['awaited', async (id) => void (await account(id))],
    ['whose catch is called', (id) => account(id).catch(() => undefined)],
    ['whose finally is called', (id) => account(id).finally(() => undefined)],
    ['a transaction', async (id) => transactWrite(here.shop, { account: account(id) })],
    ['a transaction that is returned', (id) => transactWrite(here.shop, { account: account(id) })],
    [
      'a batch',
      async (id) => void (await batchWrite(here.shop, [here.shop.of(Account).put({ id, balance: 1 }).ignoreVersion()])),
    ],
    ['a delete', async (id) => void (await here.shop.of(Account).delete({ id }).ignoreVersion())],
    [
      'in a callback that the handler awaits',
      async (id) => {
        await new Promise<void>((resolve, reject) => {
          setImmediate(() => void account(id).then(() => resolve(), reject));
        });
      },
    ],
  ])('%s', async (what, handle) => {
    const id = fresh();
    const handler = handlerOf(id, handle);
    const delivery = handler({ id: 'm1' });
    // A handler that drops the refusal goes on, and its message is handled; the command is not sent all the same.
    if (what === 'whose catch is called') await delivery;
    else {
      const error = await rejection(delivery);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error).toMatchObject({ path: 'handle' });
    }
    expect((await here.stored(id)).others).toEqual([]);
    if (what !== 'whose catch is called') expect(await here.stored(id)).toEqual(nothing);
  });

  it('also where the handler does not wait for it', async () => {
    const id = fresh();
    let dropped: Promise<unknown> | undefined;
    const handler = handlerOf(id, () => {
      dropped = new Promise((resolve) => setImmediate(resolve)).then(() => account(id));
      dropped.catch(() => undefined);
    });
    await handler({ id: 'm1' });
    expect(await rejection(dropped as Promise<unknown>)).toMatchObject({ path: 'handle' });
    expect((await here.stored(id)).others).toEqual([]);
  });

  it('and can be given to the session after it', async () => {
    const id = fresh();
    const handler = handlerOf(id, async (_id, session) => {
      const command = account(id);
      await Promise.resolve(command).catch(() => undefined);
      session.add(command);
    });
    await handler({ id: 'm1' });
    expect((await here.stored(id)).others).toHaveLength(1);
  });
});

describe('a command', () => {
  it('that is to be sent apart is sent by its send()', async () => {
    const id = fresh();
    const handler = handlerOf(id, async () => {
      await account(id).send();
      throw new Error('after');
    });
    expect(await rejection(handler({ id: 'm1' }))).toMatchObject({ message: 'after' });
    expect((await here.stored(id)).others).toHaveLength(1);
  });

  it('that others await while a handler runs is sent', async () => {
    const id = fresh();
    let arrived: () => void = () => undefined;
    let go: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (arrived = resolve));
    const released = new Promise<void>((resolve) => (go = resolve));
    const delivery = handlerOf(id, () => {
      arrived();
      return released;
    })({ id: 'm1' });
    await running;
    await account(id);
    go();
    await delivery;
    await account(`${id}after`);
    expect((await here.stored(id)).others).toHaveLength(2);
  });
});
