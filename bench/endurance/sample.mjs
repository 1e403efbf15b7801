// One run: `sample.mjs '{"job":"charge","windows":10,"size":200,…}'`. The kit and the bare client take turns on one table.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { table } from '../../dist/esm/commands/index.js';
import { outboxRelay } from '../../dist/esm/events/index.js';
import { eventBridgeTarget } from '../../dist/esm/events/targets/eventbridge/index.js';
import { chargeEvent, stateEvent } from '../cost/events.mjs';
import { percentile } from '../lib/statistics.mjs';
import { contextOf } from '../load/context.mjs';
import { bareCharge, bareIngest, bareRelay } from '../load/bare.mjs';
import { localBus } from '../load/event-bridge.mjs';
import { filledOutbox } from '../load/outbox.mjs';
import { pool } from '../load/pool.mjs';
import { localTable, name } from '../load/table.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

const { job, windows, size: steadySize, throttledSize, bundle } = JSON.parse(process.argv[2]);
let size = steadySize;
const { client: preparing, connect, ask, close } = await localTable();
const context = contextOf(600_000);
const quiet = { log: () => undefined };
/** Calls at a time of the endpoint, and of the bare client. */
const callers = 10;
/** Records of a batch: more than are worked on at once. */
const batchSize = { ingest: 50, relay: 100 }[job];

let number = 0;
const reported = (answer) => new Set((answer?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));

/** Batches in a row; what a handler reports as failed comes again, as from a queue, until it is done or `deliveries` are over. */
const delivered = async (records, idOf, handle, deliveries) => {
  const times = [];
  let [done, calls, waiting] = [0, 0, records];
  for (let delivery = 0; delivery < deliveries && waiting.length > 0; delivery++) {
    const again = [];
    for (let i = 0; i < waiting.length; i += batchSize) {
      const batch = waiting.slice(i, i + batchSize);
      const started = performance.now();
      const failed = await handle(batch);
      times.push((performance.now() - started) / batch.length);
      calls++;
      for (const record of batch) {
        if (failed.has(idOf(record))) again.push(record);
        else done++;
      }
    }
    waiting = again;
  }
  return { times, done, calls };
};
/** The bare client does records one by one, so many at once. */
const one = (effect, idOf, atOnce) => async (batch) => {
  const failed = new Set();
  await pool(batch.length, atOnce, async (i) => {
    await effect(batch[i]).catch(() => failed.add(idOf(batch[i])));
  });
  return failed;
};

const jobs = {
  async charge(client) {
    const { chargeHandler } = await import(bundle);
    const kit = chargeHandler(table({ name, client }), quiet);
    const bare = bareCharge(client, name);
    const calls = async (handler, deliveries) => {
      let [done, sent] = [0, 0];
      const times = await pool(size, callers, async () => {
        const id = `k${number++}`;
        // The client of the endpoint sends its call again, with the same key.
        for (let delivery = 0; delivery < deliveries; delivery++) {
          sent++;
          const answer = await Promise.resolve(handler(chargeEvent(id, 1, id), context)).catch(() => undefined);
          if (answer?.statusCode !== 201) continue;
          done++;
          return;
        }
      });
      return { times, done, calls: sent };
    };
    return { kit: (deliveries) => calls(kit, deliveries), bare: (deliveries) => calls(bare, deliveries) };
  },

  async ingest(client) {
    const { ingestHandler } = await import(bundle);
    const handler = ingestHandler(table({ name, client }), { ...quiet, partialResponses: true });
    const idOf = ({ messageId }) => messageId;
    // As many keys as records of a batch: nothing is coalesced, so that both sides write as often.
    const events = () => {
      const first = number;
      number += size;
      return stateEvent(Array.from({ length: size }, (_, i) => ({ key: `m${i % batchSize}`, n: first + i }))).Records;
    };
    const kit = async (Records) => reported(await handler({ Records }, context));
    const bare = one(bareIngest(client, name), idOf, 25);
    return {
      kit: (deliveries) => delivered(events(), idOf, kit, deliveries),
      bare: (deliveries) => delivered(events(), idOf, bare, deliveries),
    };
  },

  async relay(client) {
    const shop = table({ name, client });
    const bus = localBus();
    const target = eventBridgeTarget({ client: bus.client, eventBusName: 'bench' });
    const handler = outboxRelay({ table: shop, target, partialResponses: true, ...quiet });
    const idOf = ({ dynamodb }) => dynamodb.SequenceNumber;
    const prepare = async () => {
      bus.taken.clear();
      const first = number;
      number += size;
      return filledOutbox(preparing, shop, { events: size, aggregates: size, prefix: `account${first}`, first });
    };
    // A stream's lowest failed number: that record and all behind it come again.
    const kit = async (Records) => {
      const [first] = reported(await handler({ Records }, context));
      const from = Records.findIndex((record) => idOf(record) === first);
      return new Set(first === undefined ? [] : Records.slice(from).map(idOf));
    };
    const bare = one(bareRelay(client, bus.client, name), idOf, 50);
    const again = () => [...bus.taken.values()].reduce((sum, times) => sum + times - 1, 0);
    return {
      prepare,
      again,
      kit: (deliveries, records) => delivered(records, idOf, kit, deliveries),
      bare: (deliveries, records) => delivered(records, idOf, bare, deliveries),
    };
  },
};

/** One side for one window: prepared without throttling. */
const window = async ({ side, sides, line }, { part = 0, deliveries = 1 }) => {
  const records = await sides.prepare?.();
  await ask('throttle', { part });
  line.reset();
  const before = await ask('counts');
  const cpu = process.cpuUsage();
  const { times, done, calls } = await sides[side](deliveries, records);
  const { user, system } = process.cpuUsage(cpu);
  const after = await ask('counts');
  await ask('throttle', { part: 0 });
  gc();
  return {
    side,
    done,
    calls,
    requests: after.requests - before.requests,
    throttled: after.throttled - before.throttled,
    again: sides.again?.() ?? 0,
    mostInFlight: line.mostInFlight,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    cpuMs: (user + system) / 1000,
    heapMB: process.memoryUsage().heapUsed / 1e6,
  };
};

/**
 * Both sides, window after window, each with a client of its own that begins anew: the SDK gives up retries of a client
 * that has failed much. It makes the attempts of the functions' client.
 */
const windowsOf = async (count, terms = {}) => {
  const ends = await Promise.all(
    ['kit', 'bare'].map(async (side) => {
      const { client, line } = connect({ maxAttempts: 3 });
      return { side, client, line, sides: await jobs[job](client) };
    }),
  );
  const taken = { kit: [], bare: [] };
  for (let i = 0; i < count; i++) for (const end of ends) taken[end.side].push(await window(end, terms));
  for (const { client } of ends) client.destroy();
  return taken;
};

const steady = await windowsOf(windows);
size = throttledSize;
const half = await windowsOf(2, { part: 0.5, deliveries: 20 });
const outage = await windowsOf(1, { part: 1 });
size = steadySize;
const after = await windowsOf(3);
close();
console.log(JSON.stringify({ steady, half, outage, after }));
