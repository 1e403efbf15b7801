import type { WireItem, WireValue } from './types.js';

/** The largest item, attribute names included. */
export const MAX_ITEM_SIZE = 400 * 1024;

/** The size of an item by which DynamoDB bills and limits: UTF-8 names plus values. */
export function itemSize(item: WireItem): number {
  let size = 0;
  for (const name in item) size += Buffer.byteLength(name) + valueSize(item[name]!);
  return size;
}

function valueSize(value: WireValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.SS) return sum(value.SS, (member) => Buffer.byteLength(member));
  if (value.NS) return sum(value.NS, numberSize);
  if (value.BS) return sum(value.BS, (member) => Buffer.byteLength(member, 'base64'));
  if (value.L) return 3 + sum(value.L, (member) => 1 + valueSize(member));
  if (value.M) return 3 + Object.keys(value.M).length + itemSize(value.M);
  return 1;
}

function numberSize(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  let digits = whole + fraction;
  let point = whole.length + Number(exponent);
  const leading = /^0*/.exec(digits)![0].length;
  digits = digits.slice(leading).replace(/0+$/, '');
  point -= leading;
  if (digits === '') return 1;
  // Two digits a byte, counted from the decimal point in both directions; zeros at either end cost nothing.
  const before = Math.max(0, Math.min(digits.length, point));
  const wholeDigits = point <= 0 ? 0 : before + (point > digits.length ? (point - digits.length) % 2 : 0);
  const fractionDigits = digits.length - before + (point < 0 ? -point % 2 : 0);
  return 1 + Math.ceil(wholeDigits / 2) + Math.ceil(fractionDigits / 2) + (negative ? 1 : 0);
}

function sum<T>(values: readonly T[], size: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += size(value);
  return total;
}
