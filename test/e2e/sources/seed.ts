import { onTestFailed } from 'vitest';
import { randomOf, type SeededRandom } from '../../../lib/local/simulation/random.js';

const given = process.env['E2E_SEED'];

/** What decides this run: `E2E_SEED`, or chance. */
export const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);

/** A random source of the test's own, whose seed a failure tells. */
export const seeded = (name: string): SeededRandom => {
  onTestFailed(() => {
    console.error(`To run it again: E2E_SEED=${seed} npm run test:e2e -- --project sources`);
  });
  return randomOf(seed, name);
};
