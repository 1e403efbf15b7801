import type { LocalFault } from '../faults.js';
import { draw } from './random.js';
import type { SimulationFaults } from './scenario.js';

/** What can happen to a request, or before it. */
export type FaultKind = keyof SimulationFaults;

export const faultRates: Readonly<Record<FaultKind, number>> = {
  lost: 0.06,
  late: 0.04,
  dropped: 0.03,
  refused: 0.03,
  throttled: 0.04,
  conflict: 0.05,
  inProgress: 0.02,
  crash: 0.04,
  leap: 0.03,
  sweep: 0.03,
};

const kinds = Object.keys(faultRates) as FaultKind[];

/** The rates of one seed: some kinds never, some often, so that runs differ more than by chance alone. */
export function ratesOf(seed: number, faults: SimulationFaults = {}): ReadonlyMap<FaultKind, number> {
  const unknown = Object.keys(faults).find((kind) => !kinds.includes(kind as FaultKind));
  if (unknown !== undefined) throw new TypeError(`faults.${unknown} is no fault: expected one of ${kinds.join(', ')}.`);
  return new Map(
    kinds.map((kind) => {
      const rate = faults[kind] ?? faultRates[kind];
      if (!(rate >= 0 && rate <= 1)) throw new TypeError(`faults.${kind} must be a number from 0 to 1.`);
      const often = draw(seed, `often ${kind}`);
      return [kind, Math.min(rate * (often < 0.3 ? 0 : often < 0.8 ? 1 : 4), Math.max(rate, 0.5))];
    }),
  );
}

const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** Whether DynamoDB can answer so. */
function canHappen(kind: FaultKind, operation: string): boolean {
  if (kind === 'conflict') return writes.has(operation) || operation === 'TransactGetItems';
  if (kind === 'inProgress') return operation === 'TransactWriteItems';
  return true;
}

/** What goes wrong with one request; each by a number of its own, so that leaving one out changes no other. */
export function faultsOf(
  seed: number,
  rates: ReadonlyMap<FaultKind, number>,
  request: string,
  operation: string,
  isLeftOut: (fault: string) => boolean,
): FaultKind[] {
  return kinds.filter((kind) => {
    const rate = rates.get(kind) as number;
    const name = faultName(kind, request);
    return rate > 0 && canHappen(kind, operation) && draw(seed, name) < rate && !isLeftOut(name);
  });
}

/**
 * Another transaction in the way. Of a transaction it is seldom in the way of all items: the others say what their
 * conditions say, or nothing, or that they are throttled or full.
 */
export function conflictOf(seed: number, request: string, steps: readonly object[] | undefined): LocalFault {
  if (steps === undefined || draw(seed, `reasons ${request}`) < 0.3)
    return { at: 'before', error: 'TransactionConflict' };
  const inTheWay = Math.floor(draw(seed, `in the way ${request}`) * steps.length);
  const reasons = steps.map((step, i) => {
    if (i === inTheWay) return 'TransactionConflict';
    const drawn = draw(seed, `reason ${i} ${request}`);
    if (drawn < 0.2) return 'TransactionConflict';
    if (drawn < 0.25) return 'ThrottlingError';
    if (drawn < 0.3) return 'ProvisionedThroughputExceeded';
    if (drawn < 0.33 && ('Put' in step || 'Update' in step)) return 'ItemCollectionSizeLimitExceeded';
    return drawn < 0.45 ? 'None' : undefined;
  });
  // Now and then the transaction is stopped by throttling alone.
  if (draw(seed, `throttled ${request}`) < 0.15) reasons[inTheWay] = 'ThrottlingError';
  return { at: 'before', error: { reasons } };
}

/** What a fault is called when it is to be left out. */
export const faultName = (kind: FaultKind, request: string): string => `${kind} ${request}`;
