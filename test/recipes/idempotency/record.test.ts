import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InvalidInputError, InvalidStoredItemError } from '../../../lib/commands/index.js';
import { idempotencyKey } from '../../../lib/recipes/index.js';
import { answerOf, isExpired, isOfAnother, type IdempotencyRecord } from '../../../lib/recipes/idempotency/record.js';

const record = (change: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  key: 'k',
  format: 1,
  algorithm: 1,
  fingerprint: 'f',
  expiresAt: new Date(10_000),
  ...change,
});

it('gives two calls one key only where scope, route and key are the same', () => {
  const part = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'b', ':', '1', '#', '\u0000', '"') });
  fc.assert(
    fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (one, other) => {
      const keyOf = ([scope, route, key]: [string, string, string]) => idempotencyKey({ scope, route, key });
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});

it('makes a key of 43 characters that stays the same over versions', () => {
  expect(idempotencyKey({ scope: 'iam:A', route: 'POST /charges', key: 'k1' })).toBe(
    '0mcJCu3lyj5Ko7HnoE7XJ4jIHa4T5emhuNX-BJXTAwI',
  );
});

it.each(['', '\ud800'])('refuses an empty part and a lone surrogate', (part) => {
  for (const name of ['scope', 'route', 'key']) {
    expect(() => idempotencyKey({ scope: 's', route: 'r', key: 'k', [name]: part })).toThrow(InvalidInputError);
  }
});

it('is expired from its second on and not before', () => {
  expect(isExpired(record(), new Date(9_999))).toBe(false);
  expect(isExpired(record(), new Date(10_000))).toBe(true);
  expect(isExpired(record(), new Date(10_001))).toBe(true);
});

it('compares hashes of one algorithm only', () => {
  expect(isOfAnother(record(), { algorithm: 1, hash: 'f' })).toBe(false);
  expect(isOfAnother(record(), { algorithm: 1, hash: 'g' })).toBe(true);
  expect(isOfAnother(record(), { algorithm: 2, hash: 'g' })).toBe(false);
});

it('refuses to read the answer of a newer format', () => {
  expect(() => answerOf(record({ format: 2 }))).toThrow(InvalidStoredItemError);
});
