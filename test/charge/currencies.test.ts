import { expect, it } from 'vitest';
import { currencies } from '../../lambdas/charge/currencies.js';

it('are codes that Unicode knows, and the second one of the bolívar', () => {
  const known = new Set(Intl.supportedValuesOf('currency'));
  expect(currencies.filter((code) => !known.has(code))).toEqual(['VED']);
});

it('are in order, each once', () => {
  expect(currencies).toEqual([...new Set(currencies)].sort());
});
