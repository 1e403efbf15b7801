import { Buffer } from 'node:buffer';
import type { AttributeMap, AttributeValue } from './attribute-value.js';

const numberSize = (text: string): number => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[-+]/, '').split('.');
  // Move the point by the exponent, so that digits pair up as DynamoDB stores them.
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const padded = point > digits.length ? digits.padEnd(point, '0') : point < 0 ? '0'.repeat(-point) + digits : digits;
  const before = padded.slice(0, Math.max(point, 0)).replace(/^0+/, '');
  const after = padded.slice(Math.max(point, 0)).replace(/0+$/, '');
  const integer = after === '' ? before.replace(/(00)+$/, '') : before;
  const decimals = before === '' ? after.replace(/^(00)+/, '') : after;
  if (integer === '' && decimals === '') return 1;
  return 1 + Math.ceil(integer.length / 2) + Math.ceil(decimals.length / 2) + (mantissa.startsWith('-') ? 1 : 0);
};

/** Bytes of a value as DynamoDB counts them. */
export const valueSize = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return value.B.byteLength;
  if (value.M !== undefined) return Object.keys(value.M).length + 3 + itemSize(value.M);
  if (value.L !== undefined) return value.L.reduce((sum, element) => sum + 1 + valueSize(element), 3);
  if (value.SS !== undefined) return value.SS.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (value.NS !== undefined) return value.NS.reduce((sum, text) => sum + numberSize(text), 0);
  if (value.BS !== undefined) return value.BS.reduce((sum, bytes) => sum + bytes.byteLength, 0);
  return 1;
};

/**
 * Bytes of an item as DynamoDB counts them, names included; the limit is 409,600
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
 *
 * @example itemSize({ pk: { S: 'ORDER#1' }, total: { N: '10' } }) // 16
 */
export const itemSize = (item: AttributeMap): number => {
  let size = 0;
  for (const name of Object.keys(item)) size += Buffer.byteLength(name) + valueSize(item[name] as AttributeValue);
  return size;
};
