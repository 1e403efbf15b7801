import { compileFields, absentValue, type Field } from '../commands/attributes/fields.js';
import { hasMembers } from '../commands/attributes/plain-object.js';
import type { AttributeBuilder, Attributes, ItemOf } from '../commands/attributes/attribute.js';
import { InvalidInputError, invalid } from '../commands/errors/errors.js';
import { checkObject } from '../recipes/arguments.js';
import type { Schema, SchemaIssue } from './schema.js';

/** What a member has to meet beside its attribute. */
export interface BodyRule<in V> {
  /**
   * What the client is told where the member is refused. @default the attribute's own text, which quotes nothing; that of
   * a map with a member too many says the names that it takes
   */
  readonly expected?: string;
  /** Whether a value of the attribute's type may be sent; anything but true refuses it. */
  readonly test?: (value: V) => boolean;
}

/** Rules by member; see {@link bodySchema}. */
export type BodyRules<A extends Attributes> = { readonly [K in keyof A]?: BodyRule<A[K]['~v']> };

/**
 * A schema of a small body, made of the attribute builders that entities are made of: nothing more is bundled, where a
 * schema library is 5 KB and up. It takes an object with these members and nothing else, and tells every one that is
 * wrong. The value is what an item of these attributes would read as: defaults are filled in, and a list that was sent
 * for a set is a Set. Attributes whose value JSON does not have, such as `instant()`, take what no body can hold.
 *
 * @param rules by member: what else it has to meet, and the text for the client
 * @throws InvalidInputError for a member that is no attribute, and for a rule of none of the members
 * @example
 * const Transfer = bodySchema(
 *   { to: string(), amount: integer() },
 *   { amount: { test: (amount) => amount > 0, expected: 'expected a whole number of cents, from 1 on' } },
 * );
 * idempotent({ table: shop, schema: Transfer, handle: ({ to, amount }) => refuse({ status: 402, body: { to, amount } }) });
 */
export const bodySchema = <A extends Attributes>(attributes: A, rules: BodyRules<A> = {}): Schema<ItemOf<A>> => {
  checkObject(attributes, 'bodySchema', 'expected attributes by the names of members');
  checkObject(rules, 'rules');
  const fields = compileFields(attributes as unknown as Record<string, AttributeBuilder>, '');
  const names = fields.map(({ name_: name }) => name);
  // One that is never asked would let through what it is there to refuse.
  for (const [name, rule = {}] of Object.entries(rules as Readonly<Record<string, BodyRule<never> | undefined>>))
    if (!names.includes(name) || typeof rule !== 'object' || typeof (rule.test ?? Boolean) !== 'function')
      invalid('rules', 'expected { expected, test } by the names of members');
  const shape = `expected an object with ${names.join(', ')}, and nothing else`;
  const validate = (body: unknown) => {
    if (!hasMembers(body)) return { issues: [{ message: shape }] };
    const value: Record<string, unknown> = {};
    const issues: SchemaIssue[] = [];
    for (const field of fields) {
      const { name_: name, encode_: encode, decode_: decode, required_: required } = field;
      const { expected, test }: BodyRule<unknown> = rules[name] ?? {};
      const refuse = (message: string): unknown => issues.push({ message: expected ?? message, path: [name] });
      const sent = Object.hasOwn(body, name) ? body[name] : undefined;
      try {
        const stored = sent === undefined ? undefined : encode(sent);
        const member = stored ? decode(stored) : copyOf(absentValue(field), field);
        if (member === undefined) {
          if (required) refuse('is required');
        } else if (test && test(member) !== true) refuse('is refused');
        else value[name] = member;
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        refuse(error.message);
      }
    }
    const unknown = Object.keys(body).filter((name) => !names.includes(name));
    issues.push(...unknown.map((name) => ({ message: shape, path: [name] })));
    return issues.length > 0 ? { issues } : { value: value as ItemOf<A> };
  };
  const standard = { version: 1, vendor: 'safewrites', validate };
  return { '~standard': standard };
};

/** A default as a copy, since what a handler changes of it must not be the next body's. */
const copyOf = (value: unknown, { encode_: encode, decode_: decode }: Field): unknown => {
  if (typeof value !== 'object') return value;
  const stored = encode(value);
  // An empty set is not stored.
  return stored ? decode(stored) : new Set();
};
