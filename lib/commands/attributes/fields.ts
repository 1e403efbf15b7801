import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeMap, type AttributeValue, type Decode, type Encode } from './attribute-value.js';
import { isAttribute, type AttributeBuilder } from './attribute.js';
import { hasMembers, isPlain } from './plain-object.js';

/** One member of an item or map, compiled for its path. */
export interface Field {
  readonly name_: string;
  /** The stored attribute's name. */
  readonly stored_: string;
  readonly path_: string;
  readonly attribute_: AttributeBuilder;
  readonly encode_: Encode;
  readonly decode_: Decode;
  readonly required_: boolean;
  /** Every object inherits a member of its name, such as `constructor`, so only an own one counts. */
  readonly inherited_: boolean;
}

/** Compiles members once; refuses what can't be a member. */
export const compileFields = (members: Record<string, AttributeBuilder>, prefix: string): Field[] => {
  const stored = new Set<string>();
  return Object.keys(members).map((name) => {
    const attribute = members[name];
    const path = prefix + name;
    if (name === '__proto__' || name === '') return invalid(prefix + name, 'can not be the name of an attribute');
    if (!isAttribute(attribute)) return invalid(path, 'expected an attribute, such as string()');
    const storedName = attribute.traits_.savedAs_ ?? name;
    if (stored.has(storedName)) return invalid(path, 'has the stored name of another attribute');
    stored.add(storedName);
    const [encode, decode] = attribute.make_(path);
    const required = attribute.traits_.optional_ !== true;
    const inherited = name in Object.prototype || storedName in Object.prototype;
    return {
      name_: name,
      stored_: storedName,
      path_: path,
      attribute_: attribute,
      encode_: encode,
      decode_: decode,
      required_: required,
      inherited_: inherited,
    };
  });
};

const fallbackOf = (field: Pick<Field, 'attribute_'>): unknown => {
  const fallback = field.attribute_.traits_.fallback_;
  if (!fallback) return undefined;
  return typeof fallback.value === 'function' ? (fallback.value as () => unknown)() : fallback.value;
};

/** Writes an object's members into `out`; `extra` members of the object are known to be no attributes. */
export type EncodeObject = (value: unknown, out: AttributeMap, extra?: number) => AttributeMap;

/** The stored value of a member. */
export const storedValue = (stored: AttributeMap, field: Field): AttributeValue | undefined =>
  field.inherited_ && !Object.hasOwn(stored, field.stored_) ? undefined : stored[field.stored_];

/** Refuses a missing required member and a member that is not declared: dropping it silently would lose data. */
export const objectEncoder = (fields: readonly Field[], path: string): EncodeObject => {
  const names = fields.reduce((sum, field) => sum + field.stored_.length + 2, 3);
  const declared = new Set(fields.map((field) => field.name_));
  return (object, out, extra = 0) => {
    if (!hasMembers(object)) return invalid(path, 'expected an object with its members');
    let spare = extra;
    weight.units += names;
    for (const field of fields) {
      let member = field.inherited_ && !Object.hasOwn(object, field.name_) ? undefined : object[field.name_];
      if (member !== undefined) spare++;
      else if ((member = fallbackOf(field)) === undefined) {
        if (field.required_) invalid(field.path_, 'is required');
        continue;
      }
      const encoded = field.encode_(member);
      if (encoded) out[field.stored_] = encoded;
    }
    if (isPlain(object)) {
      // Counting is enough, and costs a third of looking each name up.
      for (const name in object) if (object[name] !== undefined) spare--;
      if (spare < 0) refuseUnknown(declared, path);
    } else {
      // The members of an instance may be getters, which a loop doesn't see.
      const unknown = Object.keys(object).filter((name) => object[name] !== undefined && !declared.has(name));
      if (unknown.length > extra) refuseUnknown(declared, path);
    }
    return out;
  };
};

/** Says the declared names, to find the mistake; the others may be those of a stranger's payload. */
const refuseUnknown = (declared: ReadonlySet<string>, path: string): never =>
  invalid(path, `has a member that is not declared: it takes ${[...declared].join(', ') || 'none'}`);

/** Reads the declared attributes of a stored item or map; others are left alone. */
export const objectDecoder =
  (fields: readonly Field[]) =>
  (stored: AttributeMap): Record<string, unknown> => {
    const out: Record<string, unknown> = {};
    for (const field of fields) {
      const value = storedValue(stored, field);
      if (value) out[field.name_] = field.decode_(value);
      else {
        const absent = absentValue(field);
        if (absent !== undefined) out[field.name_] = absent;
        else if (field.required_) corrupt(field.path_, 'a value');
      }
    }
    return out;
  };

/** What an absent attribute reads as: its default, or empty for a required set. */
export const absentValue = (field: Pick<Field, 'attribute_' | 'required_'>): unknown =>
  fallbackOf(field) ?? (field.required_ ? field.attribute_.traits_.empty_?.() : undefined);
