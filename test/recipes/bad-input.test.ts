import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  SafeWritesError,
  boolean,
  entity,
  integer,
  string,
  timeToLive,
  transactWrite,
  version,
  type UnversionedUpdate,
} from '../../lib/commands/index.js';
import * as recipes from '../../lib/recipes/index.js';
import { fresh, recipeShop, type RecipeShop } from '../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
const Person = entity('PERSON', {
  pk: 'PERSON#{id}',
  sk: 'PERSON',
  attributes: { id: string(), mail: string().optional() },
});
const Mail = entity('MAIL', {
  pk: 'MAIL#{address}',
  sk: 'CLAIM',
  attributes: { address: string(), owner: string() },
});
const State = entity('STATE', {
  pk: 'STATE#{id}',
  sk: 'STATE',
  attributes: {
    id: string(),
    points: integer().optional(),
    seq: integer().optional(),
    deleted: boolean().optional(),
    deletedSeq: integer().optional(),
    expires: timeToLive().optional(),
  },
});
const Invoice = entity('INVOICE', {
  pk: 'INVOICE#{id}',
  sk: 'INVOICE',
  attributes: { id: string(), number: integer() },
});

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterAll(() => here.close());

/** What a caller without types may hand over. */
const badValues: readonly unknown[] = [
  undefined,
  null,
  NaN,
  Infinity,
  -1,
  0.5,
  5,
  2 ** 53,
  1e300,
  '',
  'text',
  true,
  10n,
  [],
  [null],
  [undefined],
  {},
  () => undefined,
  Symbol('SECRET'),
  new Date(NaN),
  new Date(8.64e15),
  Object.create(null),
  new Map(),
];

/** Fewer, for what functions give. */
const badResults = [undefined, null, NaN, Infinity, 'text', 10n, [null], {}, Symbol('SECRET'), new Date(NaN)];

interface Call {
  /** Arguments that work, made anew for each call. */
  readonly args: () => readonly unknown[] | Promise<readonly unknown[]>;
  readonly run: (...args: never[]) => unknown;
}
/** A call whose parameters say what the arguments are. */
const call = <A extends unknown[]>(
  args: () => readonly [...A] | Promise<readonly [...A]>,
  run: (...args: A) => unknown,
): Call => ({ args, run });

const shop = () => here.shop;
const signal = () => new AbortController().signal;
const now = () => Date.parse('2026-12-01T10:00:00Z');
const fingerprint = () => recipes.fingerprintOf(1, ['x']);
const identity = () => ({ scope: 's', route: 'r', key: fresh() });
const claims = () =>
  recipes.uniqueClaims(shop().of(Person), {
    owner: ({ id }) => id,
    claims: {
      mail: recipes.claimOn(shop().of(Mail), {
        item: (address: string, owner: string) => ({ address, owner }),
        owner: 'owner',
      }),
    },
  });
const groups = () =>
  recipes.orderedGroups(shop().of(State), {
    groups: { score: { version: 'seq', fields: ['points'] } },
    deletion: { flag: 'deleted', version: 'deletedSeq', revives: true, lateness: 1e9 },
  });
