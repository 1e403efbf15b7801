import { corrupt, invalid } from '../errors/errors.js';
import { weight, type AttributeMap, type Decode, type Encode } from './attribute-value.js';
import { isAttribute, type AttributeBuilder } from './attribute.js';

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
    return { name, stored: storedName, path, attribute, encode, decode, required: attribute.traits.optional !== true };
  });
};

const fallbackOf = (field: Field): unknown => {
  const fallback = field.attribute.traits.fallback;
  if (fallback === undefined) return undefined;
  return typeof fallback.value === 'function' ? (fallback.value as () => unknown)() : fallback.value;
};

/** Writes an object's members into `out`; `extra` members of the object are known to be no attributes. */
export type EncodeObject = (value: unknown, out: AttributeMap, extra?: number) => AttributeMap;

/** Refuses a missing required member and a member that is not declared: dropping it silently would lose data. */
export const objectEncoder = (fields: readonly Field[], path: string): EncodeObject => {
  const names = fields.reduce((sum, field) => sum + field.stored.length + 2, 3);
  return (value, out, extra = 0) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid(path, 'expected an object');
    const object = value as Record<string, unknown>;
    let spare = extra;
    weight.units += names;
    for (const field of fields) {
      let member = object[field.name];
      if (member !== undefined) spare++;
      else if ((member = fallbackOf(field)) === undefined) {
        if (field.required) invalid(field.path, 'is required');
        continue;
      }
      const encoded = field.encode(member);
      if (encoded !== undefined) out[field.stored] = encoded;
    }
    for (const name in object) if (object[name] !== undefined && --spare < 0) refuseUnknown(object, fields, path);
    return out;
  };
};

const refuseUnknown = (object: object, fields: readonly Field[], path: string): never => {
  const declared = new Set(fields.map((field) => field.name));
  const names = Object.keys(object).filter((name) => !declared.has(name));
  return invalid(path, `has members that are not declared: ${names.slice(0, 5).join(', ')}`);
};

/** Reads the declared attributes of a stored item or map; others are left alone. */
export const objectDecoder =
  (fields: readonly Field[]) =>
  (stored: AttributeMap): Record<string, unknown> => {
    const out: Record<string, unknown> = {};
    for (const field of fields) {
      const value = stored[field.stored];
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
export const absentValue = (field: Field): unknown =>
  fallbackOf(field) ?? (field.required ? field.attribute.traits.empty?.() : undefined);
