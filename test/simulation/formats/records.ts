import { entity, integer, scan, string, type AttributeMap, type Table } from '../../../lib/commands/index.js';
import { bodyPath, fromInvocation, messageHandler, sagaEntity } from '../../../lib/messaging/index.js';
import {
  GaplessSequence,
  Locks,
  ShardedCounter,
  WindowedCounter,
  commit,
  drainAll,
  drainAggregate,
  fingerprintOf,
  hiLo,
  idempotentLease,
  idempotentTransaction,
  outbox,
  parkedEvents,
  publishEach,
  retryParked,
  skipParked,
  type CallIdentity,
} from '../../../lib/recipes/index.js';
import { must } from '../workload.js';

export const Thing = entity('THING', {
  pk: 'THING#{id}',
  sk: 'THING',
  attributes: { id: string() },
});
const Numbered = entity('NUMBERED', {
  pk: 'NUMBERED#{id}',
  sk: 'NUMBERED',
  attributes: { id: string(), number: integer() },
});
const FormatSaga = sagaEntity('FORMAT_SAGA', { steps: integer().default(0) });

const year = 366 * 86_400;
/** As long as a lock may be held: until after the fixtures are read. */
const longestLease = 2 ** 31 - 1;
const at = new Date(Date.UTC(2026, 0, 1, 12));

const callOf = (key: string) =>
  ({ scope: 'format', route: 'format', key, fingerprint: fingerprintOf(1, [key]), horizonSeconds: year }) as const;

const sagaHandler = (shop: Table) =>
  messageHandler({
    table: shop,
    consumer: 'format',
    from: fromInvocation<{ id: string; saga: string }>({ id: bodyPath('id') }),
    horizonSeconds: year,
    async handle({ body }, session) {
      const saga = await session.saga(FormatSaga, body.saga);
      saga.state.steps++;
      session.publish(
        { type: 'format.step', detail: { step: saga.state.steps } },
        { aggregate: `saga:${body.saga}`, sequence: saga.revision },
      );
    },
  });

/** One record of each kind that the kit stores, as this code writes it. */
export const writeRecords = async (shop: Table): Promise<void> => {
  await idempotentTransaction(shop, {
    ...callOf('answered'),
    run: () =>
      commit({ thing: shop.of(Thing).put({ id: 'answered' }) }, { status: 201, headers: { a: 'b' }, body: 'first' }),
  });
  await idempotentLease(shop, {
    ...callOf('leased'),
    leaseSeconds: 86_400,
    afterError: 'keep',
    async run(lease) {
      await lease.effect('charge', { keySeconds: 86_400 }, () => Promise.resolve('charged'));
      throw new Error('It dies here.');
    },
  }).catch(() => undefined);
  await sagaHandler(shop)({ id: 'm1', saga: 'a' });
  await new Locks(shop, { leaseMs: longestLease }).acquire('held');
  await (await new Locks(shop).acquire('released')).release();
  await hiLo(shop, { name: 'ids', blockSize: 10 }).next();
  await new GaplessSequence(shop, { name: 'numbers' }).assign(shop.of(Numbered), 'number', { id: 'numbered' });
  await new WindowedCounter(shop, { name: 'visits' }).count({ id: 'e1', at, amount: 3 });
  await new ShardedCounter(shop, { name: 'likes', shards: 1 }).add(5);
  const events = outbox(shop, { source: 'format', shards: 1 });
  await events.publish({ aggregate: 'parked', sequence: 1, events: [{ type: 'format.parked', detail: {} }] }).send();
  await drainAggregate(
    events,
    { aggregate: 'parked', upTo: 1 },
    publishEach(() => Promise.reject(Object.assign(new Error('no'), { retryable: false }))),
    { whenParked: 'skip' },
  );
  await events.publish({ aggregate: 'waiting', sequence: 1, events: [{ type: 'format.waiting', detail: {} }] }).send();
};

