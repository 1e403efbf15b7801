import { test } from 'vitest';
import { table, transactWrite } from '../../../lib/commands/index.js';
import { outbox } from '../../../lib/recipes/index.js';

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
