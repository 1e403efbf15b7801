import {
  entity,
  instant,
  integer,
  string,
  timeToLive,
  version,
  type AnyAttribute,
  type Attribute,
  type Attributes,
  type DefaultAttribute,
  type Entity,
  type OptionalAttribute,
} from '../../commands/index.js';
import type { AttributeBuilder, ItemOf } from '../../commands/attributes/attribute.js';
import { isAttribute } from '../../commands/attributes/attribute.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../../recipes/arguments.js';

/** What the kit stores of a saga beside its state. */
export interface SagaRecord {
  readonly correlation: Attribute<string, 'text'>;
  /** Moves with every message that the saga takes. */
  readonly revision: DefaultAttribute<number, 'version'>;
  readonly format: Attribute<number, 'number'>;
  readonly completedAt: OptionalAttribute<Date>;
  readonly expiresAt: OptionalAttribute<Date>;
}

/** A saga's state: attributes, each optional or with a default, since any of its messages may come first. */
export interface SagaAttributes {
  readonly [name: string]: AnyAttribute & { readonly '~p': never };
}

/** An entity that is a saga: usable as any other, for reads and queries. */
export type SagaEntity<N extends string, A extends Attributes> = Entity<
  N,
  `SAGA#${N}#{correlation}`,
  'SAGA',
  A & SagaRecord,
  Record<never, never>
> & { readonly '~state': ItemOf<A> };

/** What a session needs of any saga. */
export interface AnySaga {
  readonly name: string;
  readonly '~state': object;
}

/** The format of saga records that this version writes. */
export const sagaFormat = 1;

const own = ['correlation', 'revision', 'format', 'completedAt', 'expiresAt'];

/**
 * Declares a saga: a process over several messages, whose state is one item, found by its correlation value (an order's
 * number). The item's key is `SAGA#{name}#{correlation}`: it is made of the texts given here and by the message, not of
 * names in code, so constants, classes and files may be renamed at will and no saga is orphaned. The name itself is
 * stored: never change it.
 *
 * The state's attributes are optional or have a default: messages arrive out of order, so any may start the saga. A
 * default that is an object is given as a function. A message leaves attributes alone that its code does not declare, so
 * old and new code can run side by side; one that its code renames is another one.
 *
 * @param name letters, digits, `_`, `-`, `.`
 * @throws InvalidInputError for another name, a required attribute, and the name of one of the record's own
 * @example
 * export const OrderSaga = sagaEntity('ORDER_SAGA', {
 *   total: integer().optional(),
 *   charged: boolean().default(false),
 * });
 */
export const sagaEntity = <const N extends string, A extends SagaAttributes>(
  name: N,
  attributes: A & { readonly [K in keyof SagaRecord]?: never },
): SagaEntity<N, A> => {
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name)) invalid('name', 'expected letters, digits, _, - and .');
  for (const [member, attribute] of Object.entries(checkObject<unknown>(attributes, 'attributes'))) {
    if (own.includes(member)) invalid(member, 'is an attribute that every saga has');
    if (!isAttribute(attribute)) invalid(member, 'expected an attribute, such as integer().optional()');
    const { optional_: optional, fallback_: fallback } = (attribute as Partial<AttributeBuilder>).traits_ ?? {};
    if (optional !== true && fallback === undefined)
      invalid(member, 'expected optional() or default(…): any message may be the first of a saga');
  }
  const definition = {
    pk: `SAGA#${name}#{correlation}`,
    sk: 'SAGA',
    // Any text may be a correlation value.
    escape: true,
    attributes: {
      ...attributes,
      correlation: string(),
      revision: version(),
      format: integer(),
      completedAt: instant().optional(),
      expiresAt: timeToLive().optional(),
    },
  };
  return entity(name, definition as never) as unknown as SagaEntity<N, A>;
};

/** The names of a saga's state. */
export const stateNames = (model: { readonly fields_: readonly { readonly name_: string }[] }): string[] =>
  model.fields_.map(({ name_: name }) => name).filter((name) => !own.includes(name));
