// Each recipe with items of less than 1 KB: a success, a repeat, a conflict, and what else it does.
import {
  transactWrite,
  entity,
  integer,
  string,
  timestamp,
  toTimestamp,
  version,
} from '../../dist/esm/commands/index.js';
import { bodyPath, fromInvocation, messageHandler, sagaEntity } from '../../dist/esm/messaging/index.js';
import {
  GaplessSequence,
  Locks,
  ShardedCounter,
  WindowedCounter,
  claimOn,
  commit,
  drainAggregate,
  drainAll,
  fingerprintOf,
  hiLo,
  idempotentLease,
  idempotentTransaction,
  increment,
  isHeld,
  orderedGroups,
  orderedItems,
  parkedEvents,
  retryParked,
  skipParked,
  outbox,
  readModifyWrite,
  refuse,
  uniqueClaims,
} from '../../dist/esm/recipes/index.js';
import { done, failure } from './counting.mjs';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
const User = entity('USER', {
  pk: 'USER#{id}',
  sk: 'USER',
  attributes: { id: string(), email: string(), handle: string() },
});
const Mail = entity('MAIL', { pk: 'MAIL#{address}', sk: 'CLAIM', attributes: { address: string(), owner: string() } });
const Handle = entity('HANDLE', {
  pk: 'HANDLE#{handle}',
  sk: 'CLAIM',
  attributes: { handle: string(), owner: string() },
});
const Match = entity('MATCH', {
  pk: 'GAME#{id}',
  sk: 'GAME',
  attributes: { id: string(), goals: integer().default(0), scoreAt: timestamp().optional() },
});
const Price = entity('PRICE', {
  pk: 'PRICE#{sku}',
  sk: 'PRICE',
  attributes: { sku: string(), cents: integer(), at: timestamp() },
});
const Views = entity('VIEWS', { pk: 'VIEWS#{page}', sk: 'VIEWS', attributes: { page: string(), count: integer() } });
const Invoice = entity('INVOICE', {
  pk: 'INVOICE#{order}',
  sk: 'INVOICE',
  attributes: { order: string(), number: integer() },
});
const Order = sagaEntity('ORDER', { steps: integer().default(0) });

const is = (name) => (result) => result.outcome === name || result === name;

/** `readModifyWrite`: 1 consistent read, and a transaction of one step. */
const locking = async (shop, count) => {
  const accounts = shop.of(Account);
  await accounts.put({ id: 'a', balance: 0 });
  const stale = await accounts.get({ id: 'a' }).consistent().item();
  const add = (account) => ({ ...account, balance: account.balance + 1 });
  const change = (options) => () => readModifyWrite(accounts, { id: 'a' }, add, options);
  return [
    await count('success', change(), done),
    await count('success, `repeatable`', change({ repeatable: true }), done),
    await count.meeting('met another transaction once, then success', change(), done),
    await count('one run lost, then success', change({ first: stale }), ({ balance }) => balance === 4),
    await count('one run lost, then success, `repeatable`', change({ first: stale, repeatable: true }), done),
  ];
};

const claims = async (shop, count) => {
  const users = uniqueClaims(shop.of(User), {
    owner: ({ id }) => id,
    claims: {
      email: claimOn(shop.of(Mail), { item: (address, owner) => ({ address, owner }), owner: 'owner' }),
      handle: claimOn(shop.of(Handle), { item: (handle, owner) => ({ handle, owner }), owner: 'owner' }),
    },
  });
  const alice = { id: 'alice', email: 'alice@example.ch', handle: 'al' };
  const move = { from: alice.email, to: 'alice@example.org' };
  await users.register({ id: 'bob', email: 'bob@example.ch', handle: 'bob' });
  return [
    await count('register a record with 2 claims', () => users.register(alice), is('Registered')),
    await count('register, repeated', () => users.register(alice), is('AlreadyRegistered')),
    await count('register, a value is taken', () => users.register({ ...alice, id: 'carol' }), is('Taken')),
    await count.meeting(
      'register, met another transaction once',
      () => users.register({ id: 'dan', email: 'dan@example.ch', handle: 'dan' }),
      is('Registered'),
    ),
    await count('change a value', () => users.change({ id: 'alice' }, 'email', move), is('Changed')),
    await count('change, repeated', () => users.change({ id: 'alice' }, 'email', move), is('AlreadyChanged')),
    await count(
      'change, the new value is taken',
      () => users.change({ id: 'alice' }, 'email', { from: move.to, to: 'bob@example.ch' }),
      is('Taken'),
    ),
    await count('remove record and claims', () => users.remove({ id: 'alice' }), is('Removed')),
    await count('remove, repeated', () => users.remove({ id: 'alice' }), is('NoRecord')),
  ];
};