const items = () => recipes.orderedItems(shop().of(State), { version: 'seq' });
const groupsEvent = () => ({
  key: { id: fresh() },
  groups: { score: { points: 1, seq: 1 } },
  occurredAt: new Date(),
});
const publisher = () => recipes.publishEach(() => undefined);
const place = () => ({ table: shop(), shards: 2 });
const drainOptions = () => ({
  previousShards: 3,
  whenParked: 'block' as const,
  parkAfter: { attempts: 2, ms: 0 },
  sends: 1,
  concurrency: 2,
  clock: now,
  signal: signal(),
});
const park = async (): Promise<recipes.ParkedEvent> => {
  const aggregate = fresh();
  const events = recipes.outbox(shop(), { source: 's', shards: 2 });
  const publication = { aggregate, sequence: 1, events: [{ type: 't', detail: {} }] };
  await transactWrite(shop(), { event: events.publish(publication) });
  const failing: recipes.Publisher = {
    publish: (sent) => Promise.resolve(sent.map(() => ({ ok: false, retryable: false, reason: 'No' }))),
  };
  await recipes.drainAggregate(place(), { aggregate, upTo: 1 }, failing);
  return (await recipes.parkedEvents(place(), { aggregate }).page()).items[0]!;
};
let parkedOnce: Promise<recipes.ParkedEvent> | undefined;
/** One for all calls: what is refused is so whether it is still there or not. */
const parked = (): Promise<recipes.ParkedEvent> => (parkedOnce ??= park());
const account = async (): Promise<string> => {
  const id = fresh();
  await shop().of(Account).put({ id, balance: 1 });
  return id;
};

const leaveUndecided = async () => {
  const id = identity();
  const call = { ...id, fingerprint: fingerprint(), horizonSeconds: 60, leaseSeconds: 30, now };
  const run = async (lease: recipes.Lease) => ({
    body: await lease.effect('charge', { keySeconds: 0 }, () => Promise.reject(new Error('no answer'))),
  });
  await recipes.idempotentLease(shop(), { ...call, run }).catch(() => undefined);
  const { token, point } = (await recipes.findUnknown(shop(), id, { now }))!;
  return { id, token, point };
};
let undecidedOnce: ReturnType<typeof leaveUndecided> | undefined;
const undecided = () => (undecidedOnce ??= leaveUndecided());

let stop = new AbortController();

