import type { WireValue } from '../engine/types.js';

/** The order of two values of one ordered type, or undefined when they have none. */
export function compareValues(a: WireValue, b: WireValue): number | undefined {
  if (a.N !== undefined && b.N !== undefined) return compareNumbers(a.N, b.N);
  if (a.S !== undefined && b.S !== undefined) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if (a.B !== undefined && b.B !== undefined) {
    return Buffer.compare(Buffer.from(a.B, 'base64'), Buffer.from(b.B, 'base64'));
  }
  return undefined;
}

/** Compares decimal texts as stored, without exponents and needless zeros, digit by digit: nothing is rounded. */
function compareNumbers(a: string, b: string): number {
  const negative = a.startsWith('-');
  if (negative !== b.startsWith('-')) return negative ? -1 : 1;
  const order = compareMagnitudes(a.replace('-', ''), b.replace('-', ''));
  return negative ? -order : order;
}

function compareMagnitudes(a: string, b: string): number {
  const [wholeA = '', fractionA = ''] = a.split('.');
  const [wholeB = '', fractionB = ''] = b.split('.');
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
  const textA = wholeA + fractionA;
  const textB = wholeB + fractionB;
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}
