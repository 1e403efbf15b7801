import { chargeHandler } from '../../lambdas/charge/charge-handler.js';
import { Customer } from '../../lambdas/charge/customer.js';
import type { AttributeMap } from '../../lib/commands/index.js';
import type { CallLine, HttpEvent, HttpResult } from '../../lib/http/index.js';
import type { LocalDynamoDBOptions } from '../../lib/local/index.js';
import { httpEvent, type EventParts } from '../http/http-event.js';
import { testTable, type TestTable } from '../http/test-table.js';

/** The charge on a table of its own, with what it logged and stored. */
export interface ChargeShop extends TestTable {
  readonly lines: CallLine[];
  /** Charges alice 100 CHF, or what the parts say. */
  charge(parts?: EventParts): Promise<HttpResult>;
  send(event: HttpEvent): Promise<HttpResult>;
  block(id: string, blocked: boolean): Promise<unknown>;
  charges(): Promise<AttributeMap[]>;
}

export const order = { customerId: 'alice', amount: 100, currency: 'CHF' };

export async function chargeShop(
  options: LocalDynamoDBOptions & { readFirst?: boolean; now?: () => number } = {},
): Promise<ChargeShop> {
  const { readFirst = false, now = Date.now, ...local } = options;
  const shop = await testTable(local);
  const lines: CallLine[] = [];
  const handler = chargeHandler(shop.table, { log: (line) => lines.push(line), readFirst, now });
  return {
    ...shop,
    lines,
    send: handler,
    charge: (parts) => handler(httpEvent({ body: order, ...parts })),
    block: (id, blocked) => shop.table.of(Customer).put({ id, blocked }).send(),
    charges: () => shop.items('CHARGE'),
  };
}

export const json = ({ body }: HttpResult): Record<string, unknown> =>
  JSON.parse(body ?? 'null') as Record<string, unknown>;
