import { describe, expect, it } from 'vitest';
import { simulate } from '../../lib/local/index.js';
import { workloads } from './workloads/index.js';

/** `npm run simulate` runs more of them. */
const count = Number(process.env['SIMULATION_SEEDS'] ?? 30);

describe('under faults, the right state is left by', () => {
  it.each(workloads)('$name', { timeout: 120_000 }, async ({ scenario, options }) => {
    const { runs, faults } = await simulate(scenario, { ...options, seeds: count });
    expect(runs).toBe(count);
    expect(faults).toBeGreaterThan(count);
  });
});
