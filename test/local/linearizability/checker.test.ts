import { describe, expect, test } from 'vitest';
import { linearizable } from './checker.js';
import type { Call, State } from './checker.js';

const write = (at: [number, number], key: number, value: number): Call => ({
  invoked: at[0],
  returned: at[1],
  apply: (state) => state.with(key, value),
});
const read = (at: [number, number], expected: State): Call => ({
  invoked: at[0],
  returned: at[1],
  apply: (state) => (expected.every((value, i) => value === state[i]) ? state : undefined),
});
const increment = (at: [number, number], result: number): Call => ({
  invoked: at[0],
  returned: at[1],
  apply: (state) => ((state[0] ?? 0) + 1 === result ? state.with(0, result) : undefined),
});
const none: State = [undefined, undefined];

describe('the checker', () => {
  test('accepts overlapping calls in whatever order fits', () => {
    expect(linearizable([write([1, 10], 0, 1), read([2, 3], none), read([4, 5], [1, undefined])], none)).toBe(true);
    expect(linearizable([increment([1, 10], 2), increment([2, 9], 1)], none)).toBe(true);
  });

  test('finds a stale read', () => {
    expect(linearizable([write([1, 2], 0, 1), read([3, 4], none)], none)).toBe(false);
  });

  test('finds reads that go back', () => {
    const calls = [write([1, 10], 0, 1), read([2, 3], [1, undefined]), read([4, 5], none)];
    expect(linearizable(calls, none)).toBe(false);
  });

  test('finds a lost update', () => {
    expect(linearizable([increment([1, 4], 1), increment([2, 3], 1)], none)).toBe(false);
  });

  test('finds a torn read of a transaction', () => {
    const both: Call = { invoked: 1, returned: 10, apply: () => [1, 1] };
    expect(linearizable([both, read([2, 3], [1, undefined])], none)).toBe(false);
    expect(linearizable([both, read([2, 3], [1, 1])], none)).toBe(true);
  });

  test('finds one wrong answer in a long history', () => {
    const calls = Array.from({ length: 300 }, (_, i) => increment([i * 2, i * 2 + 5], i + 1));
    expect(linearizable(calls, none)).toBe(true);
    calls[150] = increment([300, 305], 150);
    expect(linearizable(calls, none)).toBe(false);
  });
});
