import { test } from 'vitest';
import { table, transactWrite } from '../../../lib/commands/index.js';
import { drainAll, outbox, pollOutbox, type Publisher } from '../../../lib/recipes/index.js';

const shop = table({ name: 'shop', client: undefined as never });
const events = outbox(shop, { source: 's', target: 'sqs' });
const happened = [{ type: 'a', detail: {} }];

test('a publication is a step', () => {
  void transactWrite(shop, { event: events.publish({ events: happened }) });
});

test('an aggregate and its sequence go together', () => {
  void events.publish({ aggregate: 'a', sequence: 1, events: happened });
  // @ts-expect-error without its sequence
  void events.publish({ aggregate: 'a', events: happened });
  // @ts-expect-error without its aggregate
  void events.publish({ sequence: 1, events: happened });
});

test('a detail is an object', () => {
  // @ts-expect-error a text
  void events.publish({ events: [{ type: 'a', detail: 'text' }] });
});

test('a target is known', () => {
  // @ts-expect-error no such target
  outbox(shop, { source: 's', target: 'kafka' });
});

test('a relay takes the outbox, or where it is', () => {
  const publisher: Publisher = { publish: (batch) => Promise.resolve(batch.map(() => ({ ok: true }))) };
  void drainAll(events, publisher);
  void drainAll({ table: shop, shards: 8 }, publisher);
  // @ts-expect-error without the number of shards
  void drainAll({ table: shop }, publisher);
});

test('a failure has a reason, and says whether it may be tried again', () => {
  // @ts-expect-error no reason
  const publisher: Publisher = { publish: () => Promise.resolve([{ ok: false, retryable: true }]) };
  void publisher;
});

test('a loop takes a signal that ends it', () => {
  const publisher: Publisher = { publish: () => Promise.resolve([]) };
  // @ts-expect-error without signal
  void pollOutbox(events, publisher, {});
});
