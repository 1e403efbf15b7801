import { describe, expect, it } from 'vitest';
import { providerKeyOf } from '../../../../lib/recipes/idempotency/provider-key.js';

describe('the key for the provider', () => {
  it('is a UUID that stays the same over versions', () => {
    expect(providerKeyOf('0mcJCu3lyj5Ko7HnoE7XJ4jIHa4T5emhuNX-BJXTAwI', 'charge')).toMatch(
      /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    );
    expect(providerKeyOf('0mcJCu3lyj5Ko7HnoE7XJ4jIHa4T5emhuNX-BJXTAwI', 'charge')).toBe(
      'dcd8547a-94db-84c4-bc38-565a3b090b72',
    );
  });

  it('differs by call and effect', () => {
    const keys = ['a', 'b'].flatMap((key) => ['charge', 'refund'].map((point) => providerKeyOf(key, point)));
    expect(new Set(keys).size).toBe(4);
  });
});
