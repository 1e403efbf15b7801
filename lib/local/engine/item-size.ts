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

/**
 * Digits count in pairs, those before and after the point apart, without the zeros at both ends
 * (measured: https://github.com/nubo-db/dynoxide/pull/195).
 */
function numberSize(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const leading = /^0*/.exec(whole + fraction)![0].length;
  const digits = (whole + fraction).slice(leading).replace(/0+$/, '').length;
  if (digits === 0) return 1;
  const before = Math.min(Math.max(whole.length + Number(exponent) - leading, 0), digits);
  return 1 + Math.ceil(before / 2) + Math.ceil((digits - before) / 2) + (mantissa.startsWith('-') ? 1 : 0);
}

function sum<T>(values: readonly T[], size: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += size(value);
  return total;
}
