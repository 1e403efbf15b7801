/** What the examples of docstrings and pages may use without declaring it: the shop of the docs. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import {
  entity,
  integer,
  list,
  map,
  number,
  oneOf,
  string,
  stringSet,
  table,
  timestamp,
  timeToLive,
  toTimestamp,
  version,
  type Item,
} from '../../lib/commands/index.js';

export const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
export type Account = Item<typeof Account>;

export const Customer = entity('CUSTOMER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'PROFILE',
  attributes: {
    customer: string(),
    name: string().optional(),
    interests: stringSet(),
    orderCount: integer().default(0),
    shipTo: map({ street: string(), city: string() }).optional(),
  },
});
export const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:10}',
  attributes: {
    customer: string(),
    number: integer(),
    status: oneOf('OPEN', 'PAID').default('OPEN'),
    total: number(),
    lines: list(map({ sku: string(), quantity: integer() })),
  },
  indexes: { byStatus: { pk: 'STATUS#{status}', sk: '{customer}#{number:10}' } },
});
export const Product = entity('PRODUCT', {
  pk: 'PRODUCT#{id}',
  sk: 'PRODUCT',
  attributes: { id: string(), price: number(), stock: integer() },
});
export const Registrant = entity('REGISTRANT', {
  pk: 'USER#{id}',
  sk: 'REGISTRATION',
  attributes: { id: string(), email: string(), handle: string() },
});
export const MailClaim = entity('MAIL_CLAIM', {
  pk: 'MAIL#{address}',
  sk: 'CLAIM',
  attributes: { address: string(), owner: string() },
});
export const LiveMatch = entity('LIVE_MATCH', {
  pk: 'MATCH#{id}',
  sk: 'LIVE',
  attributes: {
    id: string(),
    homeGoals: integer().default(0),
    awayGoals: integer().default(0),
    scoreAt: timestamp().optional(),
  },
});
export const PageViews = entity('PAGE_VIEWS', {
  pk: 'PAGE#{path}',
  sk: 'VIEWS',
  attributes: { path: string(), count: integer() },
});
export const SignIn = entity('SIGN_IN', {
  pk: 'SIGN_IN#{id}',
  sk: 'SIGN_IN',
  attributes: { id: string(), expiresAt: timeToLive() },
});

export const client = new DynamoDBClient({});
export const shop = table({ name: 'shop', client, indexes: { byStatus: {} } });
export const accounts = shop.of(Account);
export const customers = shop.of(Customer);
export const orders = shop.of(Order);
export const products = shop.of(Product);
export const registrants = shop.of(Registrant);
export const mails = shop.of(MailClaim);
export const matches = shop.of(LiveMatch);
export const pages = shop.of(PageViews);
export const signIns = shop.of(SignIn);

export declare const local: LocalDynamoDB;
export { DynamoDBClient };

export const key = { customer: 'alice', number: 1 };
export const address = 'alice@example.ch';
export const owner = 'alice';
export const user = { id: 'alice', email: address, handle: 'al' };
export const change = { at: toTimestamp('2026-12-01T00:00:00Z'), home: 2, away: 1 };