/** Every function of the entry point, and the methods of what it makes. */
const calls: Record<string, Call> = {
  claimOn: call(
    () => [
      shop().of(Mail),
      {
        item: (address: string, owner: string) => ({ address, owner }),
        owner: 'owner' as const,
        normalize: (address: string) => address,
      },
    ],
    async (...args) => {
      const mail = recipes.claimOn(...args);
      const users = recipes.uniqueClaims(shop().of(Person), { owner: ({ id }) => id, claims: { mail } });
      await users.register({ id: fresh(), mail: fresh() });
    },
  ),
  uniqueClaims: call(
    () => [
      shop().of(Person),
      {
        owner: ({ id }: { id: string }) => id,
        claims: {
          mail: recipes.claimOn(shop().of(Mail), {
            item: (address: string, owner: string) => ({ address, owner }),
            owner: 'owner' as const,
          }),
        },
      },
    ],
    (table, options) => recipes.uniqueClaims(table, options).register({ id: fresh(), mail: fresh() }),
  ),
  'uniqueClaims.register': call(
    () => [
      { id: fresh(), mail: fresh() },
      { maxAttempts: 2, signal: signal() },
    ],
    (...args) => claims().register(...args),
  ),
  'uniqueClaims.change': call(
    () => [{ id: fresh() }, 'mail' as const, { from: 'a', to: 'b' }, { maxAttempts: 2, signal: signal() }],
    (...args) => claims().change(...args),
  ),
  'uniqueClaims.remove': call(
    () => [{ id: fresh() }, { maxAttempts: 2, signal: signal() }],
    (...args) => claims().remove(...args),
  ),
  counterShardEntity: call(
    () => ['COUNTER'],
    (prefix) => recipes.counterShardEntity(prefix),
  ),
  tallyEntity: call(
    () => ['TALLY'],
    (prefix) => recipes.tallyEntity(prefix),
  ),
  sequenceEntity: call(
    () => ['SEQUENCE'],
    (prefix) => recipes.sequenceEntity(prefix),
  ),
  hiLoEntity: call(
    () => ['HILO'],
    (prefix) => recipes.hiLoEntity(prefix),
  ),
  lockEntity: call(
    () => ['LOCK'],
    (prefix) => recipes.lockEntity(prefix),
  ),
  increment: call(
    () => [shop().of(Invoice), { id: fresh() }, Invoice.attrs.number, 1, { signal: signal() }],
    (...args) => recipes.increment(...args),
  ),
  ShardedCounter: call(
    () => [shop(), { name: fresh(), shards: 3, prefix: 'COUNTER' }],
    async (table, options) => {
      const counter = new recipes.ShardedCounter(table, options);
      await counter.add();
      await counter.sum();
    },
  ),
  'ShardedCounter.add': call(
    () => [1, { by: 'alice', signal: signal() }],
    (...args) => new recipes.ShardedCounter(shop(), { name: fresh(), shards: 3 }).add(...args),
  ),
  'ShardedCounter.sum': call(
    () => [{ consistent: true, signal: signal() }],
    (...args) => new recipes.ShardedCounter(shop(), { name: fresh(), shards: 3 }).sum(...args),
  ),
  WindowedCounter: call(
    () => [
      shop(),
      {
        name: fresh(),
        window: 'day' as const,
        expiry: { latenessMs: 86_400_000, keepMs: 2 * 86_400_000 },
        maxBytes: 1000,
        prefix: 'TALLY',
        clock: now,
      },
    ],
    (table, options) => new recipes.WindowedCounter(table, options).count({ id: 'a', at: new Date(now()) }),
  ),
  'WindowedCounter.count': call(
    () => [{ id: 'a', at: new Date(now()), amount: 1 }, { signal: signal() }],
    (...args) => new recipes.WindowedCounter(shop(), { name: fresh() }).count(...args),
  ),
  'WindowedCounter.read': call(
    () => [new Date(now()), { consistent: true, signal: signal() }],
    (...args) => new recipes.WindowedCounter(shop(), { name: fresh() }).read(...args),
  ),
  'WindowedCounter.sum': call(
    () => [new Date(now()), new Date(now()), { consistent: true, signal: signal() }],
    (...args) => new recipes.WindowedCounter(shop(), { name: fresh() }).sum(...args),
  ),
  GaplessSequence: call(
    () => [shop(), { name: fresh(), first: 1, prefix: 'SEQUENCE' }],
    (table, options) =>
      new recipes.GaplessSequence(table, options).assign(shop().of(Invoice), 'number', { id: fresh() }),
  ),
  'GaplessSequence.assign': call(
    () => [
      shop().of(Invoice),
      'number' as const,
      () => ({ id: fresh() }),
      { steps: () => ({}), timeoutMs: 50, signal: signal() },
    ],
    (...args) => new recipes.GaplessSequence(shop(), { name: fresh() }).assign(...args),
  ),
  'GaplessSequence.last': call(
    () => [{ signal: signal() }],
    (...args) => new recipes.GaplessSequence(shop(), { name: fresh() }).last(...args),
  ),
  hiLo: call(
    () => [shop(), { name: fresh(), blockSize: 3, prefetchAt: 1, prefix: 'HILO' }],
    (...args) => recipes.hiLo(...args).next(),
  ),
  hiLoBigint: call(
    () => [shop(), { name: fresh(), blockSize: 3, prefetchAt: 1, prefix: 'HILO' }],
    (...args) => recipes.hiLoBigint(...args).next(),
  ),
  'hiLo.next': call(
    () => [{ signal: signal() }],
    (...args) => recipes.hiLo(shop(), { name: fresh() }).next(...args),
  ),
  commit: call(
    () => [
      { a: shop().of(Invoice).put({ id: fresh(), number: 1 }) },
      { status: 200, headers: { a: 'b' }, body: 'x' },
      () => ({ body: 'refused' }),
    ],
    (...args) =>
      recipes.idempotentTransaction(shop(), {
        ...identity(),
        fingerprint: fingerprint(),
        horizonSeconds: 60,
        run: () => recipes.commit(...args),
      }),
  ),
  'commit that fails': call(
    () => [() => ({ body: 'refused' })],
    async (onFailed) => {
      const id = fresh();
      await shop().of(Invoice).put({ id, number: 1 });
      return recipes.idempotentTransaction(shop(), {
        ...identity(),
        fingerprint: fingerprint(),
        horizonSeconds: 60,
        maxAttempts: 1,
        run: () => recipes.commit({ a: shop().of(Invoice).unique({ id, number: 1 }) }, { body: 'x' }, onFailed),
      });
    },
  ),
  refuse: call(
    () => [{ status: 409, headers: { a: 'b' }, body: 'x' }],
    (answer) =>
      recipes.idempotentTransaction(shop(), {
        ...identity(),
        fingerprint: fingerprint(),
        horizonSeconds: 60,
        run: () => recipes.refuse(answer),
      }),
  ),
  fingerprintOf: call(
    () => [1, ['a', new Uint8Array(1)]],
    (...args) => recipes.fingerprintOf(...args),
  ),
  idempotencyKey: call(
    () => [identity()],
    (...args) => recipes.idempotencyKey(...args),
  ),
  idempotentTransaction: call(
    () => [
      shop(),
      {
        ...identity(),
        fingerprint: { ...fingerprint() },
        horizonSeconds: 60,
        readFirst: true,
        maxAttempts: 1,
        signal: signal(),
        now,
        run: () => recipes.refuse({ body: 'x' }),
      },
    ],
    (...args) => recipes.idempotentTransaction(...args),
  ),
  idempotentLease: call(
    () => [
      shop(),
      {
        ...identity(),
        fingerprint: { ...fingerprint() },
        horizonSeconds: 60,
        leaseSeconds: 30,
        afterError: 'release' as const,
        readFirst: true,
        maxAttempts: 1,
        signal: signal(),
        now,
        run: () => ({ body: 'x' }),
      },
    ],
    (...args) => recipes.idempotentLease(...args),
  ),
  'lease.effect': call(
    () => ['point', { keySeconds: 60, notDone: () => true }, () => 'done'],
    (...args) =>
      recipes.idempotentLease(shop(), {
        ...identity(),
        fingerprint: fingerprint(),
        horizonSeconds: 60,
        leaseSeconds: 30,
        run: async (lease) => ({ body: await lease.effect(...args) }),
      }),
  ),
  'lease.checkpoint': call(
    () => ['point', 'text'],
    (...args) =>
      recipes.idempotentLease(shop(), {
        ...identity(),
        fingerprint: fingerprint(),
        horizonSeconds: 60,
        leaseSeconds: 30,
        async run(lease) {
          await lease.checkpoint(...args);
          return { body: 'x' };
        },
      }),
  ),
  findUnknown: call(
    () => [shop(), identity(), { signal: signal(), now }],
    (...args) => recipes.findUnknown(...args),
  ),
  resolveUnknown: call(
    async () => {
      const { id, token, point } = await undecided();
      return [shop(), id, { token, point }, { answer: { body: 'x' } }, { signal: signal(), now }];
    },
    (...args) => recipes.resolveUnknown(...args),
  ),
  isHeld: call(
    async () => [await new recipes.Locks(shop()).acquire(fresh())],
    (lock) => transactWrite(shop(), { held: recipes.isHeld(lock) }).send(),
  ),
  Locks: call(
    () => [shop(), { leaseMs: 1000, skewMs: 0, pollMs: 1, prefix: 'LOCK', clock: now }],
    (table, options) => new recipes.Locks(table, options).acquire(fresh()),
  ),
  'Locks.tryAcquire': call(
    () => [fresh(), { signal: signal() }],
    (...args) => new recipes.Locks(shop()).tryAcquire(...args),
  ),
  'Locks.acquire': call(
    () => [fresh(), { waitMs: 1, signal: signal() }],
    (...args) => new recipes.Locks(shop()).acquire(...args),
  ),
  'Locks.withLock': call(
    () => [fresh(), () => Promise.resolve(1), { waitMs: 1, signal: signal() }],
    (...args) => new recipes.Locks(shop()).withLock(...args),
  ),
  Lock: call(
    () => [{ signal: signal() }, { signal: signal() }],
    async (renew, release) => {
      const lock = await new recipes.Locks(shop()).acquire(fresh());
      await lock.renew(renew);
      await lock.release(release);
    },
  ),
  readModifyWrite: call(
    async () => {
      const id = await account();
      return [
        shop().of(Account),
        { id },
        (item: { id: string; balance: number; revision: number }) => item,
        { first: { id, balance: 1, revision: 1 }, repeatable: true, maxAttempts: 1, signal: signal() },
      ];
    },
    (...args) => recipes.readModifyWrite(...args),
  ),
  'readModifyWrite of a missing item': call(
    () => {
      const id = fresh();
      return [
        shop().of(Account),
        { id },
        (item: { id: string; balance: number; revision: number }) => item,
        { missing: () => ({ id, balance: 0 }), within: 5, signal: signal() },
      ];
    },
    (...args) => recipes.readModifyWrite(...args),
  ),
  readModifyUpdate: call(
    async () => {
      const id = await account();
      return [
        shop().of(Account),
        { id },
        (_: object, update: UnversionedUpdate<typeof Account, unknown, unknown>) => update.set({ balance: 2 }),
        { first: { id, balance: 1, revision: 1 }, repeatable: true, maxAttempts: 1, signal: signal() },
      ];
    },
    (...args) => recipes.readModifyUpdate(...args),
  ),
  retryOnConflictWithin: call(
    () => [5, () => Promise.resolve(1), { on: 'any' as const, signal: signal() }],
    (...args) => recipes.retryOnConflictWithin(...args),
  ),
  coalesce: call(
    () => [groups(), [groupsEvent(), groupsEvent()]],
    (...args) => recipes.coalesce(...(args as never as Parameters<typeof recipes.coalesce>)),
  ),
  orderedGroups: call(
    () => [
      shop().of(State),
      {
        groups: { score: { version: 'seq' as const, fields: ['points' as const] } },
        deletion: { flag: 'deleted' as const, version: 'deletedSeq' as const, revives: true, lateness: 1e9 },
        several: 'all' as const,
      },
    ],
    (...args) => recipes.orderedGroups(...args).apply(groupsEvent()),
  ),
  'orderedGroups.apply': call(
    () => [groupsEvent(), { now: new Date(), signal: signal() }],
    (...args) => groups().apply(...args),
  ),
  'orderedGroups.apply a deletion': call(
    () => [
      { key: { id: fresh() }, deleted: 3, occurredAt: new Date() },
      { now: new Date(), signal: signal() },
    ],
    (...args) => groups().apply(...args),
  ),
  'orderedGroups.settle': call(
    () => {
      const event = groupsEvent();
      return [event, event, { outcome: 'Superseded', groups: { score: 'Superseded' }, item: { ...event.key, seq: 4 } }];
    },
    (...args) => groups().settle(...(args as never as [never, never, never])),
  ),
  'orderedGroups.lanes': call(
    () => [groupsEvent()],
    (...args) => groups().lanes(...args),
  ),
  'orderedGroups.compare': call(
    () => [groupsEvent(), groupsEvent()],
    (...args) => groups().compare(...args),
  ),
  orderedItems: call(
    () => [
      shop().of(State),
      { version: 'seq' as const, deletion: { flag: 'deleted' as const, revives: false, lateness: 1e9 } },
    ],
    (...args) =>
      recipes.orderedItems(...args).apply({ item: { id: fresh(), points: 1, seq: 1 }, occurredAt: new Date() }),
  ),
  'orderedItems.apply': call(
    () => [{ item: { id: fresh(), points: 1, seq: 1 } }, { now: new Date(), signal: signal() }],
    (...args) => items().apply(...args),
  ),
  'orderedItems.settle': call(
    () => {
      const event = { item: { id: fresh(), points: 1, seq: 1 } };
      return [event, event, { outcome: 'Superseded', groups: {}, item: { ...event.item, seq: 4 } }];
    },
    (...args) => items().settle(...(args as never as [never, never, never])),
  ),
  'orderedItems.lanes': call(
    () => [{ item: { id: fresh(), points: 1, seq: 1 } }],
    (...args) => items().lanes(...args),
  ),
  'orderedItems.compare': call(
    () => [{ item: { id: fresh(), points: 1, seq: 1 } }, { item: { id: fresh(), points: 1, seq: 1 } }],
    (...args) => items().compare(...args),
  ),
  outbox: call(
    () => [shop(), { source: 's', target: { maximumBytes: 1000 }, shards: 2 }],
    (...args) => recipes.outbox(...args).publish({ events: [{ type: 't', detail: {} }] }),
  ),
  'outbox.publish': call(
    () => [
      {
        aggregate: fresh(),
        sequence: 1,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        events: [{ type: 't', detail: { a: 1 }, id: 'id', source: 's', time: new Date() }],
      },
    ],
    (publication) => transactWrite(shop(), { e: recipes.outbox(shop(), { source: 's' }).publish(publication) }).send(),
  ),
  isTraceparent: call(
    () => ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    (text) => recipes.isTraceparent(text),
  ),
  shardOf: call(
    () => ['a', 8],
    (...args) => recipes.shardOf(...args),
  ),
  wakeUpOf: call(
    () => ['OUTBOX#3', 'a#0000000000000007'],
    (...args) => recipes.wakeUpOf(...args),
  ),
  publishEach: call(
    () => [() => undefined],
    async (send) => {
      const aggregate = fresh();
      const events = recipes.outbox(shop(), { source: 's', shards: 2 });
      const publication = { aggregate, sequence: 1, events: [{ type: 't', detail: {} }] };
      await transactWrite(shop(), { event: events.publish(publication) });
      const drained = await recipes.drainAggregate(events, { aggregate, upTo: 1 }, recipes.publishEach(send));
      if (drained.error !== undefined) throw drained.error as Error;
    },
  ),
  'Publisher.publish': call(
    () => [
      {
        maximumEvents: 10,
        maximumBytes: 1000,
        keepsOrder: true,
        sizeOf: () => 1,
        publish: (): Promise<recipes.PublishAnswer[]> => Promise.resolve([{ ok: true }]),
      },
    ],
    async (own) => {
      const aggregate = fresh();
      const events = recipes.outbox(shop(), { source: 's', shards: 2 });
      const publication = { aggregate, sequence: 1, events: [{ type: 't', detail: {} }] };
      await transactWrite(shop(), { event: events.publish(publication) });
      const { outcome, reason } = await recipes.drainAggregate(events, { aggregate, upTo: 1 }, own, { sends: 1 });
      // What a publisher does wrong is said by a reason of its own, not by the name of an error of ours.
      expect(reason, outcome).not.toBe('TypeError');
    },
  ),
  drainAggregate: call(
    () => [place(), { aggregate: fresh(), upTo: 3, shard: 1 }, publisher(), drainOptions()],
    async (...args) => {
      const { error } = await recipes.drainAggregate(...args);
      if (error !== undefined) throw error as Error;
    },
  ),
  drainAggregates: call(
    () => [place(), [{ aggregate: fresh(), upTo: 3, shard: 1 }], publisher(), drainOptions()],
    async (...args) => {
      for (const { error } of await recipes.drainAggregates(...args)) if (error !== undefined) throw error as Error;
    },
  ),
  drainAll: call(
    () => [place(), publisher(), { ...drainOptions(), olderThanMs: 5 }],
    async (...args) => {
      const { reasons } = await recipes.drainAll(...args);
      expect(Object.keys(reasons)).toEqual([]);
    },
  ),
  pollOutbox: call(
    () => {
      stop = new AbortController();
      const { signal } = stop;
      return [place(), publisher(), { ...drainOptions(), signal, intervalMs: 1, onPass: () => stop.abort() }];
    },
    async (where, sender, options) => {
      // Where no pass stops it, something else has to.
      const stopping = setTimeout(() => stop.abort(), 30);
      await recipes.pollOutbox(where, sender, options).finally(() => clearTimeout(stopping));
    },
  ),
  parkedEvents: call(
    () => [place(), { aggregate: fresh() }],
    (...args) => recipes.parkedEvents(...args).page(),
  ),
  retryParked: call(
    async () => [place(), await parked(), { signal: signal() }],
    (...args) => recipes.retryParked(...args),
  ),
  skipParked: call(
    async () => [place(), await parked(), { signal: signal() }],
    (...args) => recipes.skipParked(...args),
  ),
  isDrainedOf: call(
    () => [place(), 3, { signal: signal() }],
    (...args) => recipes.isDrainedOf(...args),
  ),
  live: call(
    () => [State, new Date()],
    (...args) =>
      shop()
        .of(State)
        .update({ id: fresh() })
        .set({ points: 1 })
        .if(recipes.live(...args))
        .send(),
  ),
  isLive: call(
    () => [State, { id: 'a', expires: new Date() }, new Date()],
    (...args) => recipes.isLive(...args),
  ),
  liveItem: call(
    () => [State, { id: 'a', expires: new Date() }, new Date()],
    (...args) => recipes.liveItem(...args),
  ),
};