/** All records of the kit in a table, in the order of their keys. */
export const storedRecords = async (shop: Table): Promise<AttributeMap[]> => {
  const items: AttributeMap[] = [];
  // As they are stored, whatever their entity.
  const { ScanCommand } = await import('@aws-sdk/client-dynamodb');
  const { Items = [] } = await shop.client.send(new ScanCommand({ TableName: shop.name }));
  for (const item of Items) if (!['THING', 'NUMBERED'].includes(item['_type']?.S ?? '')) items.push(item);
  const keyOf = (item: AttributeMap): string => `${item['pk']?.S}/${item['sk']?.S}`;
  return items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

/** What uses the records. Each throws where it does not find what was stored; numbers are what it then goes by. */
export const uses: Readonly<Record<string, (shop: Table) => Promise<unknown>>> = {
  async answered(shop) {
    const { outcome, answer } = await idempotentTransaction(shop, { ...callOf('answered'), run: again(shop) });
    must(outcome === 'replayed' && answer?.body === 'first', 'An answer is not given again.');
  },
  async answeredReadFirst(shop) {
    const call = { ...callOf('answered'), readFirst: true, run: again(shop) };
    const { outcome, answer } = await idempotentTransaction(shop, call);
    must(outcome === 'replayed' && answer?.headers?.['a'] === 'b', 'An answer is not given again.');
  },
  async leased(shop) {
    const call: CallIdentity & ReturnType<typeof callOf> = callOf('leased');
    const { outcome } = await idempotentLease(shop, { ...call, leaseSeconds: 60, run: () => ({ body: 'twice' }) });
    must(outcome === 'inProgress', 'A lease is taken over before its end.');
  },
  async inbox(shop) {
    must((await sagaHandler(shop)({ id: 'm1', saga: 'b' })).outcome === 'duplicate', 'A message is handled again.');
  },
  async saga(shop) {
    await sagaHandler(shop)({ id: 'm2', saga: 'a' });
    const saga = await shop.of(FormatSaga).get({ correlation: 'a' }).consistent().item();
    must(saga?.steps === 2 && saga.revision === 2, 'A saga does not go on where it was.');
  },
  async heldLock(shop) {
    must((await new Locks(shop).tryAcquire('held')) === undefined, 'A lock is taken from its holder.');
  },
  async releasedLock(shop) {
    const lock = await new Locks(shop).tryAcquire('released');
    must(lock === undefined || lock.token > 1, 'A token does not grow.');
  },
  async ids(shop) {
    must((await hiLo(shop, { name: 'ids', blockSize: 10 }).next()) > 10, 'An id is given out twice.');
  },
  async numbers(shop) {
    const { number } = await new GaplessSequence(shop, { name: 'numbers' }).assign(shop.of(Numbered), 'number', {
      id: 'next',
    });
    must(number === 2, 'A sequence does not go on where it was.');
  },
  async lastNumber(shop) {
    must((await new GaplessSequence(shop, { name: 'numbers' }).last()) >= 1, 'The last number is lost.');
  },
  async counted(shop) {
    const outcome = await new WindowedCounter(shop, { name: 'visits' }).count({ id: 'e1', at, amount: 3 });
    must(outcome === 'AlreadyCounted', 'An id is counted again.');
  },
  async visits(shop) {
    must((await new WindowedCounter(shop, { name: 'visits' }).read(at)) === 3, 'A count is lost.');
  },
  async visitsOfDays(shop) {
    must((await new WindowedCounter(shop, { name: 'visits' }).sum(at, at)) === 3, 'A count is lost.');
  },
  async likes(shop) {
    await new ShardedCounter(shop, { name: 'likes', shards: 1 }).add();
  },
  async sumOfLikes(shop) {
    must((await new ShardedCounter(shop, { name: 'likes', shards: 1 }).sum()) >= 5, 'A count is lost.');
  },
  async waiting(shop) {
    const drained = await drainAggregate(
      { table: shop, shards: 1 },
      { aggregate: 'waiting', upTo: 1 },
      publishEach(() => undefined),
    );
    if (drained.outcome === 'failed') throw drained.error;
  },
  async allWaiting(shop) {
    const { reasons } = await drainAll(
      { table: shop, shards: 8 },
      publishEach(() => undefined),
    );
    const [reason] = Object.keys(reasons);
    if (reason !== undefined) throw Object.assign(new Error('Some were not drained.'), { name: reason });
  },
  async retriedEvent(shop) {
    for await (const parked of parkedEvents({ table: shop, shards: 1 }).items())
      await retryParked({ table: shop, shards: 1 }, parked);
  },
  async skippedEvent(shop) {
    for await (const parked of parkedEvents({ table: shop, shards: 1 }).items())
      await skipParked({ table: shop, shards: 1 }, parked);
  },
};

const again = (shop: Table) => () =>
  commit({ thing: shop.of(Thing).put({ id: 'again' }) }, { status: 201, body: 'second' });

/** Whether an effect was done a second time, or a number left out. */
export const checkThings = async (shop: Table): Promise<void> => {
  for await (const { id } of scan(shop.of(Thing)).items())
    must(id !== 'again' && shop.name === 'shop', `The effect ${id} was done.`);
};
