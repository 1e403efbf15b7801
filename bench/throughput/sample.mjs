// One run: `sample.mjs '{"job":"ingest","side":"safewrites",…}'`. What it ends with is checked before it counts.
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { table } from '../../dist/esm/commands/index.js';
import { outboxRelay } from '../../dist/esm/events/index.js';
import { eventBridgeTarget } from '../../dist/esm/events/targets/eventbridge/index.js';
import { chargeEvent, stateEvent } from '../cost/events.mjs';
import { powertoolsCharge, powertoolsIngest, powertoolsRelay } from '../cost/powertools.mjs';
import { percentile } from '../lib/statistics.mjs';
import { contextOf } from '../load/context.mjs';
import { bareCharge, bareIngest, bareRelay } from '../load/bare.mjs';
import { localBus } from '../load/event-bridge.mjs';
import { countItems, filledOutbox } from '../load/outbox.mjs';
import { pool } from '../load/pool.mjs';
import { localTable, name } from '../load/table.mjs';

const given = JSON.parse(process.argv[2]);
const { job, side, delayMs, size } = given;
const { client, line, close } = await localTable();
const shop = table({ name, client });
const context = contextOf(900_000);
/** Calls or records before the measured ones, without delay: a function is warm most of the time. */
const warmUp = 50;
const quiet = { log: () => undefined };
const must = (holds, what) => {
  if (!holds) throw new Error(`${job}, ${side}: ${what}`);
};
const inBatches = (all) => {
  const batches = [];
  for (let i = 0; i < all.length; i += given.batch) batches.push(all.slice(i, i + given.batch));
  return batches;
};
/** Batches of one source, one after the other. */
const handled = (handler, batches) =>
  pool(batches.length, 1, async (i) => {
    const answer = await handler(batches[i], context);
    must((answer?.batchItemFailures ?? []).length === 0, 'records failed');
  });
const sequential = (one) => async (event) => {
  for (const record of event.Records) await one(record);
};

const jobs = {
  /** `size` charges of as many customers, `concurrency` at a time. */
  async charge() {
    const { chargeHandler } = await import(given.bundle);
    const handler = {
      safewrites: () => chargeHandler(shop, quiet),
      powertools: () => powertoolsCharge(client, name),
      bare: () => bareCharge(client, name),
    }[side]();
    const charges = (count, prefix) =>
      pool(count, given.concurrency, async (i) => {
        const { statusCode } = await handler(chargeEvent(prefix + i, i + 1, prefix + i), context);
        must(statusCode === 201, `a charge answered ${statusCode}`);
      });
    return {
      warm: () => charges(warmUp, 'w'),
      run: () => charges(size, 'k'),
      check: async () => must((await countItems(client, 'CHARGE#')) === size + warmUp, 'charges are missing'),
    };
  },

  /** `size` events over `keys` keys, in batches of `batch`. */
  async ingest() {
    const { ingestHandler } = await import(given.bundle);
    const ours = (options) => () => ingestHandler(shop, { ...quiet, partialResponses: true, ...options });
    const handler = {
      safewrites: ours({}),
      'safewrites, 50 at once': ours({ concurrency: 50 }),
      powertools: () => powertoolsIngest(client, name),
      sequential: () => sequential(bareIngest(client, name)),
    }[side]();
    const states = Array.from({ length: size }, (_, i) => ({ key: `m${i % given.keys}`, n: i }));
    const batches = inBatches(states).map(stateEvent);
    const warm = stateEvent(Array.from({ length: warmUp }, (_, n) => ({ key: `w${n}`, n })));
    const check = async () => {
      must((await countItems(client, 'MATCH#m')) === Math.min(size, given.keys), 'keys are missing');
      for (const { key, n } of states.slice(-Math.min(10, given.keys))) {
        const ofMatch = { ':p': { S: `MATCH#${key}` } };
        const { Items } = await client.send(
          new QueryCommand({
            TableName: name,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: ofMatch,
          }),
        );
        must(Items[0]?.homeGoals?.N === String(n), 'a state is not the newest');
      }
    };
    return { warm: () => handled(handler, [warm]), run: () => handled(handler, batches), check };
  },

  /** `size` events of `aggregates` aggregates, in the stream's batches of `batch`. */
  async relay() {
    const bus = localBus();
    const first = await filledOutbox(client, shop, { events: warmUp, aggregates: warmUp, prefix: 'warm' });
    const records = await filledOutbox(client, shop, { events: size, aggregates: given.aggregates, prefix: 'account' });
    const target = eventBridgeTarget({ client: bus.client, eventBusName: 'bench' });
    const handler = {
      safewrites: () => outboxRelay({ table: shop, target, partialResponses: true, ...quiet }),
      powertools: () => powertoolsRelay(client, bus.client, name),
      sequential: () => sequential(bareRelay(client, bus.client, name)),
    }[side]();
    const batches = inBatches(records).map((Records) => ({ Records }));
    const check = async () => {
      must(bus.taken.size === size + warmUp, 'events did not arrive');
      must(
        [...bus.taken.values()].every((times) => times === 1),
        'an event arrived twice',
      );
      must((await countItems(client, 'OUTBOX#')) === 0, 'the outbox is not empty');
    };
    return {
      warm: () => handled(handler, [{ Records: first }]),
      run: () => handled(handler, batches),
      check,
      bus: bus.line,
    };
  },
};

const { warm, run, check, bus } = await jobs[job]();
const wires = bus === undefined ? [line] : [line, bus];
await warm();
for (const each of wires) {
  each.delayMs = delayMs;
  each.reset();
}
const [cpu, started] = [process.cpuUsage(), performance.now()];
const times = await run();
const wallMs = performance.now() - started;
const { user, system } = process.cpuUsage(cpu);
const result = {
  wallMs,
  cpuMs: (user + system) / 1000,
  requests: wires.reduce((sum, { requests }) => sum + requests, 0),
  mostInFlight: Math.max(...wires.map(({ mostInFlight }) => mostInFlight)),
  p50: percentile(times, 0.5),
  p99: percentile(times, 0.99),
};
line.delayMs = 0;
await check();
await close();
console.log(JSON.stringify(result));
