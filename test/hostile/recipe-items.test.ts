import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  conditionCheck,
  entity,
  integer,
  string,
  transactWrite,
  version,
  type AttributeMap,
} from '../../lib/commands/index.js';
import { bodyPath, fromInvocation, messageHandler, sagaEntity, type Session } from '../../lib/messaging/index.js';
import {
  GaplessSequence,
  Locks,
  ShardedCounter,
  WindowedCounter,
  commit,
  drainAggregate,
  drainAll,
  findUnknown,
  fingerprintOf,
  hiLo,
  hiLoBigint,
  idempotentLease,
  idempotentTransaction,
  isHeld,
  outbox,
  parkedEvents,
  readModifyWrite,
  resolveUnknown,
  retryParked,
  skipParked,
  type Lock,
} from '../../lib/recipes/index.js';
import { usersOf } from '../recipes/claims/users.js';
import { failed, target } from '../recipes/outbox/relay-target.js';
import { secret } from './corpus.js';
import { hostileShop } from './hostile-shop.js';
import { expectRefusal } from './hostile-values.js';

const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string(), number: integer() } });
const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'ACCOUNT',
  attributes: { id: string(), balance: integer(), revision: version() },
});
const Process = sagaEntity('PROCESS', { steps: integer().default(0), last: string().optional() });

const here = hostileShop();

const TableName = (): string => here.shop.name;
const send = <C>(command: C): Promise<{ Item?: AttributeMap; Items?: AttributeMap[] }> =>
  here.shop.client.send(command as never) as never;
const keyOf = ({ pk, sk }: AttributeMap): AttributeMap => ({ pk: pk as AttributeValue, sk: sk as AttributeValue });
const all = async (): Promise<AttributeMap[]> => (await send(new ScanCommand({ TableName: TableName() }))).Items ?? [];
const clear = async (): Promise<void> => {
  for (const item of await all()) await send(new DeleteItemCommand({ TableName: TableName(), Key: keyOf(item) }));
};
const put = (Item: AttributeMap) => send(new PutItemCommand({ TableName: TableName(), Item: Item }));
const get = async (item: AttributeMap): Promise<AttributeMap | undefined> =>
  (await send(new GetItemCommand({ TableName: TableName(), Key: keyOf(item), ConsistentRead: true }))).Item;

/** What somebody else may have stored in the place of a value. */
const values: readonly AttributeValue[] = [
  { S: secret },
  { S: '' },
  { S: '9999-12-31T23:59:59.999Z' },
  { S: '1' },
  { N: '0' },
  { N: '-1' },
  { N: '1.5' },
  { N: '2' },
  { N: '9007199254740991' },
  { N: '9007199254740993' },
  { N: '1e125' },
  { N: '-9.9e125' },
  { N: '1e-130' },
  { B: Buffer.from(secret) },
  { BOOL: true },
  { NULL: true },
  { L: [] },
  { L: [{ S: secret }] },
  { M: {} },
  { M: { [secret]: { S: secret } } },
  { SS: [secret] },
  { NS: ['1'] },
];

interface Damage {
  readonly name: string;
  readonly by: AttributeValue | undefined;
}

/** A good item with some attributes gone or replaced, or what is somebody else's altogether. */
const damaged = (good: AttributeMap): fc.Arbitrary<AttributeMap> => {
  const names = Object.keys(good).filter((name) => name !== 'pk' && name !== 'sk');
  const damage: fc.Arbitrary<Damage> = fc.record({
    name: fc.constantFrom(...names, secret),
    by: fc.oneof(
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 3, arbitrary: fc.constantFrom(...values) },
    ),
  });
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.array(damage, { minLength: 1, maxLength: 2 }).map((damages) => {
        const item = { ...good };
        for (const { name, by } of damages) {
          if (by === undefined) delete item[name];
          else item[name] = by;
        }
        return item;
      }),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<AttributeMap>(
          {},
          { text: { S: secret } },
          { _type: { S: 'OTHER' }, text: { S: secret } },
          { _type: good['_type'] as AttributeValue },
        )
        .map((item): AttributeMap => ({ ...keyOf(good), ...item })),
    },
  );
};

