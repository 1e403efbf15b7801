import type { RunResult } from './run.js';
import { placeName, type Less, type Runs } from './simulate.js';

/** Runs that a shrink may take. */
const budget = 800;
/** Other orders that are tried where less does not fail in this one. */
const otherOrders = 6;

/**
 * The least that still fails: whole clients, then operations, then faults are left out, more at first, and what waits
 * goes in turn if that fails, too.
 */
export async function shrink(run: Runs, first: RunResult, seed: number): Promise<Less> {
  let left = budget;
  let best: RunResult = first;
  let less: Required<Less> = {
    recorded: false,
    leftOut: { operations: new Set(), faults: new Set() },
    inTurn: false,
    orderSeed: seed,
  };
  const fails = async (candidate: Required<Less>): Promise<boolean> => {
    const orders = Array.from({ length: otherOrders }, (_, i) => seed + i + 1);
    for (const orderSeed of [less.orderSeed, ...orders]) {
      if (left-- <= 0) return false;
      const result = await run({ ...candidate, orderSeed });
      if (result.failure === undefined) continue;
      best = result;
      less = { ...candidate, orderSeed };
      return true;
    }
    return false;
  };
  const without = (kind: 'operations' | 'faults', names: readonly string[]): Required<Less> => ({
    ...less,
    leftOut: { ...less.leftOut, [kind]: new Set([...less.leftOut[kind], ...names]) },
  });
  /** Leaves out as many of them as it can: halves, quarters and so on to single ones. */
  const fewest = async (kind: 'operations' | 'faults', names: () => readonly string[]): Promise<void> => {
    for (let size = Math.ceil(names().length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
      for (let at = 0; at < names().length;) {
        const some = names().slice(at, at + size);
        if (!(await fails(without(kind, some)))) at += size;
      }
    }
  };
  for (let before = -1; before !== left && left > 0;) {
    const size = (): number => best.planned.length + best.faults.length;
    const started = size();
    for (const client of new Set(best.planned.map(({ client }) => client))) {
      await fails(without('operations', best.planned.filter((place) => place.client === client).map(placeName)));
    }
    await fewest('operations', () => best.planned.map(placeName));
    await fewest('faults', () => best.faults);
    if (!less.inTurn) await fails({ ...less, inTurn: true });
    if (size() === started) break;
    before = left;
  }
  return less;
}