const identity = (key, body = '1') => ({
  scope: 'tenant',
  route: 'pay',
  key,
  fingerprint: fingerprintOf(1, [body]),
  horizonSeconds: 86_400,
});

const idempotency = async (shop, count) => {
  const accounts = shop.of(Account);
  const call = (key, { body, ...options } = {}) => ({
    ...identity(key, body),
    run: () => commit({ account: accounts.put({ id: `i-${key}`, balance: 1 }) }, { body: key }),
    ...options,
  });
  const run =
    (...args) =>
    () =>
      idempotentTransaction(shop, call(...args));
  return [
    await count('first call, an effect of 1 item', run('a'), is('committed')),
    await count('repeat', run('a'), is('replayed')),
    await count('the key again, another request', run('a', { body: '2' }), is('mismatch')),
    await count.meeting('first call, met another one once', run('d'), is('committed')),
    await count('refused by `refuse`', run('c', { run: () => refuse({ status: 403, body: 'no' }) }), is('refused')),
    await count('first call, `readFirst`', run('b', { readFirst: true }), is('committed')),
    await count('repeat, `readFirst`', run('b', { readFirst: true }), is('replayed')),
  ];
};

const lease = async (shop, count) => {
  let enter, leave;
  const inside = new Promise((resolve) => (enter = resolve));
  const held = new Promise((resolve) => (leave = resolve));
  const accounts = shop.of(Account);
  const call =
    (key, { effects = 1, keySeconds = 86_400, step = false, wait, body, fails, ...options } = {}) =>
    () =>
      idempotentLease(shop, {
        ...identity(key, body),
        leaseSeconds: 30,
        ...options,
        async run(own) {
          if (fails) throw new RangeError('of the caller');
          for (let i = 0; i < effects; i++) await own.effect(`e${i}`, { keySeconds }, () => 'ok');
          if (wait) {
            enter();
            await held;
          }
          const answer = { status: 201, body: 'ok' };
          return step ? commit({ account: accounts.put({ id: `l-${key}`, balance: 1 }) }, answer) : answer;
        },
      });
  const answered = ({ answer }) => answer.status === 201;
  const rows = [
    await count('first call, one effect outside', call('l1'), answered),
    await count('the same, its provider knows no keys', call('l4', { keySeconds: 0 }), answered),
    await count('the same, and 1 item with the answer', call('l5', { step: true }), answered),
    await count('first call, two effects outside', call('l2', { effects: 2 }), answered),
    await count('repeat', call('l1'), is('replayed')),
    await count('the key again, another request', call('l1', { body: '2' }), is('mismatch')),
    await count('first call, one effect, `readFirst`', call('l6', { readFirst: true }), answered),
    await count('repeat, `readFirst`', call('l6', { readFirst: true }), is('replayed')),
    await count('the caller throws', failure(call('l7', { fails: true })), is('RangeError')),
  ];
  const running = call('l3', { wait: true })();
  await inside;
  rows.push(await count('while another call runs', call('l3'), is('inProgress')));
  leave();
  await running;
  return rows;
};