const isText = (value: AttributeValue | undefined): boolean => value?.S !== undefined;
const isTime = (value: AttributeValue | undefined): boolean => /^\d{4}-\d\d-\d\dT.{12}Z$/.test(value?.S ?? '');
const isWhole = (value: AttributeValue | undefined, least = -Infinity, most = Infinity): boolean =>
  value?.N !== undefined &&
  Number.isSafeInteger(Number(value.N)) &&
  Number(value.N) >= least &&
  Number(value.N) <= most &&
  BigInt(Number(value.N)).toString().length <= 16 &&
  value.N !== '9007199254740993';
const isOver = ({ ttl }: AttributeMap): boolean => ttl?.N !== undefined && Number(ttl.N) <= Date.now() / 1000;
const isOf = (item: AttributeMap, type: string): boolean => item['_type'] === undefined || item['_type'].S === type;

/** Whether the kit may have written it, as far as the recipe has to look at it to be right. */
type Sound = (item: AttributeMap) => boolean;

interface Recipe {
  /** Writes what a user of the recipe would, and gives the item to damage: the one of this type. */
  readonly seed: () => Promise<void>;
  readonly type: string;
  readonly sound: Sound;
  /** What a user may do next. Gives whether it was refused or answered without harm; a favour is true. */
  readonly operations: Record<string, () => Promise<'favour' | 'harmless'>>;
}

const favour = async (work: () => Promise<unknown>): Promise<'favour'> => {
  await work();
  return 'favour';
};
const year = 366 * 86_400;
const call = { scope: 's', route: 'r', key: 'k' };
const terms = { ...call, fingerprint: fingerprintOf(1, ['x']), horizonSeconds: year };
const transaction = async (readFirst: boolean): Promise<'favour' | 'harmless'> => {
  const step = () => here.shop.of(Note).put({ id: 'effect', number: 1 });
  const { outcome } = await idempotentTransaction(here.shop, {
    ...terms,
    readFirst,
    run: () => commit({ step: step() }, { status: 201, body: 'ok' }),
  });
  return outcome === 'mismatch' || outcome === 'conflict' ? 'harmless' : 'favour';
};
const leased = async (): Promise<'favour' | 'harmless'> => {
  const { outcome } = await idempotentLease(here.shop, {
    ...terms,
    leaseSeconds: 30,
    run: async (lease) => ({ body: await lease.effect('pay', { keySeconds: 0 }, () => 'paid') }),
  });
  return outcome === 'mismatch' || outcome === 'inProgress' || outcome === 'unknown' ? 'harmless' : 'favour';
};
const isRecord: Sound = (item) =>
  // Whatever it was, its time is over.
  isOver(item) ||
  (isOf(item, 'IDEMPOTENCY') &&
    isWhole(item['ttl']) &&
    isWhole(item['format'], -Infinity, 2) &&
    isText(item['fingerprint']));
const message = (handle: (session: Session) => Promise<unknown>, id = 'm') =>
  messageHandler<{ id: string }, { id: string }>({
    table: here.shop,
    consumer: 'hostile',
    from: fromInvocation({ id: bodyPath('id') }),
    maxAttempts: 2,
    handle: async (_, session) => void (await handle(session)),
  })({ id });

let lock: Lock;
const day = new Date('2026-12-01T10:00:00Z');
const counter = () => new WindowedCounter(here.shop, { name: 'n' });
const sharded = () => new ShardedCounter(here.shop, { name: 'n', shards: 1 });
const gapless = () => new GaplessSequence(here.shop, { name: 'n' });
const place = () => outbox(here.shop, { source: 'shop', shards: 1 });
const publish = (sequence: number) =>
  place()
    .publish({
      aggregate: 'a',
      sequence,
      events: [
        { type: 'one', detail: {} },
        { type: 'two', detail: {} },
      ],
    })
    .send();

