import { describe, expect, it } from 'vitest';
import { findBug } from './find-bug.js';
import { mutations } from './mutations.js';

describe('the simulation finds', () => {
  it.each(mutations)('$bug', { timeout: 300_000 }, async (mutation) => {
    expect(await findBug(mutation)).toBeDefined();
  });
});
