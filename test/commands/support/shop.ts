import {
  entity,
  instant,
  integer,
  list,
  map,
  number,
  numberSet,
  oneOf,
  record,
  string,
  stringSet,
  timeToLive,
  version,
  type Item,
  type TableOptions,
} from '../../../lib/commands/index.js';

/** An entity without version, of most kinds of attributes, with an index. */
export const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:10}',
  attributes: {
    customer: string(),
    number: integer(),
    status: oneOf('OPEN', 'PAID', 'SHIPPED'),
    placedAt: instant(),
    total: integer(),
    weight: number().optional(),
    note: string().optional(),
    tags: stringSet().optional(),
    scores: numberSet().optional(),
    lines: list(map({ sku: string(), quantity: integer() })).default([]),
    shipTo: map({ street: string(), city: string(), zip: string().optional() }).optional(),
    labels: record(string()).optional(),
    expiresAt: timeToLive().optional(),
  },
  indexes: { byStatus: { pk: 'STATUS#{status}', sk: '{placedAt}' } },
});
export type Order = Item<typeof Order>;

/** An entity with a version. */
export const Cart = entity('CART', {
  pk: 'CART#{id}',
  sk: 'CART',
  attributes: { id: string(), owner: string().optional(), lines: list(string()).default([]), revision: version() },
});
export type Cart = Item<typeof Cart>;

/** What the table of these has beside its keys. */
export const shopOptions = { indexes: { byStatus: {} } } satisfies Partial<TableOptions>;

export const placedAt = new Date('2026-12-01T00:00:00.000Z');

/** An order that lacks what it may lack. */
export const order = (change: Partial<Order> = {}): Order => ({
  customer: 'alice',
  number: 1,
  status: 'OPEN',
  placedAt,
  total: 100,
  lines: [],
  ...change,
});