const isFree: Sound = (item) =>
  isOf(item, 'LOCK') &&
  isWhole(item['token'], 1) &&
  isWhole(item['format'], -Infinity, 1) &&
  (isTime(item['heldUntil']) || (item['owner'] === undefined && item['heldUntil'] === undefined));
const acquire = async (): Promise<'favour' | 'harmless'> =>
  (await new Locks(here.shop).tryAcquire('n')) === undefined ? 'harmless' : 'favour';

const recipes: Record<string, Recipe> = {
  'an idempotency record': {
    type: 'IDEMPOTENCY',
    seed: async () => void (await transaction(false)),
    sound: isRecord,
    operations: {
      idempotentTransaction: () => transaction(false),
      'idempotentTransaction, which reads first': () => transaction(true),
      idempotentLease: leased,
    },
  },
  "a lease's record": {
    type: 'IDEMPOTENCY',
    seed: async () => {
      const work = { ...terms, leaseSeconds: 1, afterError: 'keep', now: () => Date.now() - 5_000 } as const;
      await idempotentLease(here.shop, {
        ...work,
        run: (lease) =>
          lease
            .effect('pay', { keySeconds: 0 }, () => {
              throw new Error('nobody knows');
            })
            .then((body) => ({ body })),
      }).catch(() => undefined);
    },
    // What is answered anew is none of this item's; `unknown` is harmless.
    sound: isRecord,
    operations: {
      idempotentTransaction: () => transaction(false),
      idempotentLease: leased,
      findUnknown: () => favour(() => findUnknown(here.shop, call)),
      resolveUnknown: async () => {
        const token = Number((await all()).find((item) => item['_type']?.S === 'IDEMPOTENCY')?.['token']?.N ?? 1);
        const outcome = await resolveUnknown(here.shop, call, { token, point: 'pay' }, 'retry');
        return outcome === 'resolved' ? 'favour' : 'harmless';
      },
    },
  },
  'a claim': {
    type: 'MAIL',
    seed: async () => void (await usersOf(here.shop).register({ id: 'a', email: 'a@x' })),
    sound: (item) => isText(item['owner']),
    operations: {
      'register, by another': async () =>
        (await usersOf(here.shop).register({ id: 'b', email: 'a@x' })).outcome === 'Registered' ? 'favour' : 'harmless',
      'register, again': async () =>
        (await usersOf(here.shop).register({ id: 'a', email: 'a@x' })).outcome === 'Registered' ? 'favour' : 'harmless',
      change: async () =>
        (await usersOf(here.shop).change({ id: 'a' }, 'email', { from: 'a@x', to: 'b@x' })) === 'Changed'
          ? 'favour'
          : 'harmless',
      remove: async () => {
        const before = (await all()).find(({ pk }) => pk?.S === 'MAIL#a@x') as AttributeMap;
        await usersOf(here.shop).remove({ id: 'a' });
        // What nobody is known to own is left.
        return (await get(before)) === undefined ? 'favour' : 'harmless';
      },
    },
  },
  "a claimed record's user": {
    type: 'USER',
    seed: async () => void (await usersOf(here.shop).register({ id: 'a', email: 'a@x' })),
    sound: (item) => isOf(item, 'USER') && isText(item['email']),
    operations: {
      'register, again': async () =>
        (await usersOf(here.shop).register({ id: 'a', email: 'a@x' })).outcome === 'Registered' ? 'favour' : 'harmless',
      remove: () => favour(() => usersOf(here.shop).remove({ id: 'a' })),
    },
  },
  'a shard of a counter': {
    type: 'COUNTER',
    seed: () => sharded().add(),
    sound: (item) => item['count']?.N !== undefined && Number(item['format']?.N) <= 1,
    operations: {
      add: () => favour(() => sharded().add(2)),
      sum: () => favour(() => sharded().sum()),
    },
  },
  'a window of a counter': {
    type: 'TALLY',
    seed: async () => void (await counter().count({ id: 'i', at: day })),
    sound: (item) =>
      item['count']?.N !== undefined &&
      Number(item['format']?.N) <= 1 &&
      item['seen']?.SS !== undefined &&
      Number(item['seenBytes']?.N) >= 0,
    operations: {
      count: async () => ((await counter().count({ id: 'j', at: day })) === 'Counted' ? 'favour' : 'harmless'),
      'count, again': async () => ((await counter().count({ id: 'i', at: day })) === 'Counted' ? 'favour' : 'harmless'),
    },
  },
  'a window that is read': {
    type: 'TALLY',
    seed: async () => void (await counter().count({ id: 'i', at: day })),
    sound: (item) => isOf(item, 'TALLY') && isWhole(item['count']) && isWhole(item['format'], -Infinity, 1),
    operations: { read: () => favour(() => counter().read(day)) },
  },
  'a hi/lo item': {
    type: 'HILO',
    seed: async () => void (await hiLo(here.shop, { name: 'n' }).next()),
    sound: (item) => isOf(item, 'HILO') && item['hi']?.N !== undefined && Number(item['format']?.N) <= 1,
    operations: {
      hiLo: () => favour(() => hiLo(here.shop, { name: 'n' }).next()),
      hiLoBigint: () => favour(() => hiLoBigint(here.shop, { name: 'n' }).next()),
    },
  },
  'a gapless sequence': {
    type: 'SEQUENCE',
    seed: async () => void (await gapless().assign(here.shop.of(Note), 'number', { id: 'first' })),
    sound: (item) => isOf(item, 'SEQUENCE') && isWhole(item['last']) && isWhole(item['format'], -Infinity, 1),
    operations: {
      assign: () => favour(() => gapless().assign(here.shop.of(Note), 'number', { id: 'second' })),
      last: () => favour(() => gapless().last()),
    },
  },
  'a lock that was released': {
    type: 'LOCK',
    seed: async () => {
      lock = await new Locks(here.shop).acquire('n');
      await lock.release();
    },
    sound: isFree,
    operations: { acquire },
  },
  'a lock whose lease has ended': {
    type: 'LOCK',
    seed: async () => {
      lock = await new Locks(here.shop, { clock: () => Date.now() - 86_400_000 }).acquire('n');
    },
    sound: isFree,
    operations: { acquire },
  },
  'a lock that is held': {
    type: 'LOCK',
    seed: async () => {
      lock = await new Locks(here.shop).acquire('n');
    },
    sound: (item) => item['token']?.N === String(lock.token) && item['owner']?.S === lock.owner,
    operations: {
      renew: () => favour(() => lock.renew()),
      isHeld: () => favour(() => transactWrite(here.shop, { held: isHeld(lock) })),
      release: async () => {
        const before = (await all())[0];
        // Without an owner it is nobody's already.
        return (await lock.release()) && before?.['owner'] !== undefined ? 'favour' : 'harmless';
      },
    },
  },
  'an item of the outbox': {
    type: 'OUTBOX',
    seed: async () => {
      await publish(1);
      await publish(2);
    },
    sound: (item) =>
      // What is of another type is none of the outbox's.
      !isOf(item, 'OUTBOX') ||
      (isWhole(item['format'], -Infinity, 1) &&
        (item['events']?.L ?? []).length > 0 &&
        (item['published'] === undefined || isWhole(item['published'], 0, item['events']?.L?.length))),
    operations: {
      drainAggregate: async () => {
        const { outcome, error } = await drainAggregate(place(), { aggregate: 'a', upTo: 2 }, target());
        if (error !== undefined) expectRefusal(error);
        return outcome === 'drained' ? 'favour' : 'harmless';
      },
      drainAll: async () => {
        const { failed: lost, unread, blocked } = await drainAll(place(), target());
        return lost + unread + blocked === 0 ? 'favour' : 'harmless';
      },
    },
  },
  'a parked event': {
    type: 'OUTBOX_PARKED',
    seed: async () => {
      await publish(1);
      const refusing = Object.assign(target(), { answer: () => failed(false) });
      await drainAll(place(), refusing);
    },
    sound: (item) => isOf(item, 'OUTBOX_PARKED') && isWhole(item['format'], -Infinity, 1) && !!item['event']?.M,
    operations: {
      retryParked: async () => {
        const outcomes: string[] = [];
        for await (const event of parkedEvents(place()).items()) outcomes.push(await retryParked(place(), event));
        return outcomes.includes('Done') ? 'favour' : 'harmless';
      },
      skipParked: async () => {
        const outcomes: string[] = [];
        for await (const event of parkedEvents(place()).items()) outcomes.push(await skipParked(place(), event));
        return outcomes.includes('Done') ? 'favour' : 'harmless';
      },
    },
  },
  'an inbox record': {
    type: 'INBOX',
    seed: async () => void (await message(() => Promise.resolve())),
    sound: (item) => isOver(item) || (isOf(item, 'INBOX') && isWhole(item['ttl']) && isText(item['delivery'])),
    operations: {
      messageHandler: () =>
        favour(() =>
          message((session) => Promise.resolve(session.add(here.shop.of(Note).put({ id: 'e', number: 1 })))),
        ),
    },
  },
  'a saga': {
    type: 'PROCESS',
    seed: async () =>
      void (await message(async (session) => {
        (await session.saga(Process, 'n')).state.steps += 1;
      })),
    sound: (item) =>
      isOf(item, 'PROCESS') &&
      isWhole(item['revision'], 1) &&
      isWhole(item['format'], -Infinity, 1) &&
      (item['steps'] === undefined || isWhole(item['steps'])) &&
      (item['last'] === undefined || isText(item['last'])),
    operations: {
      'the next message': () =>
        favour(() =>
          message(async (session) => {
            (await session.saga(Process, 'n')).state.steps = 7;
          }, 'next'),
        ),
    },
  },
  'an item with a version': {
    type: 'ACCOUNT',
    seed: async () => void (await here.shop.of(Account).put({ id: 'a', balance: 1 })),
    sound: (item) => isWhole(item['revision'], 0),
    operations: {
      readModifyWrite: () =>
        favour(() =>
          readModifyWrite(here.shop.of(Account), { id: 'a' }, (account) => ({ ...account, balance: 5 }), {
            maxAttempts: 2,
          }),
        ),
      conditionCheck: async () =>
        (
          await transactWrite(here.shop, {
            a: conditionCheck(here.shop.of(Account), { id: 'a' }).ifVersion(1),
          }).trySend()
        ).committed
          ? 'favour'
          : 'harmless',
    },
  },
};

describe.each(Object.keys(recipes))('%s that somebody else changed', (name) => {
  const { type, seed, sound, operations } = recipes[name] as Recipe;
  let state: AttributeMap[] = [];
  let good: AttributeMap;
  beforeEach(async () => {
    await clear();
    await seed();
    state = await all();
    good = state.find((item) => item['_type']?.S === type) as AttributeMap;
  });

  it.each(Object.keys(operations))(
    'is refused by %s, and does nobody a favour',
    { timeout: 60_000 },
    async (operation) => {
      const favours: unknown[] = [];
      await fc.assert(
        fc.asyncProperty(damaged(good), async (item) => {
          await clear();
          for (const other of state) await put(other === good ? item : other);
          let answer: unknown;
          try {
            answer = await (operations[operation] as () => Promise<string>)();
          } catch (error) {
            expectRefusal(error);
            return;
          }
          if (answer === 'favour' && !sound(item)) throw new Error(`did a favour: ${JSON.stringify(item)}`);
          favours.push(answer);
        }),
        { numRuns: 80 },
      );
      // Not all is refused: what says nothing about the recipe's work may be there.
      expect(favours.length).toBeGreaterThan(0);
    },
  );
});
