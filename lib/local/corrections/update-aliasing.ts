import type { WireItem, WireValue } from '../engine/types.js';
import { valueAt } from './value-at.js';
import type { Path } from './value-at.js';

interface FunctionOperand {
  type: string;
  name?: string;
  args: Operand[];
}
type Operand = Path | FunctionOperand | WireValue;

/** The parsed update expression, as far as it is read here. */
export interface ParsedUpdate {
  sections: { type: 'set' | 'remove' | 'add' | 'delete'; path: Path; val?: Operand }[];
}

/**
 * Replaces the paths on the right of SET by copies of what they name. dynalite assigns the value itself, so that in
 * `SET a = b, b.c = :x` the second action would show in `a` too.
 */
export function copyOperands(update: ParsedUpdate, item: WireItem): void {
  for (const section of update.sections) {
    if (section.type === 'set' && section.val) section.val = copied(section.val, item);
  }
}

function copied(operand: Operand, item: WireItem): Operand {
  if (Array.isArray(operand)) {
    const value = valueAt(operand, item);
    return value === undefined ? operand : structuredClone(value);
  }
  if (!('args' in operand)) return operand;
  if (operand.name === 'if_not_exists') {
    const [path, otherwise] = operand.args;
    const value = valueAt(path as Path, item);
    return value === undefined ? { ...operand, args: [path!, copied(otherwise!, item)] } : structuredClone(value);
  }
  return { ...operand, args: operand.args.map((member) => copied(member, item)) };
}