const orderedState = async (shop, count) => {
  const live = orderedGroups(shop.of(Match), { groups: { score: { version: 'scoreAt', fields: ['goals'] } } });
  const event = (second, goals) => ({
    key: { id: 'm' },
    groups: { score: { goals, scoreAt: toTimestamp(`2026-01-01T00:00:0${second}Z`) } },
  });
  const apply =
    (...args) =>
    () =>
      live.apply(event(...args));
  const prices = orderedItems(shop.of(Price), { version: 'at' });
  const item = (second, cents) => () =>
    prices.apply({ item: { sku: 's', cents, at: toTimestamp(`2026-01-01T00:00:0${second}Z`) } });
  return [
    await count('a newer event', apply(2, 1), is('Applied')),
    await count('the same again', apply(2, 1), is('AlreadyStored')),
    await count('an older one', apply(1, 0), is('Superseded')),
    await count('another of the same version', apply(2, 5), is('Conflict')),
    await count('`orderedItems`, a newer event', item(2, 1), is('Applied')),
    await count('`orderedItems`, an older one', item(1, 0), is('Superseded')),
  ];
};

const counters = async (shop, count) => {
  const signups = new WindowedCounter(shop, { name: 'signups', window: 'hour' });
  const at = new Date('2026-12-01T10:15:00Z');
  const likes = new ShardedCounter(shop, { name: 'likes', shards: 10 });
  const add = () => increment(shop.of(Views), { page: '/' }, Views.attrs.count, 1);
  return [
    await count('`increment`, first and repeat', add, done),
    await count('`WindowedCounter`, a new id', () => signups.count({ id: 'a', at }), is('Counted')),
    await count('`WindowedCounter`, the id again', () => signups.count({ id: 'a', at }), is('AlreadyCounted')),
    await count('`ShardedCounter`, an add', () => likes.add(), done),
    await count(
      '`ShardedCounter`, the sum of 10 shards',
      () => likes.sum(),
      (sum) => sum === 1,
    ),
  ];
};

const numbers = async (shop, count) => {
  const ids = hiLo(shop, { name: 'orders' });
  const invoices = new GaplessSequence(shop, { name: 'invoices' });
  const other = new GaplessSequence(shop, { name: 'invoices' });
  const assign = (sequence, order) => () => sequence.assign(shop.of(Invoice), 'number', { order });
  await assign(invoices, 'o0')();
  await assign(other, 'o1')();
  await assign(other, 'o2')();
  return [
    await count(
      'hi/lo, 100 numbers',
      async () => {
        for (let i = 0; i < 100; i++) await ids.next();
        return true;
      },
      done,
    ),
    await count('gapless, a number', assign(other, 'o3'), ({ number }) => number === 4),
    await count('gapless, the call repeated', assign(other, 'o3'), ({ repeated }) => repeated),
    await count.meeting('gapless, met another transaction once', assign(other, 'o9'), ({ number }) => number === 5),
    await count('gapless, one run lost, then a number', assign(invoices, 'o4'), ({ number }) => number === 6),
  ];
};

const refused = (retryable) => ({ ok: false, retryable, reason: 'refused' });

const publishing = async (shop, count) => {
  const events = outbox(shop, { source: 'bench' });
  const accounts = shop.of(Account);
  const some = (n) => Array.from({ length: n }, (_, i) => ({ id: `p${n}-${i}`, type: 'moved', detail: { i } }));
  const publish = (aggregate, n) => () =>
    transactWrite(shop, {
      account: accounts.put({ id: `p-${aggregate}`, balance: 1 }),
      event: events.publish({ aggregate, sequence: 1, events: some(n) }),
    }).send();
  const target = {
    maximumEvents: 10,
    maximumBytes: 256_000,
    publish: (entries) => Promise.resolve(entries.map(() => ({ ok: true }))),
  };
  const place = { table: shop, shards: 8 };
  const rows = [
    await count(
      'a transaction of one put',
      () => transactWrite(shop, { a: accounts.put({ id: 'p', balance: 1 }) }).send(),
      done,
    ),
    await count('the same, and an event', publish('one', 1), done),
    await count('the same, and 5 events of one aggregate', publish('five', 5), done),
    await count(
      'removal by `drainAggregate`, the 5 events',
      () => drainAggregate(place, { aggregate: 'five', upTo: 1 }, target),
      ({ published }) => published === 5,
    ),
    await count(
      '`drainAll`, 1 event waits',
      () => drainAll(place, target),
      ({ published }) => published === 1,
    ),
    await count(
      '`drainAll`, nothing waits, 8 shards',
      () => drainAll(place, target),
      ({ published }) => published === 0,
    ),
  ];
  const failing = { ...target, publish: (entries) => Promise.resolve(entries.map(() => refused(true))) };
  const refusing = { ...target, publish: (entries) => Promise.resolve(entries.map(() => refused(false))) };
  const drain = (aggregate, to) => () => drainAggregate(place, { aggregate, upTo: 1 }, to, { sends: 1 });
  for (const aggregate of ['failing', 'given-up']) await publish(aggregate, 1)();
  rows.push(
    await count('`drainAggregate`, the event fails', drain('failing', failing), ({ published }) => published === 0),
    await count('`drainAggregate`, the event is parked', drain('failing', refusing), ({ parked }) => parked === 1),
  );
  const parkedOf = async (aggregate) => (await parkedEvents(place, { aggregate }).page()).items[0];
  const first = await parkedOf('failing');
  rows.push(await count('`retryParked`', () => retryParked(place, first), done));
  await drain('given-up', refusing)();
  const second = await parkedOf('given-up');
  rows.push(await count('`skipParked`', () => skipParked(place, second), done));
  return rows;
};

