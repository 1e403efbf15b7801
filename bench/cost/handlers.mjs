// The handlers, each beside the same effect with Powertools.
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { outboxRelay } from '../../dist/esm/events/index.js';
import { eventBridgeTarget } from '../../dist/esm/events/targets/eventbridge/index.js';
import { contextOf } from '../load/context.mjs';
import { localBus } from '../load/event-bridge.mjs';
import { filledOutbox } from '../load/outbox.mjs';
import { name } from '../load/table.mjs';
import { failure } from './counting.mjs';
import { chargeEvent, kafkaEvent, stateEvent } from './events.mjs';
import { powertoolsCharge, powertoolsIngest, powertoolsKafka, powertoolsRelay } from './powertools.mjs';

const context = contextOf(10_000);
const quiet = { log: () => undefined };
const status = (expected) => (answer) => answer.statusCode === expected;
const noFailures = (answer) => (answer?.batchItemFailures ?? []).length === 0;
const many = (count, of) => Array.from({ length: count }, (_, i) => of(i));

const charges = async ({ client, shop, chargeHandler }, count) => {
  const mallory = {
    pk: { S: 'CUSTOMER#mallory' },
    sk: { S: 'STANDING' },
    id: { S: 'mallory' },
    blocked: { BOOL: true },
  };
  await client.send(new PutItemCommand({ TableName: name, Item: { ...mallory, _type: { S: 'CUSTOMER' } } }));
  const rows = [];
  for (const [side, options, key] of [
    ['safewrites', {}, 'a'],
    ['safewrites, `readFirst`', { readFirst: true }, 'b'],
  ]) {
    const handler = chargeHandler(shop, { ...quiet, ...options });
    const call =
      (...event) =>
      () =>
        handler(chargeEvent(...event), context);
    rows.push(
      await count(`${side}: first call`, call(key, 100), status(201)),
      await count(`${side}: repeat`, call(key, 100), status(201)),
      await count(`${side}: the key again, with another body`, call(key, 200), status(422)),
      await count.meeting(`${side}: a first call that meets another one once`, call(`${key}3`, 100), status(201)),
      await count(`${side}: a blocked customer, refused`, call(`${key}2`, 1, 'mallory'), status(403)),
      await count(`${side}: the refusal, repeated`, call(`${key}2`, 1, 'mallory'), status(403)),
    );
  }
  const peer = powertoolsCharge(client, name);
  const call =
    (...event) =>
    () =>
      peer(chargeEvent(...event), context);
  const side = 'Powertools idempotency, the effect in a transaction of its own';
  rows.push(
    await count(`${side}: first call`, call('c', 100), status(201)),
    await count(`${side}: repeat`, call('c', 100), status(201)),
    await count.meeting(
      `${side}: a first call that meets another one once, failed`,
      failure(call('c3', 100)),
      (error) => error === 'TransactionCanceledException',
    ),
    await count(
      `${side}: the key again, with another body`,
      failure(call('c', 200)),
      (error) => error === 'IdempotencyValidationError',
    ),
  );
  return rows;
};

const ingests = async (sides, eventOf, prefix, count) => {
  const rows = [];
  for (const [side, handler, own] of sides) {
    const batch = (states) => () =>
      handler(eventOf(states.map((one) => ({ ...one, key: prefix + own + one.key }))), context);
    const inOrder = many(10, (n) => ({ key: 'b', n }));
    rows.push(
      await count(`${side}: 10 events of 10 keys`, batch(many(10, (i) => ({ key: `a${i}`, n: 1 }))), noFailures),
      await count(`${side}: 10 events of 1 key, in order`, batch(inOrder), noFailures),
      await count(`${side}: the same again`, batch(inOrder), noFailures),
    );
  }
  return rows;
};

const sqs = async ({ client, shop, ingestHandler }, count) =>
  ingests(
    [
      ['safewrites', ingestHandler(shop, { ...quiet, partialResponses: true }), ''],
      ['Powertools batch, a conditional update a record', powertoolsIngest(client, name), 'p'],
    ],
    stateEvent,
    's',
    count,
  );

const kafka = async ({ client, shop, ingestHandler }, count) => {
  const ours = ingestHandler(shop, quiet);
  const rows = await ingests(
    [
      ['safewrites', ours, ''],
      ['Powertools kafka, a conditional update a record', powertoolsKafka(client, name), 'p'],
    ],
    kafkaEvent,
    'k',
    count,
  );
  const batch = (states) => () => ours(kafkaEvent(states), context);
  return [
    ...rows.slice(0, 3),
    await count('safewrites: a tombstone', batch([{ key: 'kb', at: 20 }]), noFailures),
    await count('safewrites: an event older than the tombstone', batch([{ key: 'kb', n: 15 }]), noFailures),
    await count(
      'safewrites: 5 events and a tombstone of 1 key',
      batch([...many(5, (n) => ({ key: 'kc', n })), { key: 'kc', at: 6 }]),
      noFailures,
    ),
    ...rows.slice(3),
  ];
};

const relay = async ({ client, shop }, count) => {
  const bus = localBus();
  const target = eventBridgeTarget({ client: bus.client, eventBusName: 'bench' });
  const ours = outboxRelay({ table: shop, target, partialResponses: true, ...quiet });
  const powertools = powertoolsRelay(client, bus.client, name);
  const rows = [];
  const relayed = async (what, handler, filling) => {
    const Records = filling && (await filledOutbox(client, shop, filling));
    bus.taken.clear();
    bus.line.reset();
    const row = await count(
      what,
      () => handler(Records === undefined ? { 'detail-type': 'Scheduled Event' } : { Records }, context),
      noFailures,
    );
    if (bus.taken.size !== (filling?.events ?? 0)) throw new Error(`${what}: events did not arrive.`);
    rows.push({ ...row, bus: bus.line.requests });
  };
  await relayed('safewrites: 1 event', ours, { events: 1, aggregates: 1, prefix: 'a' });
  await relayed('safewrites: 10 events of 10 aggregates', ours, { events: 10, aggregates: 10, prefix: 'b' });
  await relayed('safewrites: 10 events of 1 aggregate, of 10 transactions', ours, {
    events: 10,
    aggregates: 1,
    prefix: 'c',
  });
  await relayed('safewrites: 100 events of 100 aggregates', ours, { events: 100, aggregates: 100, prefix: 'f' });
  await relayed('safewrites: the schedule, nothing waits, 8 shards', ours);
  await relayed('Powertools batch, a PutEvents and a delete a record: 1 event', powertools, {
    events: 1,
    aggregates: 1,
    prefix: 'd',
  });
  await relayed('Powertools batch: 10 events of 10 aggregates', powertools, {
    events: 10,
    aggregates: 10,
    prefix: 'e',
  });
  await relayed('Powertools batch: 100 events of 100 aggregates', powertools, {
    events: 100,
    aggregates: 100,
    prefix: 'g',
  });
  return rows;
};

/** All handlers, by their title. */
export const handlers = {
  'The charge': charges,
  'The ingest from SQS': sqs,
  'The ingest from Kafka': kafka,
  'The relay': relay,
};
