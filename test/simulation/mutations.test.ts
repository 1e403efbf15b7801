import { describe, expect, it } from 'vitest';
import { mutated } from './build.js';
import { findBug } from './find-bug.js';
import { mutations } from './mutations.js';

it('planted bugs stand in the code as it is, once each, and change it', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(25);
  for (const mutation of mutations) expect(mutated(mutation)).toContain(mutation.replace);
  expect(new Set(mutations.map(({ bug }) => bug)).size).toBe(mutations.length);
});

it('a bug whose text is gone, or stands there twice, is an error', () => {
  const [mutation] = mutations as [(typeof mutations)[0]];
  expect(() => mutated(mutation, 'nothing of it')).toThrow('0 times, and not once');
  expect(() => mutated(mutation, `${mutation.find}${mutation.find}`)).toThrow('2 times, and not once');
});

/** The end-to-end lane finds them all. */
const some = mutations.filter((_, i) => i % 6 === 0);

describe('the simulation finds', () => {
  it.each(some)('$bug', { timeout: 120_000 }, async (mutation) => {
    expect(await findBug(mutation)).toBeDefined();
  });
});
