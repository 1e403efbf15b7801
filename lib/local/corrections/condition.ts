import { sameValue } from '../engine/index-units.js';
import type { WireItem, WireValue } from '../engine/types.js';
import { compareValues } from './compare-values.js';
import { valueAt } from './value-at.js';
import type { Path } from './value-at.js';

type Operand = Path | { type: 'function'; name: string; args: Operand[] } | WireValue;

/** A parsed condition or filter, as dynalite's parser gives it. */
export type Expression =
  | { type: 'and' | 'or' | 'not'; args: Expression[] }
  | { type: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'between' | 'in'; args: Operand[] }
  | { type: 'function'; name: string; args: Operand[] };

/**
 * Whether a condition holds for an item. dynalite's own evaluation compares maps and lists by identity, text by UTF-16
 * units, and binary values after a decoding that loses bytes.
 */
export function holds(expression: Expression, item: WireItem): boolean {
  switch (expression.type) {
    case 'and':
      return expression.args.every((part) => holds(part, item));
    case 'or':
      return expression.args.some((part) => holds(part, item));
    case 'not':
      return !holds(expression.args[0]!, item);
    case 'function':
      return functionHolds(
        expression.name,
        expression.args.map((arg) => resolve(arg, item)),
      );
    default: {
      const [left, ...right] = expression.args.map((arg) => resolve(arg, item));
      return comparisonHolds(expression.type, left, right);
    }
  }
}

function comparisonHolds(operator: string, left: WireValue | undefined, right: (WireValue | undefined)[]): boolean {
  const [first, second] = right;
  switch (operator) {
    case '=':
      return equal(left, first);
    case '<>':
      return !equal(left, first);
    case 'in':
      return right.some((member) => equal(left, member));
    case 'between':
      return ordered(left, first, (order) => order >= 0) && ordered(left, second, (order) => order <= 0);
    case '<':
      return ordered(left, first, (order) => order < 0);
    case '<=':
      return ordered(left, first, (order) => order <= 0);
    case '>':
      return ordered(left, first, (order) => order > 0);
    default:
      return ordered(left, first, (order) => order >= 0);
  }
}

function functionHolds(name: string, [value, operand]: (WireValue | undefined)[]): boolean {
  switch (name) {
    case 'attribute_exists':
      return value !== undefined;
    case 'attribute_not_exists':
      return value === undefined;
    case 'attribute_type':
      return value !== undefined && Object.keys(value)[0] === operand?.S;
    case 'begins_with':
      if (value?.S !== undefined && operand?.S !== undefined) return value.S.startsWith(operand.S);
      return value?.B !== undefined && operand?.B !== undefined && bytes(value.B).indexOf(bytes(operand.B)) === 0;
    case 'contains':
      return contains(value, operand);
    default:
      throw new Error(`Unknown function ${name}`);
  }
}

function contains(value: WireValue | undefined, operand: WireValue | undefined): boolean {
  if (!value || !operand) return false;
  if (value.L) return value.L.some((member) => sameValue(member, operand));
  if (operand.S !== undefined) return value.S?.includes(operand.S) ?? value.SS?.includes(operand.S) ?? false;
  if (operand.N !== undefined) return value.NS?.includes(operand.N) ?? false;
  if (operand.B === undefined) return false;
  if (value.B !== undefined) return bytes(value.B).includes(bytes(operand.B));
  return value.BS?.includes(operand.B) ?? false;
}

function resolve(operand: Operand, item: WireItem): WireValue | undefined {
  if (Array.isArray(operand)) return valueAt(operand, item);
  if (!('args' in operand)) return operand;
  const value = resolve(operand.args[0]!, item);
  const size = value && sizeOf(value);
  return size === undefined ? undefined : { N: String(size) };
}

function sizeOf(value: WireValue): number | undefined {
  if (value.S !== undefined) return value.S.length;
  if (value.B !== undefined) return bytes(value.B).length;
  if (value.M) return Object.keys(value.M).length;
  return (value.SS ?? value.NS ?? value.BS ?? value.L)?.length;
}

const equal = (a: WireValue | undefined, b: WireValue | undefined): boolean =>
  a !== undefined && b !== undefined && sameValue(a, b);

function ordered(a: WireValue | undefined, b: WireValue | undefined, test: (order: number) => boolean): boolean {
  const order = a && b && compareValues(a, b);
  return order !== undefined && test(order);
}

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');
