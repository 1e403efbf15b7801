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
  readonly nameOf: ReadonlyMap<unknown, string>;
  readonly usedNames: readonly string[];
  readonly usedValues: readonly string[];
  /** The values that were checked by what they are; all others are checked by their types. */
  readonly checked: readonly string[];
  /** What those were when the text was taken. */
  readonly passed: Set<string>;
}

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
    const types = Object.entries(attrVals).map(([name, value]) => [name, Object.keys(value)[0]]);
    const shape = JSON.stringify([text, attrNames, types]);
    const known = all.get(shape);
    const kept = known?.passed.has(checkedValues(known, attrVals)) ? known : parseMarked(text, context, parse);
    // It is parsed again for the words of the refusal.
    if (!kept) return parse(text, options);
    if (kept !== known) {
      if (all.size === MOST) all.clear();
      const passed = known && known.passed.size < MOST ? known.passed : kept.passed;
      passed.add(checkedValues(kept, attrVals));
      all.set(shape, { ...kept, passed });
    }
    for (const name of kept.usedNames) delete unusedAttrNames[name];
    for (const name of kept.usedValues) delete unusedAttrVals[name];
    return filledIn(kept.parsed, (marker) => {
      const name = kept.nameOf.get(marker);
      return name === undefined ? undefined : attrVals[name];
    });
  };
  return { parse };
}

const checkedValues = ({ checked }: Kept, values: WireItem): string =>
  JSON.stringify(checked.map((name) => values[name]));

/** What a text is parsed to, unless it is refused. */
function parseMarked(text: string, context: Context, parse: ExpressionParser['parse']): Kept | undefined {
  const { attrNames = {}, attrVals = {} } = context;
  // Copies, which are found again by their identity.
  const marked = Object.fromEntries(Object.entries(attrVals).map(([name, value]) => [name, { ...value }]));
  const unused = (of: object): Record<string, true> => Object.fromEntries(Object.keys(of).map((name) => [name, true]));
  const [unusedAttrNames, unusedAttrVals] = [unused(attrNames), unused(attrVals)];
  let parsed: unknown;
  try {
    parsed = parse(text, { context: { ...context, attrVals: marked, unusedAttrNames, unusedAttrVals } });
  } catch {
    return undefined;
  }
  if (typeof parsed === 'string') return undefined;
  const nameOf = new Map<unknown, string>(Object.entries(marked).map(([name, marker]) => [marker, name]));
  const used = (of: object, left: object): string[] => Object.keys(of).filter((name) => !(name in left));
  return {
    parsed,
    nameOf,
    usedNames: used(attrNames, unusedAttrNames),
    usedValues: used(attrVals, unusedAttrVals),
    checked: checkedNames(parsed, nameOf),
    passed: new Set(),
  };
}

/** The bounds of BETWEEN, which must be in order, and the types that attribute_type() is given. */
function checkedNames(part: unknown, nameOf: ReadonlyMap<unknown, string>): string[] {
  if (typeof part !== 'object' || part === null || nameOf.has(part)) return [];
  const { type, name, args = [] } = part as { type?: string; name?: string; args?: unknown[] };
  const own = type === 'between' || name === 'attribute_type' ? args.flatMap((arg) => nameOf.get(arg) ?? []) : [];
  return [...own, ...Object.values(part).flatMap((member) => checkedNames(member, nameOf))];
}

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