type Path = readonly (string | number)[];

const isPlain = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);

/** Every argument and every member of one, as deep as they are plain. */
const pathsOf = (value: unknown, path: Path = []): Path[] => [
  ...(path.length > 0 ? [path] : []),
  ...(isPlain(value) && path.length < 5 && !('client' in value)
    ? Object.entries(value).flatMap(([name, member]) =>
        pathsOf(member, [...path, Array.isArray(value) ? Number(name) : name]),
      )
    : []),
];

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], value);

const withValue = (value: unknown, [name, ...rest]: Path, replacement: unknown): unknown => {
  if (name === undefined) return replacement;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  copy[name] = withValue(copy[name], rest, replacement);
  return copy;
};

/** A text of the error that says nothing of ours where it is one that the caller can act on. */
const rawError = (error: unknown): string | undefined => {
  if (error instanceof SafeWritesError) return undefined;
  const { name, message } = error as Error;
  return /^(Type|Range|Reference|Syntax|Assertion)?Error$/.test(name) ? `${name}: ${message}` : undefined;
};

describe('what has no type is refused by an error that says what was expected', () => {
  it('by every function and class of the entry point', () => {
    const isError = (value: unknown) => typeof value === 'function' && value.prototype instanceof Error;
    const functions = Object.entries(recipes).flatMap(([name, value]) =>
      typeof value === 'function' && !isError(value) ? [name] : [],
    );
    expect(functions.filter((name) => !Object.hasOwn(calls, name))).toEqual([]);
  });

  it.each(Object.entries(calls))('by %s', { timeout: 60_000 }, async (_, { args, run }) => {
    const raw: string[] = [];
    const check = async (path: Path, replacement: unknown, what: string): Promise<void> => {
      const given = withValue(await args(), path, replacement) as never[];
      try {
        await run(...given);
      } catch (error) {
        const text = rawError(error);
        if (text !== undefined) raw.push(`${path.join('.')} = ${what}: ${text}`);
      }
    };
    const base = await args();
    await run(...(base as never[]));
    for (const path of pathsOf(base)) {
      for (const bad of badValues) await check(path, bad, inspect(bad));
      if (typeof at(base, path) !== 'function') continue;
      for (const bad of badResults) await check(path, () => bad, `a function that gives ${inspect(bad)}`);
      await check(path, () => Promise.resolve(null), 'a function that gives a promise of null');
    }
    expect(raw).toEqual([]);
  });
});
