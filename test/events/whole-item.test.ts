import { expect, test } from 'vitest';
import {
  boolean,
  entity,
  integer,
  string,
  stringSet,
  timeToLive,
  timestamp,
  toTimestamp,
} from '../../lib/commands/index.js';
import { json, kafkaMessages, orderedIngest, type IngestLine } from '../../lib/events/index.js';
import { testTable } from '../http/test-table.js';
import { kafkaEvent } from './support/events.js';

const Price = entity('PRICE', {
  pk: 'PRICE#{sku}',
  sk: 'PRICE',
  attributes: {
    sku: string(),
    amount: integer().optional(),
    label: string().optional(),
    tags: stringSet().optional(),
    at: timestamp().optional(),
    deleted: boolean().optional(),
    deletedAt: timestamp().optional(),
    expiresAt: timeToLive().optional(),
  },
});

/** Without deletion, an item is never without what its events bring. */
const Stock = entity('STOCK', {
  pk: 'STOCK#{sku}',
  sk: 'STOCK',
  attributes: { sku: string(), count: integer(), shelf: string(), offset: integer() },
});

interface PriceChanged {
  readonly amount: number;
  readonly label?: string;
  readonly tags?: string[];
}

const now = Date.now();
const at = (minute: number): string => toTimestamp(new Date(now - 3_600_000 + minute * 60_000).toISOString());

test('one group that is the whole item replaces all of it, by one write a key and batch, and removes what an event lacks', async () => {
  const { table } = await testTable();
  const lines: IngestLine[] = [];
  const handler = orderedIngest({
    table,
    entity: Price,
    groups: { item: { version: 'at', fields: ['amount', 'label', 'tags'] } },
    deletion: { flag: 'deleted', version: 'deletedAt', revives: true, lateness: 86_400_000 },
    decode: { kafka: kafkaMessages({ value: json<PriceChanged>() }) },
    versionOf: (message) => toTimestamp(message.header('occurred-at') ?? ''),
    eventOf: ({ key: sku = '', body }) =>
      body === undefined
        ? { key: { sku }, deleted: true }
        : {
            key: { sku },
            groups: { item: { amount: body.amount, label: body.label, tags: body.tags && new Set(body.tags) } },
          },
    partialResponses: true,
    log: (line) => lines.push(line),
  });
  let offset = 0;
  const send = (...changes: readonly (readonly [minute: number, value: PriceChanged | null, key?: string])[]) =>
    handler(
      kafkaEvent(
        ...changes.map(([minute, value, key = 'a']) => ({
          ...{ offset: offset++, key, value },
          headers: { 'occurred-at': at(minute) },
        })),
      ),
    );
  const stored = (sku = 'a') => table.of(Price).get({ sku }).consistent().item();

  await send([2, { amount: 2, label: 'two', tags: ['x'] }], [1, { amount: 1 }], [3, { amount: 3 }, 'b']);
  expect(await stored()).toEqual({ sku: 'a', amount: 2, label: 'two', tags: new Set(['x']), at: at(2) });
  expect(lines[0]).toMatchObject({ Writes: 2, Applied: 2, Superseded: 1 });

  // All of it, so what the newer event lacks is gone; the late one changes nothing.
  await send([4, { amount: 4 }], [3, { amount: 3, label: 'three' }]);
  expect(await stored()).toEqual({ sku: 'a', amount: 4, at: at(4) });

  await send([5, null]);
  await send([4, { amount: 4, label: 'late' }]);
  expect(await stored()).toMatchObject({ deleted: true, deletedAt: at(5) });
  await send([6, { amount: 6, tags: ['y'] }]);
  const revived = await stored();
  expect(revived).toMatchObject({ amount: 6, tags: new Set(['y']), at: at(6) });
  expect(revived).not.toHaveProperty('label');
  expect(revived?.deleted).toBeUndefined();
  expect(await stored('b')).toMatchObject({ amount: 3 });
});

test('its fields may all be required where nothing is deleted, and the version be the offset', async () => {
  const { table } = await testTable();
  const handler = orderedIngest({
    table,
    entity: Stock,
    groups: { item: { version: 'offset', fields: ['count', 'shelf'] } },
    decode: { kafka: kafkaMessages({ value: json<{ count: number; shelf: string }>() }) },
    versionOf: ({ offset }) => offset,
    eventOf: ({ key: sku = '', body }) => body && { key: { sku }, groups: { item: body } },
    ...{ partialResponses: true, log: () => undefined },
  });
  const change = (offset: number, value: object) => ({ offset, key: 'a', value });
  await handler(kafkaEvent(change(1, { count: 1, shelf: 'x' }), change(3, { count: 3, shelf: 'z' })));
  // An event that is not the whole item would leave some of it as it was.
  expect(await handler(kafkaEvent(change(2, { count: 2, shelf: 'y' }), change(4, { count: 4 })))).toEqual({
    batchItemFailures: [{ itemIdentifier: { partition: 'orders-0', offset: 4 } }],
  });
  expect(await table.of(Stock).get({ sku: 'a' }).item()).toEqual({ sku: 'a', count: 3, shelf: 'z', offset: 3 });
});
