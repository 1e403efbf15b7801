import type { WireItem, WireValue } from '../engine/types.js';
import type { ExpressionParser } from './syntax-error.js';

/** What a parser resolves names and values by, and strikes off what it used. */
interface Context {
  attrNames?: Record<string, string> | undefined;
  attrVals?: WireItem | undefined;
  unusedAttrNames: Record<string, true>;
  unusedAttrVals: Record<string, true>;
}

/** A text that was parsed, with a marker in place of each value. */
interface Kept {
  readonly parsed: unknown;
  readonly valueOf: ReadonlyMap<unknown, string>;
  readonly usedNames: readonly string[];
  readonly usedValues: readonly string[];
}

/** These are checked by what the values are; all else by their types. */
const READS_VALUES = /\b(?:between|attribute_type)\b/i;
const MOST = 1000;

/**
 * Lets a parser of dynalite's parse each text once for the same names and types of values: it takes several hundred
 * microseconds for a condition of three parts, which is most of a write.
 *
 * @returns the parser as it was
 */
export function keepParsed(parser: ExpressionParser): ExpressionParser {
  const { parse } = parser;
  const all = new Map<string, Kept>();
  parser.parse = (text, options) => {
    const context = options.context as Context;
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals } = context;
    if (READS_VALUES.test(text)) return parse(text, options);
    const types = Object.entries(attrVals).map(([name, value]) => [name, typeOf(value)]);
    const shape = JSON.stringify([text, attrNames, types]);
    let kept = all.get(shape);
    if (!kept) {
      kept = parseMarked(text, context, parse);
      // It is parsed again for the words of the refusal.
      if (!kept) return parse(text, options);
      if (all.size === MOST) all.clear();
      all.set(shape, kept);
    }
    for (const name of kept.usedNames) delete unusedAttrNames[name];
    for (const name of kept.usedValues) delete unusedAttrVals[name];
    return filledIn(kept.parsed, (marker) => {
      const name = kept.valueOf.get(marker);
      return name === undefined ? undefined : attrVals[name];
    });
  };
  return { parse };
}

/** What a text is parsed to, unless it is refused. */
function parseMarked(text: string, context: Context, parse: ExpressionParser['parse']): Kept | undefined {
  const { attrNames = {}, attrVals = {} } = context;
  const attrMarks: Record<string, object> = {};
  for (const [name, value] of Object.entries(attrVals)) attrMarks[name] = { [typeOf(value)]: true };
  const unused = (of: object): Record<string, true> => Object.fromEntries(Object.keys(of).map((name) => [name, true]));
  const [unusedAttrNames, unusedAttrVals] = [unused(attrNames), unused(attrVals)];
  let parsed: unknown;
  try {
    parsed = parse(text, { context: { ...context, attrVals: attrMarks, unusedAttrNames, unusedAttrVals } });
  } catch {
    return undefined;
  }
  if (typeof parsed === 'string') return undefined;
  const used = (of: object, left: object): string[] => Object.keys(of).filter((name) => !(name in left));
  return {
    parsed,
    valueOf: new Map(Object.entries(attrMarks).map(([name, marker]) => [marker, name])),
    usedNames: used(attrNames, unusedAttrNames),
    usedValues: used(attrVals, unusedAttrVals),
  };
}

const typeOf = (value: WireValue): string => Object.keys(value)[0] ?? '';

/** A copy with the values in it: what dynalite does to one request's must not reach the next one's. */
function filledIn(part: unknown, valueOf: (marker: unknown) => WireValue | undefined): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const value = valueOf(part);
  if (value) return value;
  if (Array.isArray(part)) return part.map((member) => filledIn(member, valueOf));
  // Those of paths have no prototype, so that no name is found in it.
  const copy = Object.create(Object.getPrototypeOf(part) as object | null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(part)) copy[name] = filledIn(member, valueOf);
  return copy;
}
