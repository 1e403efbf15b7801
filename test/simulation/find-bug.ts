import type { SimulationFailure } from '../../lib/local/index.js';
import { built } from './build.js';
import type { Mutation } from './mutations.js';

/** The failure by which the simulation finds a planted bug, or undefined where it does not. */
export const findBug = async (mutation: Mutation): Promise<SimulationFailure | undefined> => {
  const { simulate, workloads } = await built(mutation);
  const workload = workloads.find(({ name }) => name === mutation.workload);
  if (workload === undefined) throw new Error(`There is no workload ${mutation.workload}.`);
  try {
    await simulate(workload.scenario, { ...workload.options, seeds: mutation.seeds ?? 200, shrink: false });
    return undefined;
  } catch (error) {
    if ((error as Error).name === 'SimulationFailure') return error as SimulationFailure;
    throw error;
  }
};