const locks = async (shop, count) => {
  const [mine, others] = [new Locks(shop), new Locks(shop)];
  const accounts = shop.of(Account);
  let lock;
  const write = () =>
    transactWrite(shop, {
      held: isHeld(lock),
      account: accounts.put({ id: 'locked', balance: 1 }).ignoreVersion(),
    }).send();
  return [
    await count('acquire', async () => (lock = await mine.acquire('report')), done),
    await count(
      'acquire, held by another',
      () => others.tryAcquire('report'),
      (other) => other === undefined,
    ),
    await count('renew', () => lock.renew(), done),
    await count('a transaction of one put and `isHeld`', write, done),
    await count(
      'release',
      () => lock.release(),
      (released) => released,
    ),
    await count('the same transaction, no longer held', failure(write), is('TransactionCanceledException')),
  ];
};

const sessions = async (shop, count) => {
  const handlerOf = (consumer, { events = 0, saga = false, readFirst = false, fails = false }) => {
    const handler = messageHandler({
      table: shop,
      consumer,
      from: fromInvocation({ id: bodyPath('id') }),
      readFirst,
      async handle(message, session) {
        if (fails) throw new RangeError('of the handler');
        if (saga) (await session.saga(Order, consumer)).state.steps++;
        for (let i = 0; i < events; i++) {
          session.publish({ type: 'moved', source: 'bench', detail: { i } }, { aggregate: consumer, sequence: 1 });
        }
      },
    });
    return (id) => () => handler({ id });
  };
  const plain = handlerOf('plain', {});
  const event = handlerOf('event', { events: 1 });
  const saga = handlerOf('saga', { saga: true });
  const both = handlerOf('both', { saga: true, events: 1 });
  const failing = handlerOf('failing', { fails: true });
  const met = handlerOf('met', { events: 1 });
  const reading = handlerOf('reading', { events: 1, readFirst: true });
  return [
    await count('first delivery, the inbox record alone', plain('m'), is('handled')),
    await count('first delivery, an event', event('m'), is('handled')),
    await count.meeting('first delivery, an event, met another transaction once', met('m'), is('handled')),
    await count('repeat of it', event('m'), is('duplicate')),
    await count('the handler throws', failure(failing('m')), is('RangeError')),
    await count('first delivery, a saga', saga('m'), is('handled')),
    await count('next message, the same saga', saga('m2'), is('handled')),
    await count('first delivery, a saga and an event', both('m'), is('handled')),
    await count('first delivery, an event, `readFirst`', reading('m'), is('handled')),
    await count('repeat of it, `readFirst`', reading('m'), is('duplicate')),
  ];
};

/** All recipes, by their title. */
export const recipes = {
  'Optimistic locking, `readModifyWrite`': locking,
  'Uniqueness claims, `uniqueClaims`': claims,
  'Idempotency record, `idempotentTransaction`': idempotency,
  'Idempotency lease, `idempotentLease`': lease,
  'Ordered state, `orderedGroups`': orderedState,
  Counters: counters,
  'Hi/lo and gapless numbers': numbers,
  Outbox: publishing,
  'Lock, `Locks`': locks,
  'Message session, `messageHandler`': sessions,
};
