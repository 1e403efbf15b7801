import { describe, expect, it } from 'vitest';
import { itemSize, type AttributeValue } from '../../../lib/commands/index.js';

const sizeOf = (value: object): number => itemSize({ v: value as AttributeValue }) - 1;

describe('itemSize()', () => {
  // Measured on DynamoDB by the item limit: https://github.com/nubo-db/dynoxide/pull/195
  it.each([
    ['0', 1],
    ['-0', 1],
    ['0.000', 1],
    ['1', 2],
    ['12', 2],
    ['123', 3],
    ['1234', 3],
    ['12345', 4],
    ['123456789', 6],
    ['12345678901234567890123456789012345678', 20],
    ['0042', 2],
    ['100', 2],
    ['1010', 3],
    ['0.0000001', 2],
    ['1E125', 2],
    ['1e+21', 2],
    ['1E-100', 2],
    ['1.5', 3],
    ['1.200', 3],
    ['1.234', 4],
    ['3.14159', 5],
    ['100.5', 4],
    ['0.15', 2],
    ['-42', 3],
    ['-12345', 5],
    ['-1E125', 3],
    ['-0.15', 3],
  ])('counts N %s as %d bytes', (text, bytes) => {
    expect(sizeOf({ N: text })).toBe(bytes);
  });

  it('counts text and names in UTF-8', () => {
    expect(itemSize({ é: { S: '€😀' } })).toBe(2 + 3 + 4);
    expect(sizeOf({ S: '' })).toBe(0);
  });

  it('counts bytes, booleans and NULL', () => {
    expect(sizeOf({ B: new Uint8Array(5) })).toBe(5);
    expect(sizeOf({ BOOL: false })).toBe(1);
    expect(sizeOf({ NULL: true })).toBe(1);
  });

  it('counts the members of sets', () => {
    expect(sizeOf({ SS: ['ab', 'é'] })).toBe(4);
    expect(sizeOf({ NS: ['1', '-42'] })).toBe(5);
    expect(sizeOf({ BS: [new Uint8Array(2), new Uint8Array(3)] })).toBe(5);
  });

  it('counts 3 bytes for a document and 1 for each element', () => {
    expect(sizeOf({ L: [] })).toBe(3);
    expect(sizeOf({ M: {} })).toBe(3);
    expect(sizeOf({ L: [{ S: 'ab' }, { N: '1' }] })).toBe(3 + 2 + 2 + 2);
    expect(sizeOf({ M: { name: { S: 'ab' } } })).toBe(3 + 1 + 4 + 2);
    expect(sizeOf({ M: { a: { L: [{ M: {} }] } } })).toBe(3 + 1 + 1 + (3 + 1 + 3));
  });
});
