import { Buffer } from 'node:buffer';
import type { AttributeValue } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** A number's digits without trailing zeros: DynamoDB gives `1.50` back as `1.5`. */
const decimal = (text: string): Decimal => {
  const [, sign = '', whole = '0', fraction = '', power = '0'] =
    /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  const kept = all.replace(/0+$/, '');
  if (kept === '') return { digits: 0n, exponent: 0 };
  const exponent = Number(power) - fraction.length + (all.length - kept.length);
  return { digits: BigInt(kept) * (sign === '-' ? -1n : 1n), exponent };
};

const number = (text: string): string => {
  const { digits, exponent } = decimal(text);
  return `${digits}e${exponent}`;
};

const bytes = (value: Uint8Array): string => Buffer.from(value).toString('base64');

const plain = (value: AttributeValue): unknown => {
  if (value.N !== undefined) return { N: number(value.N) };
  if (value.B !== undefined) return { B: bytes(value.B) };
  if (value.SS !== undefined) return { SS: [...value.SS].sort() };
  if (value.NS !== undefined) return { NS: value.NS.map(number).sort() };
  if (value.BS !== undefined) return { BS: value.BS.map(bytes).sort() };
  if (value.L !== undefined) return { L: value.L.map(plain) };
  if (value.M !== undefined) {
    const members = Object.entries(value.M).sort(([a], [b]) => (a < b ? -1 : 1));
    return { M: members.map(([name, member]) => [name, plain(member)]) };
  }
  return value;
};

/** Whether two values are one to DynamoDB, which keeps no order of sets and members, and one form of a number. */
export const sameValue = (a: AttributeValue | undefined, b: AttributeValue | undefined): boolean =>
  a === undefined || b === undefined ? a === b : JSON.stringify(plain(a)) === JSON.stringify(plain(b));

/** Compares two versions as DynamoDB does. */
export const compareVersions = (a: AttributeValue, b: AttributeValue): number => {
  if (a.S !== undefined && b.S !== undefined) return a.S < b.S ? -1 : a.S > b.S ? 1 : 0;
  const [left, right] = [decimal(a.N ?? ''), decimal(b.N ?? '')];
  const lowest = Math.min(left.exponent, right.exponent);
  const scaled = ({ digits, exponent }: Decimal): bigint => digits * 10n ** BigInt(exponent - lowest);
  const difference = scaled(left) - scaled(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

/** Refuses text of no fixed width: as text, 10 is before 9. */
export const checkVersion = (value: AttributeValue | undefined, path: string): AttributeValue =>
  value !== undefined && (value.N !== undefined || timestampForm.test(value.S ?? ''))
    ? value
    : invalid(path, 'expected a version: an integer(), bigint() or timestamp()');

/** The time that a version says; undefined for a sequence. */
export const timeOfVersion = (value: AttributeValue): Date | undefined =>
  value.S === undefined ? undefined : new Date(`${value.S.slice(0, 23)}Z`);
