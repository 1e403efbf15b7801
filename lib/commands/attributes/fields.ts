import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeMap, type AttributeValue, type Decode, type Encode } from './attribute-value.js';
import { isAttribute, type AttributeBuilder } from './attribute.js';
import { hasMembers, isPlain } from './plain-object.js';

/** One member of an item or map, compiled for its path. */
export interface Field {
  readonly name: string;
  /** The stored attribute's name. */
  readonly stored: string;
  readonly path: string;
  readonly attribute: AttributeBuilder;
  readonly encode: Encode;
  readonly decode: Decode;
  readonly required: boolean;
  /** Every object inherits a member of its name, such as `constructor`, so only an own one counts. */
  readonly inherited: boolean;
}

/** Compiles members once; refuses what can't be a member. */
export const compileFields = (members: Record<string, AttributeBuilder>, prefix: string): Field[] => {
  const stored = new Set<string>();
  return Object.keys(members).map((name) => {
    const attribute = members[name];
    const path = prefix + name;
    if (name === '__proto__' || name === '') return invalid(prefix + name, 'can not be the name of an attribute');
    if (!isAttribute(attribute)) return invalid(path, 'expected an attribute, such as string()');
    const storedName = attribute.traits.savedAs ?? name;
    if (stored.has(storedName)) return invalid(path, 'has the stored name of another attribute');
    stored.add(storedName);
    const [encode, decode] = attribute.make(path);
    const required = attribute.traits.optional !== true;
    const inherited = name in Object.prototype || storedName in Object.prototype;
    return { name, stored: storedName, path, attribute, encode, decode, required, inherited };
  });
};

const fallbackOf = (field: Pick<Field, 'attribute'>): unknown => {
  const fallback = field.attribute.traits.fallback;
  if (fallback === undefined) return undefined;
  return typeof fallback.value === 'function' ? (fallback.value as () => unknown)() : fallback.value;
};

/** Writes an object's members into `out`; `extra` members of the object are known to be no attributes. */
export type EncodeObject = (value: unknown, out: AttributeMap, extra?: number) => AttributeMap;

/** The stored value of a member. */
export const storedValue = (stored: AttributeMap, field: Field): AttributeValue | undefined =>
  field.inherited && !Object.hasOwn(stored, field.stored) ? undefined : stored[field.stored];

/** Refuses a missing required member and a member that is not declared: dropping it silently would lose data. */
export const objectEncoder = (fields: readonly Field[], path: string): EncodeObject => {
  const names = fields.reduce((sum, field) => sum + field.stored.length + 2, 3);
  const declared = new Set(fields.map((field) => field.name));
  return (object, out, extra = 0) => {
    if (!hasMembers(object)) return invalid(path, 'expected an object with its members');
    let spare = extra;
    weight.units += names;
    for (const field of fields) {
      let member = field.inherited && !Object.hasOwn(object, field.name) ? undefined : object[field.name];
      if (member !== undefined) spare++;
      else if ((member = fallbackOf(field)) === undefined) {
        if (field.required) invalid(field.path, 'is required');
        continue;
      }
      const encoded = field.encode(member);
      if (encoded !== undefined) out[field.stored] = encoded;
    }
    if (isPlain(object)) {
      // Counting is enough, and costs a third of looking each name up.
      for (const name in object) if (object[name] !== undefined) spare--;
      if (spare < 0) refuseUnknown(unknownMembers(object, declared), path);
    } else {
      // The members of an instance may be getters, which a loop doesn't see.
      const unknown = unknownMembers(object, declared);
      if (unknown.length > extra) refuseUnknown(unknown, path);
    }
    return out;
  };
};

const unknownMembers = (object: Record<string, unknown>, declared: ReadonlySet<string>): string[] =>
  Object.keys(object).filter((name) => object[name] !== undefined && !declared.has(name));

/** Names in code are said, to find the mistake; others may be somebody's data. */
const refuseUnknown = (names: readonly string[], path: string): never => {
  const said = names.filter((name) => /^[A-Za-z_$][\w$]{0,39}$/.test(name)).slice(0, 5);
  return invalid(path, `has members that are not declared${said.length > 0 ? `: ${said.join(', ')}` : ''}`);
};

/** Reads the declared attributes of a stored item or map; others are left alone. */
export const objectDecoder =
  (fields: readonly Field[]) =>
  (stored: AttributeMap): Record<string, unknown> => {
    const out: Record<string, unknown> = {};
    for (const field of fields) {
      const value = storedValue(stored, field);
      if (value !== undefined) out[field.name] = field.decode(value);
      else {
        const absent = absentValue(field);
        if (absent !== undefined) out[field.name] = absent;
        else if (field.required) corrupt(field.path, 'a value');
      }
    }
    return out;
  };

/** What an absent attribute reads as: its default, or empty for a required set. */
export const absentValue = (field: Pick<Field, 'attribute' | 'required'>): unknown =>
  fallbackOf(field) ?? (field.required ? field.attribute.traits.empty?.() : undefined);
