import type { AttributeMap, AttributeValue } from './attribute-value.js';
import { significantDigits } from './digits.js';
import { invalid } from '../errors/errors.js';

/**
 * Digits count in pairs, those before and after the point apart, without the zeros at both ends
 * (measured: https://github.com/nubo-db/dynoxide/pull/195).
 */
const numberSize = (text: string): number => {
  const digits = significantDigits(text);
  if (digits === '') return 1;
  const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^[-+]/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const leadingZeros = /^0*/.exec(whole + fraction)?.[0].length ?? 0;
  const before = Math.min(Math.max(whole.length - leadingZeros + Number(exponent), 0), digits.length);
  const after = digits.length - before;
  return 1 + Math.ceil(before / 2) + Math.ceil(after / 2) + (text.startsWith('-') ? 1 : 0);
};

/** Bytes of a value as DynamoDB counts them. */
export const valueSize = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B) return value.B.byteLength;
  if (value.M) return Object.keys(value.M).length + 3 + itemSize(value.M);
  if (value.L) return value.L.reduce((sum, element) => sum + 1 + valueSize(element), 3);
  if (value.SS) return value.SS.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (value.NS) return value.NS.reduce((sum, text) => sum + numberSize(text), 0);
  if (value.BS) return value.BS.reduce((sum, bytes) => sum + bytes.byteLength, 0);
  return 1;
};

/**
 * Bytes of an item as DynamoDB counts them, names included; the limit is 409,600
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
 *
 * @throws InvalidInputError for what is no item as it is stored
 * @example itemSize({ pk: { S: 'ORDER#1' }, total: { N: '10' } }) // 16
 */
export const itemSize = (item: AttributeMap): number => {
  let size = 0;
  try {
    for (const name of Object.keys(item)) size += Buffer.byteLength(name) + valueSize(item[name] as AttributeValue);
  } catch (error) {
    // Looked at only now, since every write is measured.
    if (error instanceof TypeError) invalid('itemSize', "expected an item as it is stored, such as { pk: { S: 'a' } }");
    throw error;
  }
  return size;
};
