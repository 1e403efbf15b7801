import { entity, string, type Table } from '../../../../lib/commands/index.js';
import {
  IdempotencyRecord,
  commit,
  fingerprintOf,
  idempotencyKey,
  idempotentLease,
  type LeaseOutcome,
  type LeasedCall,
} from '../../../../lib/recipes/index.js';
import type { TestTable } from '../../../http/test-table.js';
import type { FakeProvider } from './provider.js';

export const Payment = entity('PAYMENT', {
  pk: 'PAYMENT#{id}',
  sk: 'PAYMENT',
  attributes: { id: string(), charge: string() },
});

export const start = Date.UTC(2026, 11, 1);
export const leaseSeconds = 30;
/** Just over a lease. */
export const leaseMs = leaseSeconds * 1000;

export const identity = (payment: string) => ({ scope: 'alice', route: 'pay', key: payment });

/** A call that charges a payment, and stores it together with the answer. */
export const payCall = (
  table: Table,
  provider: FakeProvider,
  payment: string,
  change: Partial<LeasedCall> & { readonly around?: (charge: () => string) => string | Promise<string> } = {},
): LeasedCall => {
  const { around = (charge) => charge(), ...options } = change;
  return {
    ...identity(payment),
    fingerprint: fingerprintOf(1, [payment]),
    horizonSeconds: 86_400,
    leaseSeconds,
    now: () => start,
    async run(lease) {
      const keySeconds = provider.takesKeys ? 86_400 : 0;
      const charge = await lease.effect('charge', { keySeconds }, ({ providerKey }) =>
        around(() => provider.charge(payment, providerKey)),
      );
      return commit(
        { payment: table.of(Payment).put({ id: payment, charge }) },
        { status: 201, body: `${charge} of attempt ${lease.attempt}` },
      );
    },
    ...options,
  };
};

export const pay = (
  table: Table,
  provider: FakeProvider,
  payment: string,
  change: Parameters<typeof payCall>[3] = {},
): Promise<LeaseOutcome> => idempotentLease(table, payCall(table, provider, payment, change));

/** Operations with their write and read units. */
export const costs = ({ requests }: TestTable) =>
  requests.map(({ operation, writeUnits, readUnits }) => [operation, writeUnits, readUnits]);

/** A clock that stands. */
export const at = (now: number) => ({ now: () => now });

/** A call without a provider: what `run` does is all. */
export const callOf = (run: LeasedCall['run'], change: Partial<LeasedCall> = {}): LeasedCall => ({
  ...identity('k1'),
  fingerprint: fingerprintOf(1, ['k1']),
  horizonSeconds: 86_400,
  leaseSeconds: 30,
  ...at(start),
  run,
  ...change,
});

/** Something that a test lets happen. */
export const gate = () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

export const stored = (shop: TestTable, payment: string) =>
  shop.table
    .of(IdempotencyRecord)
    .get({ key: idempotencyKey(identity(payment)) })
    .consistent()
    .item();

/** The items that count: an expired one is none. */
export const counting = async (shop: TestTable) =>
  (await shop.items()).filter(({ ttl }) => ttl === undefined || Number(ttl.N) * 1000 > start);
